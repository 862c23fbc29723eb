#pragma once

// A tree over which one rank reaches all other ranks as early as possible.
//
// Every rank that has the message sends it to other ranks, one after the other. The tree is built
// greedily: the next send is always the one that ends earliest. A send starts when the sender has
// the message and has completed its previous send. A send takes the route's latency plus the time
// for the bytes at the route's bandwidth. If all routes are equal and the message is large, the
// result is the binomial tree. If some ranks are close to each other and others are far away, only
// few sends go to far ranks.
// SOURCE: Banikazemi, Moorthy, Panda, "Efficient collective communication on heterogeneous networks
// of workstations", ICPP 1998 (fastest edge first).

#include "core/synthesis/forest.h"

namespace tutti::core::synthesis {

/// Returns the latency tree with the root `root`, as a forest that consists of this tree.
/// REQUIRES: `root` can reach every rank over the routes of the fabric.
/// Cost: O(ranks³).
Forest latency_tree(const FabricGraph& graph, int root, Bytes bytes);

}  // namespace tutti::core::synthesis
