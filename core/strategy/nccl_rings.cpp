#include "core/strategy/nccl_rings.h"

#include <algorithm>

#include "core/strategy/collective.h"

namespace tutti::core {
namespace {

constexpr Bytes kRingSlice{1 << 20};
constexpr int kRingCredits = 4;
/// The minimum number of bytes for each channel that NCCL uses. For an all-reduce, the size of the
/// buffer counts twice; for all other collectives, it counts once.
constexpr Bytes kMinTrafficPerChannel{16 << 10};

}  // namespace

RingPath rotated_path(std::int32_t per_worker, std::int32_t by) {
  RingPath path{per_worker, {}};
  for (std::int32_t i = 0; i < per_worker; ++i) path.local.push_back((i + by) % per_worker);
  return path;
}

std::vector<RingPath> known_nccl_channels(const Cluster& cluster, std::int32_t per_worker,
                                          bool across_workers) {
  const Machine& machine = cluster.machine(0);
  std::vector<RingPath> paths;
  if (per_worker != cluster.replicas_per_worker() || !knows_rings(cluster)) return paths;
  const std::vector<RingOrder>& rings =
      across_workers ? machine.rings_across() : machine.rings_inside();
  int most = 0;
  for (const RingOrder& ring : rings) most = std::max(most, ring.channels);
  for (int copy = 0; copy < most; ++copy) {
    for (const RingOrder& ring : rings) {
      if (copy < ring.channels) paths.push_back({per_worker, {ring.gpus.begin(), ring.gpus.end()}});
    }
  }
  return paths;
}

std::vector<RingPath> nccl_channels(const Cluster& cluster, const Strategy& strategy,
                                    std::int32_t per_worker, bool across_workers) {
  std::vector<RingPath> paths = known_nccl_channels(cluster, per_worker, across_workers);
  if (paths.empty()) {
    for (const std::vector<std::int32_t>& ring : strategy.nccl_rings) {
      if (std::ssize(ring) == per_worker) paths.push_back({per_worker, ring});
    }
  }
  const std::size_t known = paths.size();
  const std::size_t wanted = strategy.channels ? static_cast<std::size_t>(*strategy.channels)
                                               : std::max<std::size_t>(known, 2);
  for (std::size_t c = known; c < wanted; ++c) {
    paths.push_back(known > 0
                        ? paths[c % known]
                        : rotated_path(per_worker, static_cast<std::int32_t>(c) % per_worker));
  }
  paths.resize(std::max<std::size_t>(1, wanted));
  return paths;
}

RingOptions nccl_rings(std::vector<RingPath> channels, const Strategy& strategy, DataType type,
                       std::int64_t elements) {
  const int times = strategy.collective == CollectiveKind::kAllReduce ? 2 : 1;
  const std::int64_t traffic = times * elements * size_of(type).count();
  const std::int64_t worthwhile =
      std::max<std::int64_t>(1, traffic / kMinTrafficPerChannel.count());
  if (worthwhile < static_cast<std::int64_t>(channels.size())) channels.resize(worthwhile);
  RingOptions options;
  options.lanes = std::move(channels);
  options.max_elements_per_message = std::max<std::int64_t>(1, kRingSlice / size_of(type));
  options.credits = kRingCredits;
  options.engine = Engine::kKernel;
  return options;
}

}  // namespace tutti::core
