#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/library.h"
#include "sim/simulator.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::sim {

/// The maximum work of one point of a search, in schedule steps (sim/simulator.h, work_of()).
struct MostWork {
  double whole = 0;   ///< limit for a simulation of all workers
  double folded = 0;  ///< limit for a simulation of one worker on behalf of all
  /// Returns a folding mode with which the scenario stays within these limits; nullopt if it
  /// exceeds them with and without folding.
  [[nodiscard]] std::optional<Folds> folds(const core::Scenario& scenario) const;
};
/// Returns limits that correspond to about ten seconds of simulation. If the base scenario takes
/// longer than ten seconds, the limits are the work of the base scenario.
MostWork max_work(const core::Scenario& base);

/// Removes from `axes` the algorithms whose work exceeds `most` in the base scenario; usually,
/// these are algorithms that cannot be folded. Returns the names of the removed algorithms, each
/// once. Used for searches for which the user has not named algorithms. A search that omits some
/// algorithms and takes minutes is more useful than a complete search that takes a day.
std::vector<std::string> leave_out_long_ones(std::vector<core::Axis>& axes,
                                             const BaseScenario& base, const core::Library& library,
                                             const MostWork& most);
/// Returns a note that lists the removed algorithms; empty if `names` is empty.
std::vector<std::string> note_on_left_out(const std::vector<std::string>& names);

}  // namespace tutti::sim
