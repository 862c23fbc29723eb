#pragma once

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/model/trace.h"

namespace tutti::gui {

/// What two timelines on one axis have in common there. Nothing is stretched: what is moved keeps its length, so that
/// lengths can be compared by eye.
enum class Align {
  kStart,  ///< the beginning: both are shown as they are
  kStep,   ///< where each training step begins; whichever ends first then pauses until the other has, too
  kPack    ///< and where each pack is in flight on all devices; what computes is aligned by step
};
std::optional<Align> parse_align(const std::string& word);
std::string to_string(Align align);

/// How much later than in its file something of one timeline is shown.
class Delays {
 public:
  [[nodiscard]] core::Time of_step(std::int32_t step) const;
  /// Of a pack in flight and its lanes; as its step, if nothing else is known.
  [[nodiscard]] core::Time of_pack(std::int32_t step, std::int32_t pack) const;
  /// Of whatever is not part of a training step: as that in which it happens.
  [[nodiscard]] core::Time at(core::Time own) const;
  /// When what is shown at `shown` was in the run. What is shown in a pause is its end.
  [[nodiscard]] core::Time own(core::Time shown) const;

  std::map<std::int32_t, core::Time> steps;
  std::map<std::pair<std::int32_t, std::int32_t>, core::Time> packs;
  std::map<core::Time, core::Time> by_time;  ///< from each step's start on
};

struct Alignment {
  std::array<Delays, 2> delays;
  std::vector<AxisStretch> axis;  ///< of each training step; none with kStart
};

/// For what nobody stops.
inline const std::atomic<bool> kNeverStop{false};

/// Nothing if there is no way: no training step is in both, or times are too far apart; or if it was stopped.
/// `packs`: as core::packs_in_common() has it.
std::optional<Alignment> align(const Trace& first, const Trace& second, Align align, const core::Numbers& packs,
                               const std::atomic<bool>& stop = kNeverStop);

/// Training steps that both have, by number.
core::Numbers steps_in_common(const Trace& first, const Trace& second);

}  // namespace tutti::gui
