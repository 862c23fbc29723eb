#pragma once

#include "core/cluster/cluster.h"
#include "core/timeline/timeline.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// Records the loads of the links of `simulated` in `sink`. `timeline_cluster` is the cluster of
/// the timeline. If one simulated worker represents all workers of `timeline_cluster`, the loads
/// are recorded once for each worker of `timeline_cluster`. If this would make too many records,
/// the loads are recorded only once, with a note. `ports_alone`: true if the network model is
/// `ideal`, which does not model links between ports. Such links are recorded as busy for at most
/// `length`, the length of the run, and a note names the most overloaded link.
void report_links(const LinkLoads& loads, const core::Cluster& simulated,
                  const core::Cluster& timeline_cluster, bool ports_alone, core::Time length,
                  core::TimelineSink& sink);

}  // namespace tutti::sim
