#pragma once

#include <array>
#include <vector>

#include "core/nccl/search/graph.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// A rank's neighbours in a tree; -1: none.
struct TreePlace {
  int up = -1;
  std::array<int, 3> down{-1, -1, -1};

  bool operator==(const TreePlace&) const = default;
};

/// One channel over all nodes of a communicator.
struct ConnectedChannel {
  std::vector<int> ring;        ///< all ranks in their order, from rank 0 on
  std::vector<TreePlace> tree;  ///< by rank
};

/// How many channels the graphs give by themselves: every one that ring and tree both have, twice.
/// Those that a communicator has beyond these repeat them from the first on.
int connected_channels(const Graphs& graphs);

/// The rings and trees of channel `channel` over `nodes` nodes alike, whose ranks follow each
/// other. Rings: from the last GPU of a node to the first of the next; where cards cross, odd nodes
/// take the other ring of a pair (not before 2.20, and of 2.20 only if there are as many odd ones
/// as even), so that a message stays on its rail. Trees: down the order of GPUs inside a node, and
/// between nodes the first tree of a double tree for the first half of the channels, the second for
/// the second half; where a tree is balanced its first child hangs on a node's second GPU.
/// Before 2.10 trees of up to two nodes, and before 2.8 all, are not balanced; before 2.8 the
/// second tree is mirrored where later ones are moved on, and the other way round. REQUIRES: 0 ≤
/// channel < connected_channels(graphs); graphs with their orders; at least one node. SOURCE:
/// NVIDIA/nccl v2.28.9 src/graph/connect.cc, trees.cc, rings.cc; v2.8.4 src/init.cc,
/// initTransportsRank; v2.7.8 src/graph/connect.cc, trees.cc.
ConnectedChannel connect_channel(const Graphs& graphs, int nodes, int channel,
                                 Version version = kDefaultVersion);

}  // namespace tutti::core::nccl
