#pragma once

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// The alignment of two timelines on one time axis. Spans are only moved, never stretched, so that
/// their lengths can be compared by eye.
enum class Align {
  kStart,  ///< aligns both timelines by the start of the run and changes neither
  kStep,   ///< aligns each training step by its start; if a step ends earlier in one timeline, that
           ///< timeline pauses until the step has ended in the other timeline
  kPack    ///< aligns training steps as kStep does, and also packs by the time at which they are in
           ///< flight on all devices
};
std::optional<Align> parse_align(const std::string& word);
std::string to_string(Align align);

/// The delays by which the parts of one timeline are shifted.
class Delays {
 public:
  [[nodiscard]] core::Time of_step(std::int32_t step) const;
  /// Returns the delay of a pack in flight and of its lanes. If the pack has no delay of its own,
  /// returns the delay of the pack's step.
  [[nodiscard]] core::Time of_pack(std::int32_t step, std::int32_t pack) const;
  /// Returns the delay of the training step that is executed at time `own` of the run. This delay
  /// is used for records that do not belong to a step.
  [[nodiscard]] core::Time at(core::Time own) const;
  /// Returns the time of the run that is shown at time `shown` of the axis. For a time in a pause
  /// between steps, returns the end of the step before the pause.
  [[nodiscard]] core::Time own(core::Time shown) const;

  std::map<std::int32_t, core::Time> steps;
  std::map<std::pair<std::int32_t, std::int32_t>, core::Time> packs;
  std::map<core::Time, core::Time>
      by_time;  ///< the delays, by the start of the step from which each delay applies
};

struct Alignment {
  std::array<Delays, 2> delays;
  std::vector<AxisStretch> axis;  ///< one stretch per training step; empty with kStart
};

/// A stop flag that is never set, for calls that are never stopped.
inline const std::atomic<bool> kNeverStop{false};

/// Computes the alignment. Returns nullopt if `stop` was set, or if the timelines cannot be
/// aligned: they have no training step in common, or their times differ too much. `packs`: as
/// returned by core::packs_in_common().
std::optional<Alignment> align(const Trace& first, const Trace& second, Align align,
                               const core::Numbers& packs,
                               const std::atomic<bool>& stop = kNeverStop);

/// Returns the numbers of the training steps that both timelines contain.
core::Numbers steps_in_common(const Trace& first, const Trace& second);

}  // namespace tutti::gui
