#pragma once

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/text/places.h"

namespace tutti::core {

/// The third stage of reading a scenario: sets NCCL's choice and its predicted time in every NCCL
/// collective of the plan. For algorithm nccl, these are the times of whole packs and exchanges;
/// for nccl/…, those of the parts inside workers. If NCCL's cost model does not cover the machine,
/// Scenario::why_rings states the reason, and the collectives remain rings.
///
/// Problems are: settings leave NCCL no choice; there are NCCL settings but no NCCL collective; a
/// table cannot be read.
/// REQUIRES: lower() has made the plan without problems.
void assign_times(const Library& library, Scenario& scenario, Complaints& complaints,
                  Problems& problems);

}  // namespace tutti::core
