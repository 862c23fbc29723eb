#pragma once

#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// What a pack carries, by the names of its gradients or variables.
std::vector<std::string> names_of(const Workload& workload, const Pack& pack);

/// What a timeline says about the run it is of: the scenario, its plan, and the bounds that no run
/// beats.
RunInfo run_info(const Scenario& scenario, const std::string& executor);

/// What a timeline of such a run leaves out by request, in words; nothing if it is recorded whole,
/// or not at all.
std::vector<std::string> recording_notes(const RecordOptions& record, const Cluster& cluster);

}  // namespace tutti::core
