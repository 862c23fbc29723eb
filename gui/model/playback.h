#pragma once

#include <cstdint>
#include <string>

#include "gui/model/time_range.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// The time cursor: a moment of the run, which can play. Knows no clock: whoever has one says how much of it has passed, so
/// that a test decides what a frame is.
class Playback {
 public:
  /// At ordinary speed the range that is seen takes this long.
  static constexpr std::int64_t kMillisecondsForRange = 20'000;
  static constexpr int kSlowest = -5, kFastest = 5;  ///< speed is a power of two

  [[nodiscard]] core::Time moment() const { return moment_; }
  [[nodiscard]] bool playing() const { return playing_; }
  [[nodiscard]] int speed() const { return speed_; }

  /// Also stops nothing: one may move the cursor while it plays.
  void set_moment(core::Time t) { moment_ = t; }
  /// Begins where the cursor is; at the range's start if the cursor is outside of it, or at its end.
  void play(const TimeRange& range);
  void pause() { playing_ = false; }
  void set_speed(int power);
  /// `milliseconds` of the spectator's time later. Pauses at the range's end. REQUIRES: milliseconds ≥ 0.
  void advance(std::int64_t milliseconds, const TimeRange& range);
  /// Of the run, in a second of the spectator's, with this range.
  [[nodiscard]] core::Time per_second(const TimeRange& range) const;

 private:
  core::Time moment_;
  bool playing_ = false;
  int speed_ = 0;
  core::Wide rest_ = 0;  ///< of a picosecond, that the last frame was too short for
};

/// `t` in milliseconds, with the digits that tell thousandths of the range apart: "83.2041 ms"; where the axis counts anew, as it
/// counts there: "step 2 + 8.2041 ms".
std::string moment_text(const Trace& trace, core::Time t, const TimeRange& range);

/// The next moment after `t` at which a span of one of the rows begins or ends; kNever if there is none.
core::Time next_event(const Trace& trace, const std::vector<std::size_t>& rows, core::Time t);
/// The last one before `t`; kNever if there is none.
core::Time previous_event(const Trace& trace, const std::vector<std::size_t>& rows, core::Time t);

}  // namespace tutti::gui
