#include "core/nccl/system_of_topology.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/cluster/link_rates.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/topology/paths.h"
#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {

namespace {

GpuGeneration generation_of(int sm) {
  if (sm >= 100) return GpuGeneration::kBlackwell;
  if (sm >= 90) return GpuGeneration::kHopper;
  if (sm >= 89) return GpuGeneration::kAda;
  if (sm >= 80) return GpuGeneration::kAmpere;
  if (sm >= 75) return GpuGeneration::kTuring;
  return sm >= 70 ? GpuGeneration::kVolta : GpuGeneration::kPascal;
}

/// Returns the bandwidth of one NVLink according to its data sheet.
double nominal_nvlink(int sm) {
  const int generation = sm >= 100 ? 5 : sm >= 90 ? 4 : sm >= 80 ? 3 : sm >= 70 ? 2 : 1;
  const auto rate = lane_rate(tutti::core::LinkKind::kNvlink, generation);
  return rate ? static_cast<double>(rate->nominal.count()) / 1e9 : 0;
}

/// The connections of a GPU.
struct Ways {
  std::set<int> peers;
  bool to_switch = false, c2c = false;
  float nvlink = 0, pcie = 0;
};
Ways ways_of(const Topology& topology, int gpu) {
  Ways ways;
  for (const int l : topology.node(NodeKind::kGpu, gpu).links) {
    const TopologyLink& link = topology.links[l];
    const NodeKind end = topology.nodes[link.to].kind;
    if (link.kind == Wire::kPci) ways.pcie = link.gb_per_s;
    if (link.kind == Wire::kC2c) ways.c2c = true;
    if (link.kind != Wire::kNvl || link.to == link.from) continue;
    ways.nvlink += link.gb_per_s;
    if (end == NodeKind::kNvs) ways.to_switch = true;
    if (end == NodeKind::kGpu) ways.peers.insert(link.to);
  }
  return ways;
}

/// Sets the link that limits GPUs that send to host memory, as Machine::to_host().
void set_to_host(System& s, const Topology& topology, const Paths& paths) {
  std::map<int, int> senders;  // by link
  for (int g = 0; g < topology.count(NodeKind::kGpu); ++g) {
    const Path* nearest = nullptr;
    for (int c = 0; c < topology.count(NodeKind::kCpu); ++c) {
      const Path& path = paths.between(NodeKind::kGpu, g, NodeKind::kCpu, c);
      if (path.links.empty()) continue;
      if (nearest == nullptr || path.links.size() < nearest->links.size()) nearest = &path;
    }
    if (nearest == nullptr) return;
    for (const int link : nearest->links) {
      if (topology.links[link].kind == Wire::kPci) ++senders[link];
    }
  }
  for (const auto& [link, count] : senders) {
    const double rate = topology.links[link].gb_per_s / static_cast<double>(count);
    if (s.to_host_gb_per_s > 0 && rate >= s.to_host_gb_per_s) continue;
    s.to_host_gb_per_s = rate;
    s.gpus_of_uplink = count;
  }
}

Inside inside_of(const Ways& ways, int gpus) {
  if (gpus == 1) return Inside::kAlone;
  if (ways.to_switch) return Inside::kNvswitch;
  const int peers = static_cast<int>(ways.peers.size());
  if (peers == gpus - 1) return Inside::kPairs;
  return gpus == 8 && peers == 4 ? Inside::kCubeMesh : Inside::kPcie;
}

}  // namespace

Transport transport_of_card(std::string_view device) {
  if (device.starts_with("mlx5")) return Transport::kInfiniband;
  if (device.starts_with("efa") || device.starts_with("rdmap")) return Transport::kEfa;
  if (device.starts_with("cxi")) return Transport::kSlingshot;
  return Transport::kTcp;
}

Expected<System> system_of(const Topology& topology, const SearchResult& found, std::int64_t count,
                           const SearchSettings& search,
                           const std::optional<std::string>& network) {
  const Ways ways = ways_of(topology, 0);
  System s;
  s.compute_capability = topology.min_sm();
  s.generation = generation_of(s.compute_capability);
  s.nodes = static_cast<int>(count);
  s.gpus = topology.count(NodeKind::kGpu);
  s.inside = inside_of(ways, s.gpus);
  s.card = ways.nvlink == 0;
  s.nvlink_gb_per_s = s.card ? 0 : nominal_nvlink(s.compute_capability);
  s.nvlinks = static_cast<int>(std::lround(ways.nvlink / nvlink_gb_per_s(s.compute_capability)));
  s.pcie_gb_per_s = ways.pcie;
  s.peer_access = search.p2p_level != PathType::kLoc;
  set_to_host(s, topology, Paths(topology, search));
  s.cpu = host_cpu(topology.node(NodeKind::kCpu, 0).cpu);
  s.grace = ways.c2c;
  s.collnet = found.graphs.collnet_chain.channels > 0;
  if (!found.over_nodes) return as_searched(s, topology, found, search);
  const NetFacts& card =
      found.node.node(NodeKind::kNet, Paths(found.node, search).local_net(0, 0)).net;
  s.nic_gb_per_s = card.gb_per_s;
  s.transport = at_gpus(transport_of_card(card.name), s.generation);
  s = as_searched(s, topology, found, search);
  s.gpudirect = gpudirect(found, search);
  const Paths paths(found.node, search);
  s.shares_pcie_switch =
      paths.between(NodeKind::kGpu, 0, NodeKind::kNet, paths.local_net(0, 0)).type <=
      PathType::kPxb;
  if (!network) return s;
  const auto named = parse_transport(*network);
  if (!named)
    return tl::unexpected(Error::request(
        {ProblemCode::kUnknownName, "--network"},
        fmt::format("--network {}: expected one of {}", *network, transport_names())));
  s.transport = at_gpus(*named, s.generation);
  return s;
}

System as_searched(System s, const Topology& topology, const SearchResult& found,
                   const SearchSettings& search) {
  s.nodes *= found.nodes_per_topology;
  s.gpus = found.node.count(NodeKind::kGpu);
  const bool nvlink = s.inside != Inside::kAlone && s.inside != Inside::kPcie;
  const PathType ring = found.graphs.ring.type_intra;
  if (nvlink && ring >= PathType::kPix) s.inside = Inside::kPcie;
  if (s.inside == Inside::kPcie && (ring == PathType::kNvl || ring == PathType::kNvb))
    s.inside = Inside::kCubeMesh;
  if (s.gpus == 1) s.inside = Inside::kAlone;
  if (!found.over_nodes) return s;
  const Paths paths(topology, search);
  std::set<int> cards;
  for (int g = 0; g < topology.count(NodeKind::kGpu); ++g) cards.insert(paths.local_net(g, 0));
  const int all = static_cast<int>(cards.size());
  s.nics = std::max(1, all / found.nodes_per_topology);
  s.nic_gb_per_s *= 1.0 * all / (s.nics * found.nodes_per_topology);
  return s;
}

bool gpudirect(const SearchResult& found, const SearchSettings& search) {
  const Paths paths(found.node, search);
  return paths.gpu_direct(0, paths.local_net(0, 0));
}

}  // namespace tutti::core::nccl
