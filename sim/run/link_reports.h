#pragma once

#include "core/cluster/cluster.h"
#include "core/timeline/timeline.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// Records in `sink` the loads of the links of `simulated`. If its first worker represents the
/// workers of `told`, its loads are recorded for each of them, unless there are too many (a note
/// says so). `ports_alone`: the network model (ideal) does not model the links between ports. No
/// link is recorded as busy for longer than `length`; a note names a link that would have to be.
void tell_links(const LinkLoads& loads, const core::Cluster& simulated, const core::Cluster& told,
                bool ports_alone, core::Time length, core::TimelineSink& sink);

}  // namespace tutti::sim
