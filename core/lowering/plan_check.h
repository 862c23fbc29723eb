#pragma once

#include <vector>

#include "core/lowering/plan.h"
#include "core/lowering/step_program.h"
#include "core/plan/check_collectives.h"

namespace tutti::core {

/// Returns the programs and communicators of a plan. Packs that NCCL executes are on the
/// communicator "gradients", which executes one collective at a time. Exchanges are on the
/// communicators of the scenario. All other packs are matched by their keys, like TensorFlow's
/// sends and receives. REQUIRES: `programs` and `plan` outlive the view.
PlanView view_of(const StepPrograms& programs, const Plan& plan);

}  // namespace tutti::core
