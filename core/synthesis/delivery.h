#pragma once

// The least time in which fixed routes deliver everything.
//
// Cuts (optimum.h) assume that a message may take any way through the switches. In a cluster it
// takes one. A DGX-1 has GPU pairs without NVLink, whose messages cross both PCIe trees and the
// link between the CPUs; pairs with NVLink never use PCIe. So the four GPUs of a socket, each with
// a PCIe link of 12 GB/s, receive 6 GB/s over PCIe all together.
//
// Take any set T of ranks. Each has to receive what all others contribute, and every delivery ends
// with a message over a route. Let flows begin at any rank, turn from link to link only where some
// route does, and end in T: the most that can flow bounds what T receives per second. The worst T
// is again found by minimum cuts and Dinkelbach's method. Single ranks, sockets and the whole
// cluster are among the sets.

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

/// Returns the least time, in the unit of Optimum::time, in which all ranks can receive all
/// contributions over their routes; `at_least` if that is not longer. REQUIRES: `graph` has routes,
/// or lists of none.
Ratio delivery_time(const FabricGraph& graph, const Contributions& contributions, Ratio at_least);

}  // namespace tutti::core::synthesis
