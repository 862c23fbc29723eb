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
  kStart,  ///< shows both timelines unchanged, with the starts of the two runs at the same position
  kStep,   ///< aligns each training step by its start; if a step ends earlier in one timeline, that
           ///< timeline pauses until the step has ended in the other timeline
  kPack    ///< like kStep, and also aligns each pack by the time from which it is in flight on all
           ///< devices
};
std::optional<Align> parse_align(const std::string& word);
std::string to_string(Align align);

/// The delays by which the alignment shifts the training steps and packs of one timeline.
class Delays {
 public:
  [[nodiscard]] core::Time of_step(std::int32_t step) const;
  /// Returns the delay of a pack's spans, including its spans on lanes. If the pack has no delay of
  /// its own, returns the delay of its training step.
  [[nodiscard]] core::Time of_pack(std::int32_t step, std::int32_t pack) const;
  /// Returns the delay of the training step that is executed at time `own` of the run. Records that
  /// belong to no training step are shifted by this delay.
  [[nodiscard]] core::Time at(core::Time own) const;
  /// Returns the time of the run that corresponds to the position `shown` on the time axis. If
  /// `shown` is in a pause that the alignment has inserted between two steps, returns the end of
  /// the first of the two steps.
  [[nodiscard]] core::Time own(core::Time shown) const;

  std::map<std::int32_t, core::Time> steps;
  std::map<std::pair<std::int32_t, std::int32_t>, core::Time> packs;
  std::map<core::Time, core::Time>
      by_time;  ///< maps the start of each step to the delay from this time on
};

struct Alignment {
  std::array<Delays, 2> delays;
  std::vector<AxisStretch> axis;  ///< one stretch per training step; empty with kStart
};

/// A stop flag that is never set, for calls that need not be stopped.
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
