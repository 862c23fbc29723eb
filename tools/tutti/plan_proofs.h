#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/strategy/collective.h"

namespace tutti::tools {

/// Returns the total number of steps of all ranks and lanes.
std::int64_t steps_of(const core::Schedule& schedule);

/// A collective whose schedule steps are shown. The steps are those of NCCL under three conditions:
/// NCCL executes the collective, NCCL's choice of algorithm and protocol is known, and Tutti can
/// convert this choice to schedule steps. Otherwise, the steps are those that Tutti executes.
struct ShownSteps {
  core::Collective collective;
  /// The reason why NCCL's steps are not shown although NCCL's choice is known; otherwise empty.
  std::string why_not_nccls;
};
ShownSteps shown_steps(const core::Collective& planned);

/// Proves the schedules of all packs and exchanges, each at a size that can be checked element by
/// element. Returns one line per schedule. ERRORS: a schedule is incorrect (the error lists all
/// problems), or is too large to prove.
core::Expected<std::string> prove_schedules(const core::Scenario& scenario);

/// Checks the task graphs of a training step (core/plan/check_collectives.h). Returns one line with
/// the result, and one line per deadlock that is possible with some timing. ERRORS: in some graph,
/// ranks wait forever, whatever the timing is. The error lists all problems.
core::Expected<std::string> check_task_graphs(const core::Scenario& scenario);

}  // namespace tutti::tools
