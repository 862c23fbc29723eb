#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::gui {

/// From … to, of the run's time.
struct TimeRange {
  core::Time from;
  core::Time to;
  [[nodiscard]] core::Time length() const { return to - from; }
  bool operator==(const TimeRange&) const = default;
};

/// What part of a run the window shows. Never outside the run, and never less than ten nanoseconds.
class View {
 public:
  /// The whole run. One that is shorter counts as ten nanoseconds.
  explicit View(core::Time length = core::Time());

  [[nodiscard]] const TimeRange& range() const { return range_; }
  [[nodiscard]] core::Time run_length() const { return length_; }

  /// `range`, moved and cut until it fits. Notes where the view came from, so that back() leads there.
  void show(const TimeRange& range);
  /// As show(), but part of a gesture: back() leads to where the gesture began (see settle()).
  void glide(const TimeRange& range);
  /// The gesture is over.
  void settle() { gliding_ = false; }

  /// `factor` times as much time as now, `at` staying where it is on the screen.
  [[nodiscard]] TimeRange zoomed(double factor, core::Time at) const;
  /// Later by `share` of what is seen.
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

/// Where a time axis has its lines, and what stands at them.
struct Ticks {
  core::Time first;
  core::Time step;  ///< 1, 2 or 5 times a power of ten picoseconds
  int minor = 5;    ///< small ones from one to the next
  /// The axis's own words for a moment: in the unit that suits the step, with the digits that tell neighbours apart.
  [[nodiscard]] std::string label(core::Time t) const;
};
/// At most `most` lines over the range. REQUIRES: range not empty, most ≥ 1.
Ticks ticks_of(const TimeRange& range, int most);

}  // namespace tutti::gui
