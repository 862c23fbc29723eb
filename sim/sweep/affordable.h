#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/axis.h"
#include "core/scenario/library.h"
#include "sim/simulator.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::sim {

/// What one point of a search may take in steps of lanes (sim/simulator.h, work_of()).
struct MostWork {
  double whole = 0;   ///< all workers
  double folded = 0;  ///< one that stands for all
  /// How a scenario is to be run then; nothing: it takes too long.
  [[nodiscard]] std::optional<Folds> folds(const core::Scenario& scenario) const;
};
/// Some ten seconds, or what the scenario as it is takes.
MostWork most_work(const core::Scenario& now);

/// Takes out of `axes` the algorithms that take more work, as the scenario is else: those in which, on thousands of devices, every one
/// does something else. Answers their names, each once.
/// For searches over what nobody named: an answer in minutes with most algorithms is worth more than one tomorrow with all.
std::vector<std::string> leave_out_long_ones(std::vector<core::Axis>& axes, const BaseScenario& base,
                                             const core::Library& library, const MostWork& most);
/// What is to be said of them; nothing if there are none.
std::vector<std::string> note_on_left_out(const std::vector<std::string>& names);

}  // namespace tutti::sim
