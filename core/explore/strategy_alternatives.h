#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/overrides.h"
#include "core/explore/axis.h"
#include "core/scenario/library.h"

namespace tutti::core {

/// The scenario whose strategy is varied.
struct BaseOfAlternatives {
  std::string text;
  std::string path;
  std::vector<Override> set;  ///< overrides that apply to all points
};

/// Strategies that are compared with each other.
struct StrategyAlternatives {
  Axis axis;
  std::vector<std::string> notes;  ///< the settings that do not apply to an alternative
};

/// Returns the axis of alternative strategies: `names` are names of algorithms ("ring") or of
/// frameworks ("horovod"). Settings of the scenario's strategy stay with the alternatives that they
/// apply to: a row leaves out each setting that its alternative refuses, and a note gives the
/// reason. A value of a field of the strategy on one of the `others` is used only with alternatives
/// that accept it; if they differ, the axis is moved from `others` into the result.
/// Cost: reading the scenario a few times for each alternative, and once for each value.
/// ERRORS (requests, about `option`): there is no such algorithm or framework; a name is repeated.
Expected<StrategyAlternatives> strategy_alternatives(const std::string& option,
                                                     const std::vector<std::string>& names,
                                                     const BaseOfAlternatives& base,
                                                     const Library& library,
                                                     std::vector<Axis>& others);

}  // namespace tutti::core
