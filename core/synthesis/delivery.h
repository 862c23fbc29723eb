#pragma once

// A lower bound on the time of a collective whose messages take fixed routes.
//
// The bound from cuts (optimum.h) assumes that messages may take any path through the switches. In
// a cluster, however, a message takes a fixed route. For example, some pairs of GPUs of a DGX-1
// have no NVLink. Messages between them cross both PCIe trees and the link between the CPUs.
// Messages between GPUs with an NVLink never use PCIe. Therefore the four GPUs of a socket, each
// with a PCIe link of 12 GB/s, can together receive only 6 GB/s over PCIe.
//
// Let T be a set of ranks. Each rank in T has to receive the contributions of all other ranks, and
// the last message of every contribution takes a route to a rank in T. Consider flows that begin at
// any rank and end in T, and that continue from one link to another only if some route does so. The
// maximum flow is an upper bound on the bytes per second that T can receive. The set T that needs
// the longest time is found by minimum cuts and Dinkelbach's method, as in optimum.h. Such a set
// may be a single rank, a socket or the whole cluster.

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

/// Returns a lower bound on the time in which all ranks can receive all contributions over their
/// routes, in the unit of Optimum::time. The result is never below `at_least`.
/// REQUIRES: `graph.routes` has an entry for each pair of ranks; entries may be empty.
Ratio delivery_time(const FabricGraph& graph, const Contributions& contributions, Ratio at_least);

}  // namespace tutti::core::synthesis
