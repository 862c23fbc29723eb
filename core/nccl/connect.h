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
  std::vector<TreePlace> tree;  ///< for each rank: its neighbours in the tree
};

/// Returns the number of channels that differ in their rings or trees: twice the number of channels
/// of the ring graph or twice that of the tree graph, whichever is smaller. If a communicator has
/// more channels, the additional channels repeat the first ones in order.
int connected_channels(const Graphs& graphs);

/// Returns the ring and the tree of channel `channel` over `nodes` identical nodes with consecutive
/// ranks.
///
/// A ring goes from the last GPU of a node to the first GPU of the next node. If the number of
/// channels is even, two successive channels form a pair. If a ring may use different network cards
/// in different nodes (Graph::cross_nic), the nodes with an odd index swap the rings of the two
/// channels, so that a message stays on its rail. Releases before 2.20 do not swap the rings.
/// Release 2.20 swaps them only if the number of nodes is even. From 2.26 on, the rings are swapped
/// only if cross_nic is 2.
///
/// A tree follows the order of GPUs inside a node. Between nodes, there is a double tree, that is,
/// two trees: the first half of the channels uses the first tree, and the second half uses the
/// second tree. In a balanced tree (Pattern::kBalancedTree), the second GPU of a node communicates
/// with the node's first child, and the first GPU with the second child. In releases before 2.8,
/// and in releases before 2.10 if there are at most two nodes, no tree is balanced. The second tree
/// is the first tree, mirrored if the number of nodes is even and shifted by one node if it is odd.
/// Before 2.8, the second tree is mirrored if the number of nodes is odd and shifted if it is even.
///
/// REQUIRES: 0 ≤ channel < connected_channels(graphs); each graph contains the order of GPUs of
/// every channel; there is at least one node. SOURCE: NVIDIA/nccl v2.28.9 src/graph/connect.cc,
/// trees.cc, rings.cc; v2.8.4 src/init.cc, initTransportsRank; v2.7.8 src/graph/connect.cc,
/// trees.cc.
ConnectedChannel connect_channel(const Graphs& graphs, int nodes, int channel,
                                 Version version = kDefaultVersion);

}  // namespace tutti::core::nccl
