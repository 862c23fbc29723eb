#pragma once

#include <cstdint>
#include <string>

#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// The time cursor: a time of the run that can be played. It has no clock: the caller says how much
/// time has passed, so that tests control the frames.
class Playback {
 public:
  /// At normal speed the visible range plays in this time.
  static constexpr std::int64_t kMillisecondsForRange = 20'000;
  static constexpr int kSlowest = -5, kFastest = 5;  ///< limits of the speed, as exponents of two

  [[nodiscard]] core::Time moment() const { return moment_; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] int speed() const { return speed_; }

  /// Moves the cursor; playing continues.
  void set_moment(core::Time t) { moment_ = t; }
  /// Starts playing at the cursor; at the range's start if the cursor is outside of the range or at
  /// its end.
  void play(const TimeRange& range);
  void pause() { playing_ = false; }
  void set_speed(int power);
  /// Advances by `milliseconds` of real time. Pauses at the range's end. REQUIRES: milliseconds ≥
  /// 0.
  void advance(std::int64_t milliseconds, const TimeRange& range);
  /// Returns how much of the run plays per second of real time, with this range.
  [[nodiscard]] core::Time per_second(const TimeRange& range) const;

 private:
  core::Time moment_;
  bool playing_ = false;
  int speed_ = 0;
  core::Wide rest_ = 0;  ///< fraction of a picosecond that remained after the last frame
};

/// Formats `t` in milliseconds, with enough digits for a thousandth of the range: "83.2041 ms".
/// Returns a time relative to the point where the axis restarts at 0: "step 2 + 8.2041 ms".
std::string moment_text(const Trace& trace, core::Time t, const TimeRange& range);

/// Returns the next time after `t` at which a span of one of the rows begins or ends; kNever if
/// there is none.
core::Time next_event(const Trace& trace, const std::vector<std::size_t>& rows, core::Time t);
/// Returns the last such time before `t`; kNever if there is none.
core::Time previous_event(const Trace& trace, const std::vector<std::size_t>& rows, core::Time t);

}  // namespace tutti::gui
