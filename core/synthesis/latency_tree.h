#pragma once

// A tree by which one rank reaches all other ranks as early as possible.
//
// Every rank that has the message sends it to one rank after the other. The algorithm is greedy: it
// always adds the send that ends earliest. A send starts when the sender has the message and has
// completed its previous send; it takes the route's latency plus the bytes divided by the route's
// bandwidth. If all routes are equal and the message is large, the result is the binomial tree. If
// some ranks are near each other and others are far, few sends go to far ranks.
// SOURCE: Banikazemi, Moorthy, Panda, "Efficient collective communication on heterogeneous networks
// of workstations", ICPP 1998 (fastest edge first).

#include "core/synthesis/forest.h"

namespace tutti::core::synthesis {

/// Returns the tree as a forest of one tree.
/// REQUIRES: every rank can be reached over routes.
/// Cost: O(ranks³).
Forest latency_tree(const FabricGraph& graph, int root, Bytes bytes);

}  // namespace tutti::core::synthesis
