#pragma once

#include <vector>

#include "core/lowering/plan.h"
#include "core/lowering/step_program.h"
#include "core/plan/check_collectives.h"

namespace tutti::core {

/// Returns the view of a plan that the check for deadlocks needs: the plan's programs and
/// communicators. All packs that NCCL executes belong to one communicator, "gradients". This
/// communicator executes one collective at a time, in the order in which the ranks start the
/// collectives, unless a gate or BytePS (whose plans have pulls) makes all ranks start the packs in
/// the same order. Exchanges belong to the communicators of the scenario. All other packs need no
/// order, because the ranks match them by their keys, like TensorFlow's sends and receives.
/// REQUIRES: `programs` and `plan` outlive the view.
PlanView view_of(const StepPrograms& programs, const Plan& plan);

}  // namespace tutti::core
