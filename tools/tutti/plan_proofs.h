#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/strategy/collective.h"

namespace tutti::tools {

/// Of all ranks and lanes.
std::int64_t steps_of(const core::Schedule& schedule);

/// Steps of a collective as they are to be shown: NCCL's own where it has its choice and they are lowered, else those that are carried out.
struct ShownSteps {
  core::Collective collective;
  std::string why_not_nccls;  ///< why NCCL's own are not shown, where it has its choice
};
ShownSteps shown_steps(const core::Collective& planned);

/// Proves the schedules of all packs and exchanges, each at a size that can be looked at element by element; a line for each.
/// ERRORS: one that is wrong, with all that is wrong with it; one that is too large to be proved.
core::Expected<std::string> prove_schedules(const core::Scenario& scenario);

/// Checks the task graphs of a training step (core/plan/check_collectives.h): a line that says what holds, and one for each deadlock
/// that is possible if timing is unlucky. ERRORS: a graph in which ranks wait forever, with all that is wrong with it.
core::Expected<std::string> check_task_graphs(const core::Scenario& scenario);

}  // namespace tutti::tools
