#include "core/nccl/connect.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core::nccl {

namespace {

/// A node's neighbours in a binary tree of all nodes; -1: none.
struct NodePlace {
  int up = -1;
  std::array<int, 2> down{-1, -1};
  int child = 0;  ///< index of the rank's node among the children of the parent node
};

/// Returns the node's neighbours in the in-order tree. Nodes 1 … n - 1 whose lowest set bit is 2^k
/// are at height k. Node 0 is the root and has only a second child.
NodePlace in_order(int nodes, int node) {
  NodePlace place;
  int bit = 1;
  while (bit < nodes && (bit & node) == 0) bit <<= 1;
  if (node == 0) {
    if (nodes > 1) place.down[1] = bit >> 1;
    return place;
  }
  place.up = (node ^ bit) | (bit << 1);
  if (place.up >= nodes) place.up = node ^ bit;
  place.child = node < place.up ? 0 : 1;
  int step = bit >> 1;
  if (step == 0) return place;
  place.down = {node - step, node + step};
  while (place.down[1] >= nodes) {
    place.down[1] = step == 0 ? -1 : node + step;
    step >>= 1;
  }
  return place;
}

bool before_2_8(Version version) { return version < Version{2, 8, 0}; }

/// Returns the node's neighbours in the second tree. The second tree is the first tree, mirrored if
/// the number of nodes is even and shifted by one node if it is odd (before 2.8: mirrored if odd,
/// shifted if even).
NodePlace in_second(int nodes, int node, Version version) {
  const bool mirrored = (nodes % 2 == 0) != before_2_8(version);
  const auto there = [nodes, mirrored](int n) {
    return mirrored ? nodes - 1 - n : (n + 1) % nodes;
  };
  NodePlace place = in_order(nodes, mirrored ? nodes - 1 - node : (node + nodes - 1) % nodes);
  for (int* neighbour : {&place.up, &place.down[0], &place.down[1]}) {
    if (*neighbour >= 0) *neighbour = there(*neighbour);
  }
  return place;
}

int searched(const Graphs& graphs) { return std::min(graphs.ring.channels, graphs.tree.channels); }

const std::vector<int>& order(const Graph& graph, int channel) {
  return graph.orders[channel].gpus;
}

/// True if channels 2k and 2k + 1 exchange their rings on nodes with an odd index. Before 2.26,
/// channels form such pairs in all graphs in which rings may cross network cards.
bool exchanges_rings(const Graph& ring, int channels, int nodes, Version version) {
  if (version < Version{2, 20, 0} || channels % 2 != 0) return false;
  if (version < Version{2, 21, 0} && nodes % 2 != 0) return false;
  return version < Version{2, 26, 0} ? ring.cross_nic != 0 : ring.cross_nic == 2;
}

std::vector<int> ring(const Graph& graph, int channels, int nodes, int channel, Version version) {
  std::vector<int> ranks;
  const bool crossing = exchanges_rings(graph, channels, nodes, version);
  for (int node = 0; node < nodes; ++node) {
    const std::vector<int>& gpus = order(graph, crossing && node % 2 == 1 ? channel ^ 1 : channel);
    const int first = node * static_cast<int>(gpus.size());
    for (const int gpu : gpus) ranks.push_back(first + gpu);
  }
  std::rotate(ranks.begin(), std::find(ranks.begin(), ranks.end(), 0), ranks.end());
  return ranks;
}

/// The GPUs of a node that communicate with the parent node and with the child nodes, as positions
/// in the channel's order of GPUs.
struct InterNodeGpus {
  std::size_t to_parent = 0;
  std::array<std::size_t, 2> to_child{0, 0};
};
InterNodeGpus inter_node_gpus(Pattern pattern) {
  const std::size_t first = pattern == Pattern::kTree ? 0 : 1;
  const std::size_t second = pattern == Pattern::kSplitTree ? 1 : 0;
  return {0, {first, second}};
}

/// Returns the pattern of the trees that a release builds from `tree`. Older releases have no
/// balanced tree.
Pattern pattern_of(const Graph& tree, int nodes, Version version) {
  if (tree.pattern != Pattern::kBalancedTree) return tree.pattern;
  if (before_2_8(version)) return Pattern::kSplitTree;
  return version < Version{2, 10, 0} && nodes <= 2 ? Pattern::kTree : tree.pattern;
}

void add_child(TreePlace& place, int child) {
  const auto free = std::find(place.down.begin(), place.down.end(), -1);
  TUTTI_CHECK(free != place.down.end(), "a fourth child: {}", child);
  *free = child;
}

std::vector<TreePlace> tree(const Graph& graph, int nodes, int channel, bool second,
                            Version version) {
  const std::vector<int>& gpus = order(graph, channel);
  const int each = static_cast<int>(gpus.size());
  const InterNodeGpus at =
      inter_node_gpus(gpus.size() > 1 ? pattern_of(graph, nodes, version) : Pattern::kTree);
  std::vector<TreePlace> places(static_cast<std::size_t>(nodes) * gpus.size());
  for (int node = 0; node < nodes; ++node) {
    const auto rank = [&](int of_node, std::size_t i) { return of_node * each + gpus[i]; };
    const auto place = [&](std::size_t i) -> TreePlace& { return places[rank(node, i)]; };
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (i > 0) place(i).up = rank(node, i - 1);
      if (i + 1 < gpus.size()) place(i).down[0] = rank(node, i + 1);
    }
    const NodePlace among = second ? in_second(nodes, node, version) : in_order(nodes, node);
    if (among.up >= 0) place(at.to_parent).up = rank(among.up, at.to_child[among.child]);
    for (const std::size_t child : {0U, 1U}) {
      if (among.down[child] >= 0)
        add_child(place(at.to_child[child]), rank(among.down[child], at.to_parent));
    }
  }
  return places;
}

}  // namespace

int connected_channels(const Graphs& graphs) { return 2 * searched(graphs); }

ConnectedChannel connect_channel(const Graphs& graphs, int nodes, int channel, Version version) {
  const int channels = searched(graphs);
  TUTTI_CHECK(channel >= 0 && channel < 2 * channels && nodes > 0,
              "channel {} of 2 × {} over {} nodes", channel, channels, nodes);
  const int source = channel % channels;
  return {ring(graphs.ring, channels, nodes, source, version),
          tree(graphs.tree, nodes, source, channel >= channels, version)};
}

}  // namespace tutti::core::nccl
