#pragma once

#include "core/cluster/cluster.h"
#include "core/timeline/timeline.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// Tells `sink` what the links of `simulated` have carried, those of the first worker alone also for the workers of `told` that
/// it stands for, as far as those are not too many to be told one by one (a note says so).
void tell_links(const LinkLoads& loads, const core::Cluster& simulated, const core::Cluster& told,
                core::TimelineSink& sink);

}  // namespace tutti::sim
