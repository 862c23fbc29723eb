#include "core/nccl/topology/topology.h"

#include <algorithm>

#include "core/nccl/topology/topology_builder.h"

namespace tutti::core::nccl {

std::string_view to_string(NodeKind kind) {
  switch (kind) {
    case NodeKind::kGpu: return "GPU";
    case NodeKind::kPci: return "PCI";
    case NodeKind::kNvs: return "NVS";
    case NodeKind::kCpu: return "CPU";
    case NodeKind::kNic: return "NIC";
    case NodeKind::kNet: return "NET";
  }
  return "?";
}

int Topology::min_sm() const {
  int least = 0;
  for (const int g : all(NodeKind::kGpu)) {
    const int sm = nodes[g].gpu.sm;
    least = least == 0 ? sm : std::min(least, sm);
  }
  return least;
}

Topology with_ranks(const Topology& topology, const std::vector<int>& ranks) {
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const TopologyBuilder rest(topology, [&](const TopologyNode& node) {
    return node.kind != NodeKind::kGpu ||
           std::binary_search(sorted.begin(), sorted.end(), node.gpu.rank);
  });
  Topology made = rest.finish([](const TopologyNode&, const TopologyNode&) {});
  made.hosts = topology.hosts;
  made.notes = topology.notes;
  for (const int g : made.all(NodeKind::kGpu)) {
    int& rank = made.nodes[g].gpu.rank;
    rank = static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), rank) - sorted.begin());
  }
  return made;
}

}  // namespace tutti::core::nccl
