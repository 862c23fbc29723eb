#include "core/nccl/p2p_channels.h"

#include <algorithm>
#include <bit>

#include "core/nccl/paths.h"
#include "core/nccl/rates.h"

namespace tutti::core::nccl {

namespace {

constexpr int kMostChannels = 64;

int power_of_two_from(int n) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))); }

int to_local_peer(const Topology& node, const Paths& paths, int gpu, int peer) {
  const Path& path = paths.between(NodeKind::kGpu, peer, NodeKind::kGpu, gpu);
  if (path.type != PathType::kNvl) return 2;
  return 2 * std::max(1, static_cast<int>(path.gb_per_s / nvlink_gb_per_s(node.node(NodeKind::kGpu, gpu).gpu.sm)));
}

/// How many network ports it takes to carry what the GPU's link to its CPU does; 0 for a GPU on a switch.
int ports_to_fill(const Topology& node, const Paths& paths, int gpu) {
  float wanted = 0, have = 0;
  for (const int l : node.node(NodeKind::kGpu, gpu).links) {
    const TopologyLink& link = node.links[static_cast<std::size_t>(l)];
    if (node.nodes[static_cast<std::size_t>(link.to)].kind == NodeKind::kCpu) wanted = link.gb_per_s;
  }
  int ports = 0;
  for (const int net : paths.local_nets(gpu).places) {
    if (have >= wanted) break;
    have += paths.between(NodeKind::kGpu, gpu, NodeKind::kNet, net).gb_per_s;
    ++ports;
  }
  return ports;
}

}  // namespace

P2pChannels p2p_channels(const Topology& node, const SearchSettings& settings, int ranks, int channels) {
  const Paths paths(node, settings);
  const int gpus = node.count(NodeKind::kGpu);
  const int all = std::clamp(channels, 1, kMostChannels);
  int least = all;
  for (int g = 0; g < gpus; ++g) {
    for (int peer = 0; peer < gpus; ++peer) {
      if (peer != g) least = std::min(least, to_local_peer(node, paths, g, peer));
    }
    if (ranks == gpus) continue;
    // Two to another node, one if eight and more would share a channel.
    const int few = 2 * static_cast<std::int64_t>(ranks) > all * std::int64_t{4} ? 1 : 2;
    least = std::min(least, std::max(ports_to_fill(node, paths, g), few));
  }
  P2pChannels found{std::min(power_of_two_from(all), kMostChannels), power_of_two_from(std::max(least, 1))};
  found.per_peer = std::min(found.per_peer, found.channels);
  return found;
}

}  // namespace tutti::core::nccl
