#pragma once

#include "core/cluster/cluster.h"
#include "core/timeline/timeline.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// Records in `sink` what the links of `simulated` have carried, those of the first worker alone also for the workers of `told` that
/// it stands for, as far as those are not too many to be recorded one by one (a note says so). `ports_alone`: the network model (ideal) does not know the
/// links between ports. None is recorded as busy for longer than `length`; a note names the link that would have to be.
void tell_links(const LinkLoads& loads, const core::Cluster& simulated, const core::Cluster& told, bool ports_alone,
                core::Time length, core::TimelineSink& sink);

}  // namespace tutti::sim
