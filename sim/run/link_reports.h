#pragma once

#include "core/cluster/cluster.h"
#include "core/timeline/timeline.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// Writes the loads of links to `sink`. `simulated` is the simulated cluster, and
/// `timeline_cluster` is the cluster of the timeline. In a folded run, the only simulated worker
/// represents all workers of `timeline_cluster`, so its loads are written once for each of these
/// workers. If there would be too many records, the loads are written only once, with a note.
/// `ports_alone` is true if the network model is `ideal`. This model limits only the ports at both
/// ends of a route, so a link between the ports may carry more than its capacity. With this model,
/// links are written as busy for at most `length`, the length of the run, and a note names the most
/// overloaded link.
void report_links(const LinkLoads& loads, const core::Cluster& simulated,
                  const core::Cluster& timeline_cluster, bool ports_alone, core::Time length,
                  core::TimelineSink& sink);

}  // namespace tutti::sim
