#pragma once

#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Returns the names of a pack's gradients or variables.
std::vector<std::string> names_of(const Workload& workload, const Pack& pack);

/// Returns a timeline's description of its run: the scenario, its plan, and the lower bounds.
RunInfo run_info(const Scenario& scenario, const std::string& executor);

/// Returns notes on what a timeline leaves out by request; empty if it records everything, or
/// nothing.
std::vector<std::string> recording_notes(const RecordOptions& record, const Cluster& cluster);

}  // namespace tutti::core
