#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::gui {

/// A time range of a run.
struct TimeRange {
  core::Time from;
  core::Time to;
  [[nodiscard]] core::Time length() const { return to - from; }
  bool operator==(const TimeRange&) const = default;
};

/// The visible time range of a run, with the history of previous ranges. The range is always inside
/// the run, and at least ten nanoseconds long.
class View {
 public:
  /// Shows the whole run. A run that is shorter than ten nanoseconds is treated as if it were ten
  /// nanoseconds long.
  explicit View(core::Time length = core::Time());

  [[nodiscard]] const TimeRange& range() const { return range_; }
  [[nodiscard]] core::Time run_length() const { return length_; }

  /// Shows `range`, after moving and cutting it so that it fits into the run. Stores the previous
  /// range, to which go_back() returns.
  void show(const TimeRange& range);
  /// Shows `range` like show(), but as part of a gesture, which settle() ends. After the gesture,
  /// go_back() returns to the range before the whole gesture.
  void glide(const TimeRange& range);
  /// Ends the gesture.
  void settle() { gliding_ = false; }

  /// Returns a range that is `factor` times as long as the visible range. The time `at` keeps its
  /// position on the screen.
  [[nodiscard]] TimeRange zoomed(double factor, core::Time at) const;
  /// Returns the visible range, shifted to later times by the fraction `share` of its length.
  [[nodiscard]] TimeRange panned(double share) const;

  [[nodiscard]] bool can_go_back() const { return !back_.empty(); }
  [[nodiscard]] bool can_go_forward() const { return !forward_.empty(); }
  void go_back();
  void go_forward();

 private:
  [[nodiscard]] TimeRange fitted(TimeRange range) const;

  core::Time length_;
  TimeRange range_;
  std::vector<TimeRange> back_, forward_;
  bool gliding_ = false;
};

/// A unit in which times are written, from picoseconds to seconds.
struct TimeUnit {
  std::int64_t picoseconds = 1;
  const char* name = "ps";
};
/// Returns the unit for times in a range of this length: the largest unit that is not longer than
/// the range. The labels of a time axis and the time of the cursor use the same unit.
const TimeUnit& unit_for(core::Time length);

/// The ticks of a time axis and their labels.
struct Ticks {
  core::Time first;
  core::Time step;    ///< the distance of ticks: 1, 2 or 5 times a power of ten picoseconds
  core::Time length;  ///< the length of the range, which selects the unit of the labels; 0: the
                      ///< unit is selected for a length of five times `step`
  /// The number of intervals into which minor ticks divide the distance between two ticks.
  int minor = 5;
  /// Formats a time for the axis: in the unit for `length`, and with enough digits to distinguish
  /// adjacent ticks.
  [[nodiscard]] std::string label(core::Time t) const;
};
/// Returns at most `most` ticks for the range. REQUIRES: the range is not empty; most ≥ 1.
Ticks ticks_of(const TimeRange& range, int most);

}  // namespace tutti::gui
