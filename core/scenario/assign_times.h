#pragma once

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/text/places.h"

namespace tutti::core {

/// The third stage of reading a scenario. Sets NCCL's choice and the predicted time of every NCCL
/// collective of the plan. For algorithm nccl, sets the times of whole packs and exchanges. For
/// algorithms nccl/…, sets the times of the parts inside workers. If NCCL's cost model does not
/// cover the machine, the collectives remain rings, and Scenario::why_rings states the reason.
///
/// The possible problems are: NCCL's settings exclude all algorithms; there are NCCL settings but
/// no NCCL collective; a table cannot be read. REQUIRES: lower() has made the plan without
/// problems.
void assign_times(const Library& library, Scenario& scenario, Complaints& complaints,
                  Problems& problems);

}  // namespace tutti::core
