#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/overrides.h"
#include "core/explore/axis.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// The scenario whose strategy is varied.
struct BaseOfAlternatives {
  std::string text;
  std::string path;
  std::vector<Override> set;  ///< overrides that apply to all points
};

/// Strategies that are compared with each other.
struct StrategyAlternatives {
  Axis axis;                       ///< its title is kStrategyTitle
  std::vector<std::string> notes;  ///< notes for the user, such as the settings that were removed
                                   ///< for an alternative
};

/// The title of the axis of alternatives.
inline constexpr const char* kStrategyTitle = "strategy";

/// The maximum number of trials, each of which combines one alternative with one value. Each trial
/// reads the scenario once.
inline constexpr std::size_t kMaxTrials = 300;

/// Callbacks that observe the trials and can stop them. Both may be empty.
struct TrialControl {
  std::function<bool()> stop;                  ///< returns true to stop
  std::function<void(double share)> progress;  ///< called with the completed share of the trials (0
                                               ///< … 1)
};

/// Returns the value of strategy.collective for a collective, such as "ALL_GATHER". A scenario
/// whose algorithm comes from a file may omit this field, because the file states the collective.
/// If such a scenario gets another algorithm, the field must be set, because its default may be
/// another collective.
std::string collective_setting(CollectiveKind kind);

/// Checks that the axes can be combined with an axis of alternatives. ERRORS (requests, about
/// `option`): an axis varies strategy.algorithm; an axis with several fields (`--points`) varies a
/// field of the strategy.
Expected<void> check_others(const std::string& option, const std::vector<Axis>& others);

/// Returns the axis of alternative strategies: `names` are names of algorithms ("ring"), of
/// frameworks ("horovod"), or "custom" for the scenario's algorithm from a file. The row of an
/// alternative contains the settings of the scenario's strategy that the alternative accepts; a
/// note gives the reason for each omitted setting. If a framework does not accept the scenario's
/// algorithm, or the scenario has none, the framework gets the first algorithm that it accepts:
/// those in `names` are tried first, then nccl, then ring.
///
/// An axis in `others` may vary a field of the strategy. If the alternatives accept different
/// values of this field, the axis is removed from `others` and becomes a part of the result, in
/// which each value is combined only with the alternatives that accept it. An alternative that
/// accepts none of the values has one row, in which the field is not set. An alternative accepts a
/// value if the base scenario with this alternative and this value is valid. If another axis varies
/// a field outside `strategy.`, however, a value that is invalid in the base scenario may be valid
/// at some points of the sweep. With such an axis, an alternative gets all values unless it accepts
/// none of them. A value that no alternative accepts is kept, so that its points report the reason.
/// An axis that would need more than kMaxTrials trials stays in `others`, and a note says so.
///
/// Cost: reading the scenario a few times for each alternative, and once for each value.
/// ERRORS (requests, about `option`): an unknown or repeated name; a framework that accepts none of
/// the algorithms; as for check_others(). ERRORS (kRun): `control` stopped the trials (kStopped).
Expected<StrategyAlternatives> strategy_alternatives(const std::string& option,
                                                     const std::vector<std::string>& names,
                                                     const BaseOfAlternatives& base,
                                                     const Library& library,
                                                     std::vector<Axis>& others,
                                                     const TrialControl& control = {});

}  // namespace tutti::core
