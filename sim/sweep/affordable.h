#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/library.h"
#include "sim/simulator.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::sim {

/// The maximum work of one point of a search, in lane steps (sim/simulator.h, work_of()).
struct MostWork {
  double whole = 0;   ///< if all workers are simulated
  double folded = 0;  ///< if one worker represents all
  /// Returns how to run a scenario within these limits; nothing if it takes too long.
  [[nodiscard]] std::optional<Folds> folds(const core::Scenario& scenario) const;
};
/// Returns limits of some ten seconds, or the work of the scenario without changes if that is more.
MostWork most_work(const core::Scenario& now);

/// Removes from `axes` the algorithms that exceed `most` in the base scenario: those in which each
/// of thousands of devices does something different. Returns their names, each once. For searches
/// in which the user named no algorithms: a result in minutes with most algorithms is worth more
/// than one tomorrow with all.
std::vector<std::string> leave_out_long_ones(std::vector<core::Axis>& axes,
                                             const BaseScenario& base, const core::Library& library,
                                             const MostWork& most);
/// Returns a note that lists the left-out algorithms; empty if there are none.
std::vector<std::string> note_on_left_out(const std::vector<std::string>& names);

}  // namespace tutti::sim
