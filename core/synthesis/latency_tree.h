#pragma once

// A tree by which one rank reaches all others as early as possible.
//
// Every rank that has the message sends it on, to one after the other. The next send is always the
// one that ends earliest: the sender must have it and be done with its last send, and the message
// takes the route's latency and its bytes over the route's bandwidth. With equal routes and a large
// message this is the binomial tree; with far and near ranks, few sends cross to the far ones.
// SOURCE: Banikazemi, Moorthy, Panda, "Efficient collective communication on heterogeneous networks
// of workstations", ICPP 1998 (fastest edge first).

#include "core/synthesis/forest.h"

namespace tutti::core::synthesis {

/// REQUIRES: every rank can be reached over routes. Cost: O(ranks³).
Forest latency_tree(const FabricGraph& graph, int root, Bytes bytes);

}  // namespace tutti::core::synthesis
