#pragma once

// A lower bound on the time of a collective whose messages take fixed routes.
//
// The bound from cuts (optimum.h) assumes that messages may take any path through the switches. In
// a cluster, however, each pair of ranks uses one fixed route. For example, some pairs of GPUs of a
// DGX-1 have no NVLink. Messages between GPUs without NVLink cross both PCIe trees and the link of
// 6 GB/s between the CPUs. Messages between GPUs with an NVLink never use PCIe. Therefore the four
// GPUs of a socket, each with a PCIe link of 12 GB/s, can together receive only 6 GB/s over PCIe.
//
// Let T be a set of ranks. Each rank in T has to receive the contributions of all other ranks. Each
// contribution reaches a rank in T by a message, which takes the route from its sender to this
// rank. Consider all flows that begin at any rank, end at a rank in T, and go from one link to
// another only where some route does so. The maximum flow is an upper bound on the rate in bytes
// per second at which T can receive. Minimum cuts and Dinkelbach's method find the set T that needs
// the longest time, as in optimum.h. The set T can be a single rank, a socket or the whole cluster.

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

/// Returns a lower bound on the time in which all ranks receive all contributions over the fixed
/// routes, in the unit of Optimum::time. The result is never below `at_least`.
/// REQUIRES: `graph.routes` has an entry for each pair of ranks; entries may be empty.
Ratio delivery_time(const FabricGraph& graph, const Contributions& contributions, Ratio at_least);

}  // namespace tutti::core::synthesis
