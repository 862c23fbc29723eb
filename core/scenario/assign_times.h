#pragma once

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/text/places.h"

namespace tutti::core {

/// The third stage of reading a scenario: sets, for every NCCL collective of the plan, the choice
/// that NCCL would make and the predicted time. For algorithm nccl, assign_times() sets the times
/// of whole packs and exchanges. For two-level algorithms such as nccl/ring, assign_times() sets
/// the times of the NCCL collectives inside workers. If NCCL's cost model does not cover the
/// cluster (its machines are of several kinds, or have no known parameters), all NCCL collectives
/// are simulated as rings, and Scenario::why_rings has the reason.
///
/// ERRORS (problems): NCCL's settings exclude all algorithms; there are settings for NCCL but no
/// NCCL collective; a file with parameters of the cost model, the table of a tuner, or the
/// calibration cannot be read.
/// REQUIRES: lower() has made the plan and has reported no problem.
void assign_times(const Library& library, Scenario& scenario, Complaints& complaints,
                  Problems& problems);

}  // namespace tutti::core
