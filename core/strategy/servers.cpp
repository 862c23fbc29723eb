#include "core/strategy/servers.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {

std::string_view to_string(Placement placement) {
  switch (placement) {
    case Placement::kRoundRobin: return "round robin";
    case Placement::kGreedyBytes: return "greedy by bytes";
    case Placement::kMinElements: return "greedy by elements";
    case Placement::kByHash: return "by the hash of their keys";
  }
  return "";
}

std::vector<int> place(const std::vector<Placed>& variables, int places, Placement placement) {
  TUTTI_CHECK(places > 0 && placement != Placement::kByHash, "{} places, {}", places,
              to_string(placement));
  std::vector<std::int64_t> loads(places);
  std::vector<int> placed;
  for (const Placed& variable : variables) {
    if (variable.pinned) {
      placed.push_back(-1);
      continue;
    }
    // If all variables have the same weight, greedy placement is round-robin placement.
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += placement == Placement::kRoundRobin    ? 1
              : placement == Placement::kGreedyBytes ? variable.bytes.count()
                                                     : variable.elements;
    placed.push_back(static_cast<int>(least - loads.begin()));
  }
  return placed;
}

CopyRoots copy_roots(HierarchicalCopy::Topology topology, int devices, std::int64_t index) {
  TUTTI_CHECK(devices >= 2, "{} devices", devices);
  const int half = devices / 2;
  if (topology == HierarchicalCopy::Topology::kGcpV100) {
    TUTTI_CHECK(devices == 8, "{} devices", devices);
    // SOURCE: tensorflow/benchmarks batch_allreduce.py, HierarchicalCopyBatchAllReduce
    // (constants.NetworkTopology.GCP_V100).
    constexpr int kCopyRoots[4][2] = {{0, 5}, {2, 7}, {5, 0}, {7, 2}};
    const auto& roots = kCopyRoots[index % 4];
    return {roots[0], roots[1], half};
  }
  // SOURCE: tensorflow/python/distribute/cross_device_utils.py,
  // aggregate_gradients_using_hierarchical_copy.
  const int even = 2 * half;
  const auto first = static_cast<int>(index % devices) % even;
  return {first, (first + half) % even, half};
}

std::string describe(const Servers& servers) {
  if (servers.on == Servers::On::kReplicas)
    return fmt::format("on the GPUs, {}", to_string(servers.placement));
  std::string text =
      servers.count == 1
          ? fmt::format("on the CPU of worker {}", servers.first)
          : fmt::format("on the CPUs of workers {} to {}, {}", servers.first,
                        servers.first + servers.count - 1, to_string(servers.placement));
  return text;
}

}  // namespace tutti::core
