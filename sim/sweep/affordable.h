#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/library.h"
#include "sim/simulator.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::sim {

/// The maximum work of one point of a search, in schedule steps (see work_of() in sim/simulator.h).
/// A point is one combination of values of the searched fields.
struct MostWork {
  double whole = 0;   ///< limit for a simulation of all workers
  double folded = 0;  ///< limit for a folded run, which simulates one worker on behalf of all
  /// Returns a folding mode with which the run stays within the limits; nullopt if there is none.
  [[nodiscard]] std::optional<Folds> folds(const core::Scenario& scenario) const;
};
/// Returns limits that correspond to about ten seconds of simulation or, if the base scenario takes
/// longer, to the work of the base scenario.
MostWork max_work(const core::Scenario& base);

/// Removes from `axes` the algorithms whose simulation would exceed `most` in the base scenario.
/// Usually, the removed algorithms are those that cannot be folded. Returns the names of the
/// removed algorithms without duplicates. This function is used if the user has not chosen the
/// algorithms of a search. A search of some minutes that omits algorithms is more useful than a
/// complete search that takes a day.
std::vector<std::string> leave_out_long_ones(std::vector<core::Axis>& axes,
                                             const BaseScenario& base, const core::Library& library,
                                             const MostWork& most);
/// Returns a note that lists the removed algorithms; empty if `names` is empty.
std::vector<std::string> note_on_left_out(const std::vector<std::string>& names);

}  // namespace tutti::sim
