#pragma once

// A lower bound on the time of a collective whose messages take fixed routes.
//
// The bound from cuts (optimum.h) assumes that a message may take any path through the switches. In
// a cluster, a message takes a fixed route. For example, a DGX-1 has pairs of GPUs without NVLink,
// whose messages cross both PCIe trees and the link between the CPUs. Messages between pairs with
// NVLink never use PCIe. So the four GPUs of a socket, each with a PCIe link of 12 GB/s, can
// together receive only 6 GB/s over PCIe.
//
// Let T be a set of ranks. Each rank in T has to receive the contributions of all other ranks, and
// every delivery ends with a message over a route. Consider flows that begin at any rank, go from
// link to link only where some route does, and end in T. The maximum flow bounds the bytes per
// second that T can receive. The set T with the longest time is found by minimum cuts and
// Dinkelbach's method, as in optimum.h. Single ranks, sockets and the whole cluster are examples of
// such sets.

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

/// Returns a lower bound on the time in which all ranks can receive all contributions over their
/// routes, in the unit of Optimum::time. The result is never below `at_least`.
/// REQUIRES: `graph.routes` has an entry for each pair of ranks; entries may be empty.
Ratio delivery_time(const FabricGraph& graph, const Contributions& contributions, Ratio at_least);

}  // namespace tutti::core::synthesis
