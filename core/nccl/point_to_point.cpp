#include "core/nccl/point_to_point.h"

#include <algorithm>
#include <bit>

#include "core/nccl/topology/paths.h"
#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {

namespace {

/// The first release in which messages to another node leave through the card on the receiver's
/// rail (PXN).
constexpr Version kPxn{2, 12, 0};

int power_of_two_from(int n) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))); }

int to_local_peer(const Topology& node, const Paths& paths, int gpu, int peer) {
  const Path& path = paths.between(NodeKind::kGpu, peer, NodeKind::kGpu, gpu);
  if (path.type != PathType::kNvl) return 2;
  return 2 * std::max(1, static_cast<int>(path.gb_per_s /
                                          nvlink_gb_per_s(node.node(NodeKind::kGpu, gpu).gpu.sm)));
}

/// Returns the number of network ports whose rates together saturate the GPU's link to its CPU; 0
/// if the GPU is attached to a switch.
int ports_to_fill(const Topology& node, const Paths& paths, int gpu) {
  float wanted = 0, have = 0;
  for (const int l : node.node(NodeKind::kGpu, gpu).links) {
    const TopologyLink& link = node.links[l];
    if (node.nodes[link.to].kind == NodeKind::kCpu) wanted = link.gb_per_s;
  }
  int ports = 0;
  for (const int net : paths.local_nets(gpu).places) {
    if (have >= wanted) break;
    have += paths.between(NodeKind::kGpu, gpu, NodeKind::kNet, net).gb_per_s;
    ++ports;
  }
  return ports;
}

/// Returns the number of channels for a peer on another node: two, or one if more than four peers
/// would otherwise share a channel.
int far_channels(int ranks, int all, Version version) {
  if (version < kPxn) return 1;
  if (version < Version{2, 20, 0}) return 2;
  return 2 * static_cast<std::int64_t>(ranks) > all * std::int64_t{4} ? 1 : 2;
}

PointToPoint of_channels(int all, int per_peer) {
  PointToPoint made;
  made.channels = std::min(power_of_two_from(all), kMaxChannels);
  made.per_peer = std::min(power_of_two_from(std::max(per_peer, 1)), made.channels);
  return made;
}

/// Returns the GPU whose network card sends a message from `gpu` to GPU `peer` of another node.
int relay_of(const Paths& paths, const SearchSettings& settings, int gpu, int peer) {
  const int net = paths.local_net(peer, 0);
  const int beside = net < 0 ? -1 : paths.local_gpu(net);
  if (beside < 0 || beside == gpu) return gpu;
  const PathType farthest = settings.pxn_c2c ? PathType::kP2c : PathType::kPxb;
  const bool reached =
      paths.between(NodeKind::kGpu, beside, NodeKind::kGpu, gpu).type <= PathType::kNvl;
  return reached && paths.between(NodeKind::kGpu, beside, NodeKind::kNet, net).type <= farthest
             ? beside
             : gpu;
}

}  // namespace

PointToPoint point_to_point(const Topology& node, const SearchSettings& settings, int ranks,
                            int channels, Version version) {
  const Paths paths(node, settings);
  const int gpus = node.count(NodeKind::kGpu);
  const int all = std::clamp(channels, 1, kMaxChannels);
  int least = all;
  for (int g = 0; g < gpus; ++g) {
    for (int peer = 0; peer < gpus; ++peer) {
      if (peer != g) least = std::min(least, to_local_peer(node, paths, g, peer));
    }
    if (ranks == gpus) continue;
    const int ports = version < Version{2, 20, 0} ? 0 : ports_to_fill(node, paths, g);
    least = std::min(least, std::max(ports, far_channels(ranks, all, version)));
  }
  PointToPoint made = of_channels(all, least);
  made.all_nvlink = gpus == 1 || paths.farthest(NodeKind::kGpu) < PathType::kPix;
  if (ranks == gpus || !settings.pxn || version < kPxn) return made;
  for (int g = 0; g < gpus; ++g) {
    std::vector<int>& row = made.relays.emplace_back();
    for (int peer = 0; peer < gpus; ++peer) row.push_back(relay_of(paths, settings, g, peer));
  }
  return made;
}

PointToPoint point_to_point(const System& s, const Settings& settings, int channels,
                            Version version) {
  const int all = std::clamp(channels, 1, kMaxChannels);
  const int links = s.inside == Inside::kNvswitch ? s.nvlinks
                    : s.inside == Inside::kPairs  ? s.nvlinks / std::max(1, s.pairs_of_machine())
                                                  : 1;
  int least = s.gpus > 1 ? std::min(all, 2 * std::max(1, links)) : all;
  if (s.nodes > 1) least = std::min(least, far_channels(s.ranks(), all, version));
  PointToPoint made = of_channels(all, least);
  made.all_nvlink = s.inside != Inside::kPcie;
  const bool direct = s.inside == Inside::kNvswitch || s.inside == Inside::kPairs;
  if (s.nodes == 1 || !direct || s.nics == 0 || settings.pxn_disabled.value_or(false) ||
      version < kPxn)
    return made;
  for (int g = 0; g < s.gpus; ++g) {
    std::vector<int>& row = made.relays.emplace_back();
    for (int peer = 0; peer < s.gpus; ++peer) {
      const int card = static_cast<int>(std::int64_t{peer} * s.nics / s.gpus);
      row.push_back((card * s.gpus + s.nics - 1) / s.nics);
    }
  }
  return made;
}

}  // namespace tutti::core::nccl
