#pragma once

#include <vector>

#include "core/lowering/plan.h"
#include "core/lowering/step_program.h"
#include "core/plan/check_collectives.h"

namespace tutti::core {

/// Returns the programs and communicators of a plan. All packs that NCCL executes belong to one
/// communicator, "gradients", which executes one collective at a time. Exchanges belong to the
/// communicators of the scenario. The ranks match all other packs by their keys, like TensorFlow's
/// sends and receives. REQUIRES: `programs` and `plan` outlive the view.
PlanView view_of(const StepPrograms& programs, const Plan& plan);

}  // namespace tutti::core
