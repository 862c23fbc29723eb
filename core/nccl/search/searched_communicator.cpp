#include "core/nccl/search/searched_communicator.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/nccl/channels.h"
#include "core/nccl/collnet.h"
#include "core/nccl/point_to_point.h"

namespace tutti::core::nccl {

namespace {

bool reduces_in_network(const Topology& topology) {
  for (int n = 0; n < topology.count(NodeKind::kNet); ++n) {
    if (topology.node(NodeKind::kNet, n).net.collectives) return true;
  }
  return false;
}

double slowest_reducing_card(const Topology& topology) {
  double slowest = std::numeric_limits<double>::infinity();
  for (int n = 0; n < topology.count(NodeKind::kNet); ++n) {
    const NetFacts& net = topology.node(NodeKind::kNet, n).net;
    if (net.collectives) slowest = std::min(slowest, static_cast<double>(net.gb_per_s));
  }
  return slowest;
}

}  // namespace

HostCpu host_cpu(const CpuFacts& cpu) {
  if (cpu.arch == CpuArch::kPower) return HostCpu::kPower;
  if (cpu.arch == CpuArch::kArm) return HostCpu::kArm;
  switch (cpu.vendor) {
    case CpuVendor::kAmd: return HostCpu::kAmd;
    case CpuVendor::kZhaoxin: return HostCpu::kZhaoxin;
    case CpuVendor::kIntel:
    case CpuVendor::kOther: break;
  }
  return HostCpu::kIntel;
}

Expected<SearchSettings> search_settings(const Settings& settings, Version version) {
  SearchSettings search;
  search.net_inside = version >= kNetInPaths && !settings.net_intra_disabled.value_or(false);
  if (settings.p2p_disabled.value_or(false)) search.p2p_level = PathType::kLoc;
  if (settings.shm_disabled) search.shm = !*settings.shm_disabled;
  if (settings.pxn_disabled) search.pxn = !*settings.pxn_disabled;
  if (settings.nvls) search.nvls = *settings.nvls;
  if (settings.collnet) search.collnet = *settings.collnet;
  if (settings.cross_nic) {
    if (const auto done = set(search, "NCCL_CROSS_NIC", fmt::format("{}", *settings.cross_nic));
        !done)
      return tl::unexpected(done.error());
  }
  if (settings.gdr_level) {
    if (const auto done = set(search, "NCCL_NET_GDR_LEVEL", *settings.gdr_level); !done)
      return tl::unexpected(done.error());
  }
  return search;
}

Expected<Communicator> communicator_of(const Topology& topology, const SearchResult& found,
                                       std::int64_t count, const Settings& settings,
                                       Version version) {
  const std::int64_t gpus = topology.count(NodeKind::kGpu);
  if (count > std::numeric_limits<int>::max() / gpus)
    return tl::unexpected(Error::request(
        {ProblemCode::kTooLarge}, fmt::format("{} × {} ranks exceed NCCL's limit of {}", count,
                                              gpus, std::numeric_limits<int>::max())));
  if (settings.net_intra_disabled.value_or(false) && found.nodes_per_topology > topology.hosts)
    return tl::unexpected(Error::request(
        {ProblemCode::kConflict, "NCCL_NET_DISABLE_INTRA"},
        "NCCL_NET_DISABLE_INTRA=1: NCCL fails with \"No transport found\", because some GPUs of a "
        "machine can communicate only over the network; remove NCCL_NET_DISABLE_INTRA, or the "
        "variables that disable "
        "peer access and shared memory (NCCL_P2P_DISABLE, NCCL_SHM_DISABLE)"));
  Communicator made;
  made.version = version;
  made.ranks = static_cast<int>(count * gpus);
  made.nodes = static_cast<int>(count) * found.nodes_per_topology;
  made.compute_capability = made.max_compute_capability = topology.min_sm();
  for (int g = 0; g < topology.count(NodeKind::kGpu); ++g)
    made.max_compute_capability =
        std::max(made.max_compute_capability, topology.node(NodeKind::kGpu, g).gpu.sm);
  made.cpu = host_cpu(topology.node(NodeKind::kCpu, 0).cpu);
  made.nvswitch = found.node.count(NodeKind::kNvs) > 0;
  made.nvls = found.graphs.nvls.channels > 0;
  made.graphs = found.graphs;
  made.collnet = reduces_in_network(found.node) && collnet_is_on(made, settings);
  made.collnet_narrow = sharp_adds_narrow_types(slowest_reducing_card(found.node));
  std::set<int> heads;
  for (const GraphChannel& channel : found.graphs.collnet_direct.orders)
    heads.insert(channel.gpus.front());
  made.collnet_heads = static_cast<int>(heads.size());
  count_channels(made, settings);
  const auto search = search_settings(settings, version);
  if (!search) return tl::unexpected(search.error());
  made.p2p = point_to_point(found.node, *search, made.ranks, made.channels, version);
  return made;
}

Expected<Communicator> searched_communicator(const Topology& topology, std::int64_t count,
                                             const Settings& settings,
                                             std::span<const Graph> given) {
  const auto search = search_settings(settings);
  if (!search) return tl::unexpected(search.error());
  const auto found = search_graphs(topology, count, *search, given);
  if (!found) return tl::unexpected(found.error());
  return communicator_of(topology, *found, count, settings);
}

}  // namespace tutti::core::nccl
