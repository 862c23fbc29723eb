#include "core/strategy/nccl_ways.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/strategy/nccl_rings.h"

namespace tutti::core {
namespace {

/// Returns one ring per GPU, which begins at this GPU. All rings have the same order: each GPU is
/// followed by the nearest GPU that comes later. In a tree of PCIe switches and CPUs, this order
/// crosses every link at most once in each direction. Returns an empty list if the order is that of
/// the GPUs' indices.
std::vector<std::vector<std::int32_t>> near_rings(const Machine& machine, int gpus) {
  const auto hops = [&](int from, int to) {
    const auto route = machine.route(machine.gpus()[from], machine.gpus()[to]);
    return route ? route->size() : std::numeric_limits<std::size_t>::max();
  };
  std::vector<std::int32_t> order(std::min<std::size_t>(gpus, machine.gpus().size()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t at = 1; at < order.size(); ++at) {
    const auto next = std::min_element(order.begin() + at, order.end(), [&](int a, int b) {
      return std::pair(hops(order[at - 1], a), a) < std::pair(hops(order[at - 1], b), b);
    });
    std::rotate(order.begin() + at, next, next + 1);
  }
  std::vector<std::vector<std::int32_t>> rings;
  if (std::is_sorted(order.begin(), order.end())) return rings;
  for (std::size_t first = 0; first < order.size(); ++first) {
    rings.push_back(order);
    std::rotate(rings.back().begin(), rings.back().begin() + first, rings.back().end());
  }
  return rings;
}

}  // namespace

bool goes_by_channels(nccl::Algorithm algorithm) {
  return algorithm == nccl::Algorithm::kRing || algorithm == nccl::Algorithm::kTree ||
         algorithm == nccl::Algorithm::kPat;
}

void set_ways(Strategy& strategy, const nccl::Communicator& communicator,
              const std::optional<nccl::Choice>& choice, const Cluster& cluster, int gpus,
              bool across_workers) {
  auto known = static_cast<int>(known_nccl_channels(cluster, gpus, across_workers).size());
  strategy.nccl_rings.clear();
  if (known == 0) {
    for (const nccl::GraphChannel& channel : communicator.graphs.ring.orders) {
      if (std::ssize(channel.gpus) == gpus) strategy.nccl_rings.push_back(channel.gpus);
    }
    known = static_cast<int>(strategy.nccl_rings.size());
  }
  const bool by_channels = choice && goes_by_channels(choice->algorithm);
  strategy.channels.reset();
  if (by_channels && (known == 0 || communicator.channels < known))
    strategy.channels = communicator.channels;
  else if (known == 0)
    strategy.channels = std::max(2, gpus);
  if (known == 0) strategy.nccl_rings = near_rings(cluster.machine(0), gpus);
}

}  // namespace tutti::core
