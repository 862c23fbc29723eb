// In a hybrid cube mesh, the rings among a subset of the GPUs depend on the subset. For example,
// GPUs 0 and 1 share one link, GPUs 0 and 3 share two links, and GPUs 0 and 5 share no link. Users
// of k GPUs normally use the first k. vTrain's measurements of a V100 host confirm this: 22, 45,
// 85, 37, 46, 87 and 134 GB/s with 2 to 8 GPUs correspond to 1, 2, 4, 2 (through a third GPU), 2, 4
// and 6 links. NCCL's search gives the same numbers of links for the first k GPUs.

#include "core/nccl/search/cube_mesh.h"

#include <numeric>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/nccl/topology/rates.h"
#include "core/nccl/topology/topology_builder.h"

namespace tutti::core::nccl {
namespace {

constexpr int kGpusOfAMesh = 8;
constexpr int kVolta = 70;

struct Links {
  int a, b, count;
};
/// The NVLinks within each half of the mesh, followed by the NVLinks between the halves.
constexpr Links kLinks[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2}, {1, 3, 1}, {2, 3, 2},
                            {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
                            {0, 4, 2}, {1, 5, 2}, {2, 6, 1}, {3, 7, 1}};

}  // namespace

Topology cube_mesh(int gpus) {
  TUTTI_CHECK(gpus >= 2 && gpus <= kGpusOfAMesh, "{} GPUs of a cube mesh of eight", gpus);
  TopologyBuilder made;
  const auto add = [&](NodeKind kind) {
    TopologyNode node;
    node.kind = kind;
    node.local_id = static_cast<std::uint64_t>(made.count(kind)) + 1;
    if (kind == NodeKind::kCpu) node.cpu = {CpuArch::kX86, CpuVendor::kIntel, 6, 79};
    if (kind == NodeKind::kGpu) {
      const int index = made.count(kind);
      node.gpu = {.rank = index, .dev = index, .sm = kVolta, .gdr = true};
    }
    return made.add(std::move(node));
  };
  const float pcie = pcie_gb_per_s("8.0 GT/s PCIe", 16);
  std::vector<int> all;
  for (int socket = 0; socket < 2; ++socket) {
    const int cpu = add(NodeKind::kCpu);
    for (int s = 0; s < 2; ++s) {
      const int pcie_switch = add(NodeKind::kPci);
      made.join_both_ways(pcie_switch, cpu, Wire::kPci, pcie);
      for (int g = 0; g < 2; ++g) {
        all.push_back(add(NodeKind::kGpu));
        made.join_both_ways(all.back(), pcie_switch, Wire::kPci, pcie);
      }
    }
  }
  for (const Links& link : kLinks)
    made.join_both_ways(all[link.a], all[link.b], Wire::kNvl,
                        static_cast<float>(link.count) * nvlink_gb_per_s(kVolta));
  made.join_cpus();
  made.sort_links();
  const Topology whole = made.finish([](const TopologyNode&, const TopologyNode&) {});
  std::vector<int> ranks(gpus);
  std::iota(ranks.begin(), ranks.end(), 0);
  return with_ranks(whole, ranks);
}

}  // namespace tutti::core::nccl
