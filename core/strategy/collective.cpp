#include "core/strategy/collective.h"

#include <algorithm>
#include <numeric>

#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/algorithm/star.h"
#include "core/base/check.h"
#include "core/packing/device_groups.h"
#include "core/schedule/stages.h"

namespace tutti::core {
namespace {

// Figures of NCCL 2.28.9 for the Simple protocol. SOURCE: NVIDIA/nccl src/include/device.h, src/enqueue.cc.
// A connection's buffer of 4 MiB has 8 slots; a ring slice is 2 slots, a broadcast chunk 1.
constexpr Bytes kNcclRingSlice{1 << 20};
constexpr int kNcclRingCredits = 4;
constexpr Bytes kNcclBroadcastChunk{512 << 10};
/// A channel is only used for at least this much traffic; an all-reduce counts its bytes twice.
constexpr Bytes kNcclLeastTrafficPerChannel{16 << 10};

class AllReduceMaker {
 public:
  AllReduceMaker(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements, int index)
      : cluster_(cluster), strategy_(strategy), type_(type), elements_(elements), index_(index) {
    TUTTI_CHECK(cluster.replicas() + cluster.workers() < std::numeric_limits<std::int32_t>::max(), "{} replicas",
                cluster.replicas());
  }

  std::optional<Collective> make_across() {
    if (workers() == 1) return std::nullopt;
    const bool hosts = uses_helpers();
    return Collective{Group::of_cluster(cluster_, hosts),
                      in_stages({workers(), per_worker(), hosts}, elements_, {across()}),
                      type_,
                      elements_,
                      strategy_.staging,
                      replicas()};
  }

  Collective make() {
    std::shared_ptr<const Schedule> schedule = algorithm();
    const bool hosts = uses_helpers();
    if (strategy_.reduction == Reduction::kMean && replicas() > 1) {
      const std::shared_ptr<const Schedule> scale =
          scale_everywhere(ranks(hosts), replicas(), elements_, 1.0 / replicas(), device_engine());
      schedule = in_stages({workers(), per_worker(), hosts}, elements_,
                           {{StageScope::kEveryone, std::move(schedule)}, {StageScope::kEveryone, scale}});
    }
    return {Group::of_cluster(cluster_, hosts), std::move(schedule), type_, elements_, strategy_.staging, replicas()};
  }

 private:
  [[nodiscard]] std::int32_t workers() const { return static_cast<std::int32_t>(cluster_.workers()); }
  [[nodiscard]] std::int32_t per_worker() const { return cluster_.replicas_per_worker(); }
  [[nodiscard]] std::int32_t replicas() const { return static_cast<std::int32_t>(cluster_.replicas()); }
  [[nodiscard]] std::int32_t ranks(bool hosts) const { return replicas() + (hosts ? workers() : 0); }
  [[nodiscard]] std::int64_t elements_in(Bytes bytes) const {
    return std::max<std::int64_t>(1, bytes / size_of(type_));
  }
  [[nodiscard]] bool on_gpus() const { return cluster_.part(cluster_.replica(0)).kind == PartKind::kGpu; }
  /// What moves and reduces on the replicas outside of NCCL.
  [[nodiscard]] Engine device_engine() const { return on_gpus() ? Engine::kCopyEngine : Engine::kCpu; }

  /// The group has the workers' hosts as ranks of their own, unless the hosts are replicas themselves.
  [[nodiscard]] bool uses_helpers() const {
    const Algorithm a = strategy_.algorithm;
    return on_gpus() && (a == Algorithm::kPscpu || a == Algorithm::kNcclPscpu || a == Algorithm::kPscpuPscpu);
  }

  std::shared_ptr<const Schedule> algorithm() {
    switch (strategy_.algorithm) {
      case Algorithm::kRing: return rotated_rings();
      case Algorithm::kHalvingDoubling: return halving_doubling_all_reduce(replicas(), elements_, device_engine());
      case Algorithm::kRecursiveDoubling: return recursive_doubling_all_reduce(replicas(), elements_, device_engine());
      case Algorithm::kPscpu: return pscpu();
      case Algorithm::kPsgpu: return psgpu();
      case Algorithm::kNccl: return nccl_ring(replicas(), channels(cluster_.workers() > 1));
      case Algorithm::kNcclRing:
      case Algorithm::kNcclHalvingDoubling:
      case Algorithm::kNcclPscpu: return inside_then_across();
      case Algorithm::kPscpuPscpu: return pscpu_pscpu();
    }
    return nullptr;
  }

  /// `shards` rings; in ring s the replicas of each worker are rotated by s · max(1, per_worker / shards).
  /// SOURCE: tensorflow/python/distribute/all_reduce.py, _ring_permutations.
  std::shared_ptr<const Schedule> rotated_rings() {
    RingOptions options;
    options.engine = device_engine();
    options.lanes.clear();
    const std::int32_t turn = std::max(1, per_worker() / strategy_.shards);
    for (int s = 0; s < strategy_.shards; ++s) options.lanes.push_back(rotated(s * turn));
    return ring_all_reduce(replicas(), elements_, options);
  }

  [[nodiscard]] RingPath rotated(std::int32_t by) const {
    RingPath path{per_worker(), {}};
    for (std::int32_t i = 0; i < per_worker(); ++i) path.local.push_back((i + by) % per_worker());
    return path;
  }

  /// Pack `index` is summed on the CPUs of its group of workers. SOURCE: cross_device_utils.py, group_device_names.
  std::shared_ptr<const Schedule> pscpu() {
    const std::vector<std::vector<int>> groups = group_devices(workers(), strategy_.shards);
    std::vector<Rank> gather;
    for (const int worker : groups[static_cast<std::size_t>(index_) % groups.size()]) {
      gather.push_back(uses_helpers() ? replicas() + worker : worker * per_worker());
    }
    return shuffle_all_reduce(ranks(uses_helpers()), replicas(), std::move(gather), elements_, device_engine(),
                              Engine::kCpu);
  }

  /// The same on GPUs; helper i is GPU i / workers of worker i mod workers.
  std::shared_ptr<const Schedule> psgpu() {
    const std::vector<std::vector<int>> groups = group_devices(replicas(), strategy_.shards);
    std::vector<Rank> gather;
    for (const int helper : groups[static_cast<std::size_t>(index_) % groups.size()]) {
      gather.push_back(helper % workers() * per_worker() + helper / workers());
    }
    return shuffle_all_reduce(replicas(), replicas(), std::move(gather), elements_, Engine::kCopyEngine,
                              Engine::kCopyEngine);
  }

  std::shared_ptr<const Schedule> pscpu_pscpu() {
    const std::int32_t g = per_worker();
    std::vector<Rank> gather(static_cast<std::size_t>(strategy_.shards));
    std::iota(gather.begin(), gather.end(), 0);
    std::vector<Stage> stages{
        {StageScope::kWorkersWithHost, star_reduce(g + 1, g, g, elements_, Engine::kCopyEngine, Engine::kCpu)}};
    if (workers() > 1) {
      stages.push_back({StageScope::kHosts, shuffle_all_reduce(workers(), workers(), std::move(gather), elements_,
                                                               Engine::kCpu, Engine::kCpu)});
    }
    stages.push_back({StageScope::kWorkersWithHost, star_broadcast(g + 1, g, g, elements_, Engine::kCopyEngine)});
    return in_stages({workers(), g, true}, elements_, std::move(stages));
  }

  /// NCCL inside every worker, the algorithm's second half between the first GPUs, NCCL's broadcast back.
  std::shared_ptr<const Schedule> inside_then_across() {
    std::vector<Stage> stages{{StageScope::kInsideWorkers, nccl_ring(per_worker(), channels(false))}};
    if (workers() > 1) {
      stages.push_back(across());
      stages.push_back({StageScope::kInsideWorkers,
                        chain_broadcast(per_worker(), elements_, elements_in(kNcclBroadcastChunk), Engine::kKernel)});
    }
    return in_stages({workers(), per_worker(), uses_helpers()}, elements_, std::move(stages));
  }

  Stage across() {
    if (strategy_.algorithm == Algorithm::kNcclRing)
      return {StageScope::kLeaders, ring_all_reduce(workers(), elements_, {.engine = Engine::kCopyEngine})};
    if (strategy_.algorithm == Algorithm::kNcclHalvingDoubling)
      return {StageScope::kLeaders, halving_doubling_all_reduce(workers(), elements_, Engine::kCopyEngine)};
    TUTTI_CHECK(strategy_.algorithm == Algorithm::kNcclPscpu, "{} has no NCCL inside workers",
                to_string(strategy_.algorithm));
    std::vector<Rank> gather(static_cast<std::size_t>(workers()));
    std::iota(gather.begin(), gather.end(), workers());
    return {StageScope::kLeadersWithHosts, shuffle_all_reduce(2 * workers(), workers(), std::move(gather), elements_,
                                                              Engine::kCopyEngine, Engine::kCpu)};
  }

  // --- NCCL as rings over channels ---

  std::shared_ptr<const Schedule> nccl_ring(std::int32_t n, std::vector<RingPath> paths) {
    const std::int64_t traffic = 2 * elements_ * size_of(type_).count();
    const std::int64_t worthwhile = std::max<std::int64_t>(1, traffic / kNcclLeastTrafficPerChannel.count());
    if (worthwhile < static_cast<std::int64_t>(paths.size())) paths.resize(static_cast<std::size_t>(worthwhile));
    RingOptions options;
    options.lanes = std::move(paths);
    options.most_elements_per_message = elements_in(kNcclRingSlice);
    options.credits = kNcclRingCredits;
    options.engine = Engine::kKernel;
    return ring_all_reduce(n, elements_, options);
  }

  /// One ring per channel: those of the machine if all its GPUs take part, else in index order, channel c starting at
  /// GPU c, so that channels leave and enter workers at different GPUs and so at different network cards.
  [[nodiscard]] std::vector<RingPath> channels(bool across_workers) const {
    const Machine& machine = cluster_.machine(0);
    std::vector<RingPath> paths;
    const bool all_alike =
        cluster_.groups().size() == 1 && static_cast<std::size_t>(per_worker()) == machine.gpus().size();
    if (all_alike) {
      for (const RingOrder& ring : across_workers ? machine.rings_across() : machine.rings_inside()) {
        for (int i = 0; i < ring.channels; ++i) paths.push_back({per_worker(), {ring.gpus.begin(), ring.gpus.end()}});
      }
    }
    const std::size_t known = paths.size();
    const std::size_t wanted =
        strategy_.channels ? static_cast<std::size_t>(*strategy_.channels) : std::max<std::size_t>(known, 2);
    for (std::size_t c = known; c < wanted; ++c) {
      paths.push_back(known > 0 ? paths[c % known] : rotated(static_cast<std::int32_t>(c) % per_worker()));
    }
    paths.resize(std::max<std::size_t>(1, wanted));
    return paths;
  }

  const Cluster& cluster_;
  const Strategy& strategy_;
  DataType type_;
  std::int64_t elements_;
  int index_;
};

}  // namespace

Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements,
                           int index) {
  return AllReduceMaker(cluster, strategy, type, elements, index).make();
}

std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy, DataType type,
                                              std::int64_t elements, int index) {
  return AllReduceMaker(cluster, strategy, type, elements, index).make_across();
}

}  // namespace tutti::core
