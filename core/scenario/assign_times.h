#pragma once

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/text/places.h"

namespace tutti::core {

/// The third stage: gives every collective of the plan that NCCL carries out NCCL's choice, and
/// what that takes: as a whole (algorithm nccl; packs and exchanges), or its parts inside workers
/// (nccl/…). Where the time model does not know the machine, Scenario::why_rings says why, and they
/// stay the rings that they are. Adds to `problems`: settings that leave NCCL nothing to choose,
/// settings of NCCL where nothing is NCCL's, tables that cannot be read. REQUIRES: lower() has made
/// the plan, and found no problem.
void assign_times(const Library& library, Scenario& scenario, Complaints& complaints,
                  Problems& problems);

}  // namespace tutti::core
