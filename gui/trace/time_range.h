#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::gui {

/// A range of the run's time.
struct TimeRange {
  core::Time from;
  core::Time to;
  [[nodiscard]] core::Time length() const { return to - from; }
  bool operator==(const TimeRange&) const = default;
};

/// The visible range of a run. It is always inside the run and at least ten nanoseconds long.
class View {
 public:
  /// Shows the whole run. A run that is shorter counts as ten nanoseconds.
  explicit View(core::Time length = core::Time());

  [[nodiscard]] const TimeRange& range() const { return range_; }
  [[nodiscard]] core::Time run_length() const { return length_; }

  /// Shows `range`, moved and cut until it fits. Stores the previous range for back().
  void show(const TimeRange& range);
  /// Like show(), but as part of a gesture: back() returns to where the gesture began (see
  /// settle()).
  void glide(const TimeRange& range);
  /// Ends the gesture.
  void settle() { gliding_ = false; }

  /// Returns the range that is `factor` times as long; `at` stays at its place on the screen.
  [[nodiscard]] TimeRange zoomed(double factor, core::Time at) const;
  /// Returns the range moved later by `share` of its length.
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

/// The ticks of a time axis and their labels.
struct Ticks {
  core::Time first;
  core::Time step;  ///< distance of ticks: 1, 2 or 5 times a power of ten picoseconds
  int minor = 5;    ///< the number of minor intervals between two ticks
  /// Formats a time as the axis does: in the unit that suits the step, with enough digits to tell
  /// neighbouring ticks apart.
  [[nodiscard]] std::string label(core::Time t) const;
};
/// Returns ticks for the range, at most `most`. REQUIRES: range not empty, most ≥ 1.
Ticks ticks_of(const TimeRange& range, int most);

}  // namespace tutti::gui
