#pragma once

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/text/places.h"

namespace tutti::core {

/// The third stage: assigns every NCCL collective of the plan NCCL's choice and its predicted time,
/// either for the whole collective (algorithm nccl; packs and exchanges) or for its parts inside
/// workers (nccl/…). If the time model does not cover the machine, Scenario::why_rings states the
/// reason, and collectives remain rings. Adds to `problems`: settings that leave NCCL nothing to
/// choose, NCCL settings without an NCCL collective, tables that cannot be read. REQUIRES: lower()
/// has made the plan without problems.
void assign_times(const Library& library, Scenario& scenario, Complaints& complaints,
                  Problems& problems);

}  // namespace tutti::core
