#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/strategy/collective.h"

namespace tutti::tools {

/// Returns the number of steps of all ranks and lanes.
std::int64_t steps_of(const core::Schedule& schedule);

/// The steps of a collective to show: NCCL's own steps if NCCL's choice is known and can be
/// lowered, else the steps that are executed.
struct ShownSteps {
  core::Collective collective;
  /// Reason why NCCL's own steps are not shown although its choice is known.
  std::string why_not_nccls;
};
ShownSteps shown_steps(const core::Collective& planned);

/// Proves the schedules of all packs and exchanges, each at a size that can be checked element by
/// element; returns a line for each. ERRORS: an incorrect schedule, with all its errors; a schedule
/// that is too large to prove.
core::Expected<std::string> prove_schedules(const core::Scenario& scenario);

/// Checks the task graphs of a training step (core/plan/check_collectives.h). Returns a line that
/// says what holds, and one for each deadlock that unlucky timing could cause. ERRORS: a graph in
/// which ranks wait forever, with all its errors.
core::Expected<std::string> check_task_graphs(const core::Scenario& scenario);

}  // namespace tutti::tools
