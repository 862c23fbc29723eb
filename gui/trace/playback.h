#pragma once

#include <cstdint>
#include <string>

#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// The state of the time cursor. The cursor is at a time of the run, and can play the run like a
/// video. The class has no clock. The caller passes the time since the last frame, so that tests
/// can control time.
class Playback {
 public:
  /// The real time, in milliseconds, that playing the visible range takes at normal speed (speed
  /// exponent 0).
  static constexpr std::int64_t kMillisecondsForRange = 20'000;
  /// The limits of the speed exponent e. At exponent e, the speed is 2^e times the normal speed.
  static constexpr int kSlowest = -5, kFastest = 5;

  [[nodiscard]] core::Time moment() const { return moment_; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] int speed() const { return speed_; }

  /// Moves the cursor. If the cursor is playing, it continues to play from the new time.
  void set_moment(core::Time t) { moment_ = t; }
  /// Starts to play at the cursor, or at the start of the range if the cursor is outside the range
  /// or at its end.
  void play(const TimeRange& range);
  void pause() { playing_ = false; }
  void set_speed(int power);
  /// Advances by `milliseconds` of real time. Pauses at the end of the range. REQUIRES:
  /// milliseconds ≥ 0.
  void advance(std::int64_t milliseconds, const TimeRange& range);
  /// Returns how much time of the run the cursor passes per second of real time, if `range` is
  /// visible.
  [[nodiscard]] core::Time per_second(const TimeRange& range) const;

 private:
  core::Time moment_;
  bool playing_ = false;
  int speed_ = 0;
  /// The fraction of a picosecond that was left over after the last frame.
  core::Wide rest_ = 0;
};

/// Formats `t` in milliseconds, with a resolution of a thousandth of the range, such as "83.2041
/// ms". If the labels of the time axis restart at 0 in each step, the time is relative to the step,
/// such as "step 2 + 8.2041 ms".
std::string moment_text(const Trace& trace, core::Time t, const TimeRange& range);

/// Returns the next time after `t` at which a span of one of the rows begins or ends; kNever if
/// there is none.
core::Time next_event(const Trace& trace, const std::vector<std::size_t>& rows, core::Time t);
/// Returns the last time before `t` at which a span of one of the rows begins or ends; kNever if
/// there is none.
core::Time previous_event(const Trace& trace, const std::vector<std::size_t>& rows, core::Time t);

}  // namespace tutti::gui
