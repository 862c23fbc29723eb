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
  std::vector<int> ring;        ///< all ranks in ring order, beginning with rank 0
  std::vector<TreePlace> tree;  ///< place of each rank in the tree
};

/// Returns the number of channels that follow from the graphs alone: twice those that both ring and
/// tree have. If a communicator has more, they repeat these from the first on.
int connected_channels(const Graphs& graphs);

/// Returns the rings and trees of channel `channel` over `nodes` identical nodes with consecutive
/// ranks. Rings lead from the last GPU of a node to the first of the next; if cards cross, odd
/// nodes use the other ring of a pair (not before 2.20, and in 2.20 only if the number of nodes is
/// even), so that a message stays on its rail. Trees follow the order of GPUs inside a node;
/// between nodes they are the first tree of a double tree for the first half of the channels, and
/// the second for the second half. In a balanced tree, the first child is attached to the second
/// GPU of a node. Trees are not balanced before 2.10 for up to two nodes, and before 2.8 at all;
/// before 2.8 the second tree is mirrored where later releases shift it, and vice versa.
/// REQUIRES: 0 ≤ channel < connected_channels(graphs); graphs with their orders; at least one node.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/connect.cc, trees.cc, rings.cc; v2.8.4 src/init.cc,
/// initTransportsRank; v2.7.8 src/graph/connect.cc, trees.cc.
ConnectedChannel connect_channel(const Graphs& graphs, int nodes, int channel,
                                 Version version = kDefaultVersion);

}  // namespace tutti::core::nccl
