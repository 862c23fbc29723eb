#pragma once

#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Returns the names of a pack's gradients or variables.
std::vector<std::string> names_of(const Workload& workload, const Pack& pack);

/// Returns the description of a run for its timeline: the scenario, the plan, and the lower bounds.
RunInfo run_info(const Scenario& scenario, const std::string& executor);

/// Returns notes about the parts of a run that `record` excludes from the timeline. Empty if the
/// timeline has all records, or no records.
std::vector<std::string> recording_notes(const RecordOptions& record, const Cluster& cluster);

}  // namespace tutti::core
