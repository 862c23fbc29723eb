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

/// The ring and the tree of one channel, over all nodes of a communicator.
struct ConnectedChannel {
  std::vector<int> ring;        ///< all ranks in ring order, beginning with rank 0
  std::vector<TreePlace> tree;  ///< each rank's neighbours in the tree
};

/// Returns the number of different channels, which is twice the minimum of the number of channels
/// of the ring graph and of the tree graph. Additional channels of a communicator repeat the
/// different channels in order.
int connected_channels(const Graphs& graphs);

/// Returns the ring and the tree of channel `channel` over `nodes` identical nodes with consecutive
/// ranks.
///
/// A ring goes from the last GPU of a node to the first GPU of the next node. If rings may cross
/// cards, odd nodes use the other ring of the channel's pair of rings, so that a message stays on
/// its rail. Releases from 2.20 on exchange the two rings of a pair on odd nodes; 2.20 does so only
/// if the number of nodes is even.
///
/// A tree follows the order of GPUs inside a node. Between nodes, the first half of the channels
/// use the first tree of a double tree, and the second half use the second tree. In a balanced
/// tree, the first child is attached to the second GPU of a node. Before 2.8, and before 2.10 with
/// at most two nodes, no tree is balanced. Before 2.8, the second tree is the first tree mirrored
/// if the number of nodes is odd, and shifted if it is even. In later releases, the second tree is
/// mirrored if the number of nodes is even, and shifted if it is odd.
///
/// REQUIRES: 0 ≤ channel < connected_channels(graphs); `graphs` contain the orders of GPUs; there
/// is at least one node.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/connect.cc, trees.cc, rings.cc; v2.8.4 src/init.cc,
/// initTransportsRank; v2.7.8 src/graph/connect.cc, trees.cc.
ConnectedChannel connect_channel(const Graphs& graphs, int nodes, int channel,
                                 Version version = kDefaultVersion);

}  // namespace tutti::core::nccl
