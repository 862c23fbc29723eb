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
  double whole = 0;   ///< limit if all workers are simulated
  double folded = 0;  ///< limit if one worker represents all
  /// Returns how to fold a scenario so that it stays within these limits; nothing if it exceeds
  /// them either way.
  [[nodiscard]] std::optional<Folds> folds(const core::Scenario& scenario) const;
};
/// Returns limits that correspond to some ten seconds. If the base scenario `now` takes more work
/// than that, its work is the limit.
MostWork max_work(const core::Scenario& now);

/// Removes from `axes` the algorithms that exceed `most` in the base scenario, because each of
/// thousands of devices does something different. Returns their names, each once. For searches in
/// which the user named no algorithms: a search of most algorithms that takes minutes is more
/// useful than a search of all that takes a day.
std::vector<std::string> leave_out_long_ones(std::vector<core::Axis>& axes,
                                             const BaseScenario& base, const core::Library& library,
                                             const MostWork& most);
/// Returns a note that lists the removed algorithms; empty if `names` is empty.
std::vector<std::string> note_on_left_out(const std::vector<std::string>& names);

}  // namespace tutti::sim
