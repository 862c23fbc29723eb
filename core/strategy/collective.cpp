#include "core/strategy/collective.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/algorithm/chain.h"
#include "core/algorithm/direct.h"
#include "core/algorithm/double_tree.h"
#include "core/algorithm/halving.h"
#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/ring_blocks.h"
#include "core/algorithm/shuffle.h"
#include "core/algorithm/signals.h"
#include "core/algorithm/star.h"
#include "core/algorithm/star_tree.h"
#include "core/algorithm/tf_ring.h"
#include "core/algorithm/tree_broadcast.h"
#include "core/algorithm/xring.h"
#include "core/base/check.h"
#include "core/packing/device_groups.h"
#include "core/schedule/stages.h"
#include "core/strategy/collective_parts.h"
#include "core/strategy/nccl_rings.h"

namespace tutti::core {
namespace {

// What goes up and down a double tree at a time: so many messages that all hops have one to carry, but none that are short
// beside the bytes of a link's latency.
constexpr Bytes kLeastTreeMessage{16 << 10};
constexpr Bytes kMostTreeMessage{512 << 10};

class CollectiveMaker {
 public:
  CollectiveMaker(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements, int index,
                  const std::optional<Partition>& partition = std::nullopt)
      : cluster_(cluster),
        strategy_(strategy),
        type_(type),
        elements_(elements),
        index_(index),
        partition_(partition),
        replicas_(static_cast<std::int32_t>(partition ? partition->group_size() : cluster.replicas())),
        per_worker_(static_cast<std::int32_t>(partition ? partition->per_worker(cluster.replicas_per_worker())
                                                        : cluster.replicas_per_worker())) {
    TUTTI_CHECK(cluster.replicas() + cluster.workers() < std::numeric_limits<std::int32_t>::max(), "{} replicas",
                cluster.replicas());
    // TensorFlow's rings pad what does not cut evenly.
    if (strategy.algorithm == Algorithm::kXring) elements_ = padded_for_xring(elements, replicas(), strategy.shards);
    if (strategy.algorithm == Algorithm::kNcclXring) elements_ = padded_for_xring(elements, workers(), 1);
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
    Collective made{
        partition_ ? Group::of_partition(cluster_, *partition_, 0) : Group::of_cluster(cluster_, uses_helpers()),
        nullptr,
        type_,
        elements_,
        strategy_.staging,
        replicas(),
        strategy_.collective,
        strategy_.root,
        strategy_.out_of_place};
    if (strategy_.algorithm == Algorithm::kHierarchicalCopy && strategy_.hierarchical_copy.drops_odd && replicas() > 2)
      made.left_out = replicas() % 2;
    const Contract contract = made.contract();
    std::vector<CollectiveStage> stages;
    if (begins_inside_workers()) {
      stages = inside_then_across();
    } else {
      made.schedule = made.kind == CollectiveKind::kAllReduce ? all_reduce() : other(contract);
    }
    if (strategy_.reduction == Reduction::kMean && replicas() > 1 && !divides_at_root()) {
      if (stages.empty()) stages.push_back({{StageScope::kEveryone, made.schedule}});
      stages.push_back(
          {{StageScope::kEveryone, scale_results(ranks(uses_helpers()), contract, 1.0 / replicas(), device_engine())}});
    }
    if (!stages.empty()) compose(made, {workers(), per_worker(), uses_helpers()}, std::move(stages));
    return made;
  }

 private:
  [[nodiscard]] std::int32_t workers() const { return replicas_ / per_worker_; }
  [[nodiscard]] std::int32_t per_worker() const { return per_worker_; }
  [[nodiscard]] std::int32_t replicas() const { return replicas_; }
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
    const bool to_host = a == Algorithm::kReductionToOneDevice && !strategy_.reduce_to;
    return on_gpus() &&
           (a == Algorithm::kPscpu || a == Algorithm::kNcclPscpu || a == Algorithm::kPscpuPscpu || to_host);
  }

  [[nodiscard]] bool begins_inside_workers() const {
    return strategy_.algorithm != Algorithm::kNccl && starts_with_nccl(strategy_.algorithm);
  }

  /// Who adds divides, before results go out.
  [[nodiscard]] bool divides_at_root() const {
    return strategy_.algorithm == Algorithm::kReductionToOneDevice ||
           strategy_.algorithm == Algorithm::kHierarchicalCopy;
  }

  /// Out of place, by how much inputs lie behind their places.
  [[nodiscard]] std::int64_t shift() const { return strategy_.out_of_place ? elements_ : 0; }

  std::shared_ptr<const Schedule> all_reduce() {
    const Contract contract =
        Contract::of(CollectiveKind::kAllReduce, replicas(), elements_, 0, strategy_.out_of_place);
    switch (strategy_.algorithm) {
      case Algorithm::kRing: return ring_all_reduce(replicas(), elements_, rotated_rings(shift()));
      case Algorithm::kXring: return xring_all_reduce(replicas(), elements_, rotated_rings(shift()));
      case Algorithm::kHalvingDoubling: return halving_doubling_all_reduce(contract, device_engine());
      case Algorithm::kRecursiveDoubling: return recursive_doubling_all_reduce(contract, device_engine());
      case Algorithm::kDoubleTree: return double_tree(contract, device_engine());
      case Algorithm::kPscpu: return pscpu();
      case Algorithm::kPsgpu: return psgpu();
      case Algorithm::kNccl: return nccl_all_reduce(replicas(), workers() > 1);
      case Algorithm::kNcclRing:
      case Algorithm::kNcclXring:
      case Algorithm::kNcclHalvingDoubling:
      case Algorithm::kNcclDoubleTree:
      case Algorithm::kNcclPscpu: break;  // several stages
      case Algorithm::kPscpuPscpu: return pscpu_pscpu();
      case Algorithm::kTfRing: return tf_ring_reduce(contract, tf_rings());
      case Algorithm::kReductionToOneDevice: return reduction_to_one_device();
      case Algorithm::kHierarchicalCopy: return hierarchical_copy();
      case Algorithm::kOnServers: break;  // plan_on_servers() makes them
    }
    TUTTI_CHECK(false, "{} has no all-reduce of its own", to_string(strategy_.algorithm));
    return nullptr;
  }

  /// Added up at the root of `up`, divided there if it is a mean, and back by `down`.
  std::shared_ptr<const Schedule> there_and_back(const StarTree& up, const StarTree& down) {
    const Engine engine = up.root < replicas() ? device_engine() : Engine::kCpu;
    std::vector<Stage> stages;
    if (shift() != 0)
      stages.push_back(
          {StageScope::kEveryone, copy_inputs(ranks(uses_helpers()), replicas(), elements_, shift(), device_engine())});
    stages.push_back({StageScope::kEveryone, tree_reduce(up, elements_, device_engine(), Engine::kCpu)});
    if (strategy_.reduction == Reduction::kMean && replicas() > 1)
      stages.push_back(
          {StageScope::kEveryone, work_of_rank(up.ranks, up.root, elements_, 1.0 / replicas(), 0, engine)});
    stages.push_back({StageScope::kEveryone, tree_broadcast(down, elements_, device_engine(), Engine::kCpu)});
    return in_stages({workers(), per_worker(), uses_helpers()}, elements_, std::move(stages));
  }

  /// SOURCE: tensorflow/python/distribute/cross_device_ops.py, ReductionToOneDevice, simple_broadcast.
  std::shared_ptr<const Schedule> reduction_to_one_device() {
    const Rank host = uses_helpers() ? replicas() : 0;
    const StarTree tree{ranks(uses_helpers()), replicas(), replicas(), 1, strategy_.reduce_to.value_or(host)};
    return there_and_back(tree, tree);
  }

  /// Two groups, each with a device that adds for it; one of the two adds both. Pack by pack these two take turns.
  std::shared_ptr<const Schedule> hierarchical_copy() {
    const CopyRoots roots = copy_roots(strategy_.hierarchical_copy.topology, replicas(), index_);
    // Whichever of the two adds up everything, each is its own group's.
    const auto [low, high] = std::minmax(roots.first, roots.second);
    const StarTree::Relays relays{low, high - low};
    const StarTree down{replicas(), replicas(), roots.group, 2, roots.first, relays};
    StarTree up = down;
    if (strategy_.hierarchical_copy.drops_odd && replicas() > 2) up.replicas -= replicas() % 2;
    return there_and_back(up, down);
  }

  /// Everything but the all-reduce, of the algorithms that have it (see carries_out()).
  std::shared_ptr<const Schedule> other(const Contract& contract) {
    const bool blocks = contract.kind == CollectiveKind::kReduceScatter || contract.kind == CollectiveKind::kAllGather;
    const bool along = contract.kind == CollectiveKind::kBroadcast || contract.kind == CollectiveKind::kReduce;
    switch (strategy_.algorithm) {
      case Algorithm::kHalvingDoubling: return halving(contract, Segments::kHalves, device_engine());
      case Algorithm::kRecursiveDoubling:
        return halving(contract, along ? Segments::kWhole : Segments::kHalves, device_engine());
      case Algorithm::kRing: {
        RingOptions options = rotated_rings(0);
        if (blocks) return ring_blocks(contract, options);
        options.most_elements_per_message = elements_in(kNcclBroadcastChunk);
        if (along) return chain(contract, options);
        return direct(contract, device_engine());
      }
      case Algorithm::kNccl: {
        RingOptions options = nccl_options(workers() > 1);
        if (blocks) return ring_blocks(contract, options);
        options.most_elements_per_message = elements_in(kNcclBroadcastChunk);
        options.credits = kNcclBroadcastCredits;
        if (along) return chain(contract, options);
        return direct(contract, Engine::kKernel);
      }
      case Algorithm::kTfRing:
        if (along) return hierarchical_tree_broadcast(contract, tf_rings().order, device_engine());
        return tf_ring_gather(contract, tf_rings());
      default: return direct(contract, device_engine());
    }
  }

  /// The rings of TensorFlow's runtime, and its chunks.
  [[nodiscard]] TfRingOptions tf_rings() const {
    const Bytes bytes = elements_ * size_of(type_);
    TfRingOptions options{task_order(cluster_, strategy_.tf_runtime),
                          subdivisions(cluster_, strategy_.tf_runtime, strategy_.shards, bytes)};
    options.chunk =
        std::max<std::int64_t>(1, aligned_chunk(elements_, replicas() * std::ssize(options.subdivisions),
                                                size_of(type_).count(), strategy_.tf_runtime.align.count()));
    options.engine = device_engine();
    return options;
  }

  /// `shards` rings; in ring s the replicas of each worker are rotated by s · max(1, per_worker / shards).
  /// SOURCE: tensorflow/python/distribute/all_reduce.py, _ring_permutations.
  [[nodiscard]] RingOptions rotated_rings(std::int64_t input_shift) const {
    RingOptions options;
    options.engine = device_engine();
    options.input_shift = input_shift;
    options.lanes.clear();
    const std::int32_t turn = std::max(1, per_worker() / strategy_.shards);
    for (int s = 0; s < strategy_.shards; ++s) options.lanes.push_back(rotated_path(per_worker(), s * turn));
    return options;
  }

  /// Pack `index` is summed on the CPUs of its group of workers. SOURCE: cross_device_utils.py, group_device_names.
  std::shared_ptr<const Schedule> pscpu() {
    const std::vector<std::vector<int>> groups = group_devices(workers(), strategy_.shards);
    std::vector<Rank> gather;
    for (const int worker : groups[static_cast<std::size_t>(index_) % groups.size()]) {
      gather.push_back(uses_helpers() ? replicas() + worker : worker * per_worker());
    }
    return shuffle_all_reduce(ranks(uses_helpers()), replicas(), std::move(gather), elements_, device_engine(),
                              Engine::kCpu, shift());
  }

  /// The same on GPUs; helper i is GPU i / workers of worker i mod workers.
  std::shared_ptr<const Schedule> psgpu() {
    const std::vector<std::vector<int>> groups = group_devices(replicas(), strategy_.shards);
    std::vector<Rank> gather;
    for (const int helper : groups[static_cast<std::size_t>(index_) % groups.size()]) {
      gather.push_back(helper % workers() * per_worker() + helper / workers());
    }
    return shuffle_all_reduce(replicas(), replicas(), std::move(gather), elements_, Engine::kCopyEngine,
                              Engine::kCopyEngine, shift());
  }

  std::shared_ptr<const Schedule> pscpu_pscpu() {
    const std::int32_t g = per_worker();
    std::vector<Rank> gather(static_cast<std::size_t>(strategy_.shards));
    std::iota(gather.begin(), gather.end(), 0);
    std::vector<Stage> stages{{StageScope::kWorkersWithHost,
                               star_reduce(g + 1, g, g, elements_, Engine::kCopyEngine, Engine::kCpu, shift())}};
    if (workers() > 1) {
      stages.push_back({StageScope::kHosts, shuffle_all_reduce(workers(), workers(), std::move(gather), elements_,
                                                               Engine::kCpu, Engine::kCpu)});
    }
    stages.push_back({StageScope::kWorkersWithHost, star_broadcast(g + 1, g, g, elements_, Engine::kCopyEngine)});
    return in_stages({workers(), g, true}, elements_, std::move(stages));
  }

  /// NCCL inside every worker, the algorithm's second half between the first GPUs, NCCL's broadcast back.
  std::vector<CollectiveStage> inside_then_across() {
    std::vector<CollectiveStage> stages{{{StageScope::kInsideWorkers, nccl_all_reduce(per_worker(), false)},
                                         {{CollectiveKind::kAllReduce, elements_}}}};
    if (workers() == 1) return stages;
    if (strategy_.waits_for_workers && per_worker() > 1)
      stages.push_back({{StageScope::kInsideWorkers, signals_to_first(per_worker(), Engine::kCopyEngine)}});
    stages.push_back({across()});
    stages.push_back({{StageScope::kInsideWorkers,
                       chain_broadcast(per_worker(), elements_, elements_in(kNcclBroadcastChunk), Engine::kKernel)},
                      {{CollectiveKind::kBroadcast, elements_}}});
    return stages;
  }

  Stage across() {
    if (strategy_.algorithm == Algorithm::kNcclRing)
      return {StageScope::kLeaders, ring_all_reduce(workers(), elements_, {.engine = Engine::kCopyEngine})};
    if (strategy_.algorithm == Algorithm::kNcclXring)
      return {StageScope::kLeaders, xring_all_reduce(workers(), elements_, {.engine = Engine::kCopyEngine})};
    if (strategy_.algorithm == Algorithm::kNcclHalvingDoubling)
      return {StageScope::kLeaders, halving_doubling_all_reduce(workers(), elements_, Engine::kCopyEngine)};
    if (strategy_.algorithm == Algorithm::kNcclDoubleTree)
      return {StageScope::kLeaders, double_tree(Contract::all_reduce(workers(), elements_), Engine::kCopyEngine)};
    TUTTI_CHECK(strategy_.algorithm == Algorithm::kNcclPscpu, "{} has no NCCL inside workers",
                to_string(strategy_.algorithm));
    std::vector<Rank> gather(static_cast<std::size_t>(workers()));
    std::iota(gather.begin(), gather.end(), workers());
    return {StageScope::kLeadersWithHosts, shuffle_all_reduce(2 * workers(), workers(), std::move(gather), elements_,
                                                              Engine::kCopyEngine, Engine::kCpu)};
  }

  [[nodiscard]] std::shared_ptr<const Schedule> double_tree(const Contract& contract, Engine engine) const {
    const std::int64_t hops = 2 * std::int64_t{std::bit_width(static_cast<std::uint32_t>(contract.members() - 1))};
    const std::int64_t evenly = (elements_ + 1) / 2 / std::max<std::int64_t>(1, hops) + 1;
    return double_tree_all_reduce(
        contract, std::clamp(evenly, elements_in(kLeastTreeMessage), elements_in(kMostTreeMessage)), engine);
  }

  // --- NCCL as rings over channels ---

  std::shared_ptr<const Schedule> nccl_all_reduce(std::int32_t n, bool across_workers) {
    RingOptions options = nccl_options(across_workers);
    options.input_shift = shift();
    return ring_all_reduce(n, elements_, options);
  }

  [[nodiscard]] RingOptions nccl_options(bool across_workers) const {
    return nccl_rings(nccl_channels(cluster_, strategy_, per_worker(), across_workers), strategy_, type_, elements_);
  }

  const Cluster& cluster_;
  const Strategy& strategy_;
  DataType type_;
  std::int64_t elements_;
  int index_;
  std::optional<Partition> partition_;
  std::int32_t replicas_;
  std::int32_t per_worker_;
};

bool same_orders(const std::vector<RingOrder>& a, const std::vector<RingOrder>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const RingOrder& x, const RingOrder& y) {
    return x.gpus == y.gpus && x.channels == y.channels;
  });
}

}  // namespace

bool knows_rings(const Cluster& cluster) {
  const Machine& first = cluster.machine(0);
  return std::all_of(cluster.groups().begin(), cluster.groups().end(), [&](const WorkerGroup& group) {
    const Machine& machine = *group.machine;
    return machine.gpus().size() == static_cast<std::size_t>(cluster.replicas_per_worker()) &&
           same_orders(machine.rings_inside(), first.rings_inside()) &&
           same_orders(machine.rings_across(), first.rings_across());
  });
}

std::int64_t cut_evenly(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements,
                        const Partition* partition) {
  std::int64_t parts = partition ? partition->group_size() : cluster.replicas();
  if (strategy.algorithm == Algorithm::kRing || strategy.algorithm == Algorithm::kNccl) {
    Strategy sum = strategy;  // a mean has lanes that divide, too
    sum.collective = CollectiveKind::kAllReduce;
    sum.reduction = Reduction::kSum;
    const Collective whole = partition ? make_collective(cluster, sum, type, elements, 0, *partition)
                                       : make_collective(cluster, sum, type, elements, 0);
    parts *= whole.schedule->lanes(0);
  }
  return (elements + parts - 1) / parts * parts;
}

Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements,
                           int index) {
  TUTTI_CHECK(strategy.collective == CollectiveKind::kAllReduce, "{} is no all-reduce", to_string(strategy.collective));
  return make_collective(cluster, strategy, type, elements, index);
}

Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements,
                           int index) {
  return CollectiveMaker(cluster, strategy, type, elements, index).make();
}

Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type, std::int64_t elements,
                           int index, const Partition& partition) {
  TUTTI_CHECK(is_flat(strategy.algorithm), "{} among a group", to_string(strategy.algorithm));
  return CollectiveMaker(cluster, strategy, type, elements, index, partition).make();
}

bool is_flat(Algorithm algorithm) {
  return algorithm == Algorithm::kRing || algorithm == Algorithm::kHalvingDoubling ||
         algorithm == Algorithm::kRecursiveDoubling || algorithm == Algorithm::kNccl;
}

std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy, DataType type,
                                              std::int64_t elements, int index) {
  return CollectiveMaker(cluster, strategy, type, elements, index).make_across();
}

}  // namespace tutti::core
