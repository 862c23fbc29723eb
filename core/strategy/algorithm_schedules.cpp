// Chooses the parameters of an algorithm's schedule: the order of ranks, the number of rings, the
// size of messages, the engine, and the helper devices for a pack. core/algorithm makes the
// schedules from these parameters. algorithm_table.cpp has the name of each function's algorithm.
// Some parameters follow TensorFlow: each shard has a differently rotated ring, and the index of a
// pack selects the pack's helpers. Other parameters follow NCCL: channels come from the machine
// file, and a broadcast has chunks and slots.
//
// Most algorithms are all-reduces. Collectives other than the all-reduce use related schedules. In
// place of a ring, other collectives use a ring of blocks, a chain or direct messages. In place of
// halving-doubling, other collectives use only the halving. A combination such as nccl/ring has
// three stages: a reduction inside workers, a schedule across workers, and a broadcast inside
// workers.

#include "core/strategy/algorithm_schedules.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

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
#include "core/custom/custom_algorithm.h"
#include "core/packing/device_groups.h"
#include "core/strategy/nccl_rings.h"

namespace tutti::core::schedules {
namespace {

// The minimum size of a message in a double tree. Messages of this size are small enough to be
// pipelined over all hops, but large enough that latency does not dominate.
constexpr Bytes kMinTreeMessage{16 << 10};
constexpr Bytes kMaxTreeMessage{512 << 10};

bool has_equal_blocks(const ScheduleRequest& r) {
  return r.is(CollectiveKind::kReduceScatter) || r.is(CollectiveKind::kAllGather);
}
bool uses_chain(const ScheduleRequest& r) {
  return r.is(CollectiveKind::kBroadcast) || r.is(CollectiveKind::kReduce);
}

std::vector<Rank> counted_from(std::int32_t first, std::int32_t count) {
  std::vector<Rank> ranks(count);
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

/// Returns `shards` rings. Ring number s rotates the order of each worker's replicas by s · max(1,
/// per_worker / shards). SOURCE: tensorflow/python/distribute/all_reduce.py, _ring_permutations.
RingOptions rotated_rings(const ScheduleRequest& r, std::int64_t input_shift) {
  RingOptions options;
  options.engine = r.engine();
  options.input_shift = input_shift;
  options.lanes.clear();
  const std::int32_t turn = std::max(1, r.per_worker / r.strategy.shards);
  for (int s = 0; s < r.strategy.shards; ++s)
    options.lanes.push_back(rotated_path(r.per_worker, s * turn));
  return options;
}

/// Returns NCCL's rings over the replicas of the request, one per channel.
RingOptions rings_of_nccl(const ScheduleRequest& r, bool across_workers) {
  return nccl_rings(nccl_channels(r.cluster, r.strategy, r.per_worker, across_workers), r.strategy,
                    r.type, r.elements);
}

Made all_reduce_by_nccl(const ScheduleRequest& r, std::int32_t ranks, bool across_workers) {
  RingOptions options = rings_of_nccl(r, across_workers);
  options.input_shift = r.shift();
  return ring_all_reduce(ranks, r.elements, options);
}

Made tree_pair(const ScheduleRequest& r, const Contract& contract, Engine engine) {
  // Each of the two trees carries half of the elements. With as many messages as hops, all hops
  // work at the same time.
  const std::int64_t hops =
      2 * std::int64_t{std::bit_width(static_cast<std::uint32_t>(contract.members() - 1))};
  const std::int64_t evenly = (r.elements + 1) / 2 / std::max<std::int64_t>(1, hops) + 1;
  return double_tree_all_reduce(
      contract, std::clamp(evenly, r.elements_in(kMinTreeMessage), r.elements_in(kMaxTreeMessage)),
      engine);
}

/// Returns the rings of TensorFlow's runtime and the sizes of their chunks.
TfRingOptions rings_of_tf_runtime(const ScheduleRequest& r) {
  const Bytes bytes = r.elements * size_of(r.type);
  TfRingOptions options{task_order(r.cluster, r.strategy.tf_runtime),
                        subdivisions(r.cluster, r.strategy.tf_runtime, r.strategy.shards, bytes)};
  options.chunk = std::max<std::int64_t>(
      1, aligned_chunk(r.elements, r.replicas * std::ssize(options.subdivisions),
                       size_of(r.type).count(), r.strategy.tf_runtime.align.count()));
  options.engine = r.engine();
  return options;
}

/// Sums at the root of `up`. If a mean is requested, divides at this root. Finally, the result is
/// copied along `down`.
Made reduce_then_broadcast(const ScheduleRequest& r, const StarTree& up, const StarTree& down) {
  const Engine engine = up.root < r.replicas ? r.engine() : Engine::kCpu;
  std::vector<Stage> stages;
  if (r.shift() != 0)
    stages.push_back({StageScope::kEveryone,
                      copy_inputs(r.ranks(), r.replicas, r.elements, r.shift(), r.engine())});
  stages.push_back({StageScope::kEveryone, tree_reduce(up, r.elements, r.engine(), Engine::kCpu)});
  if (r.strategy.reduction == Reduction::kMean && r.replicas > 1)
    stages.push_back({StageScope::kEveryone,
                      work_of_rank(up.ranks, up.root, r.elements, 1.0 / r.replicas, 0, engine)});
  stages.push_back(
      {StageScope::kEveryone, tree_broadcast(down, r.elements, r.engine(), Engine::kCpu)});
  return in_stages({r.workers(), r.per_worker, r.hosts}, r.elements, std::move(stages));
}

}  // namespace

// --- over all replicas ---

Made ring(const ScheduleRequest& r) {
  if (r.is(CollectiveKind::kAllReduce))
    return ring_all_reduce(r.replicas, r.elements, rotated_rings(r, r.shift()));
  RingOptions options = rotated_rings(r, 0);
  if (has_equal_blocks(r)) return ring_blocks(r.contract(), options);
  options.max_elements_per_message = r.elements_in(kNcclBroadcastChunk);
  if (uses_chain(r)) return chain(r.contract(), options);
  return direct(r.contract(), r.engine());
}

Made xring(const ScheduleRequest& r) {
  return xring_all_reduce(r.replicas, r.elements, rotated_rings(r, r.shift()));
}

Made halving_doubling(const ScheduleRequest& r) {
  if (r.is(CollectiveKind::kAllReduce))
    return halving_doubling_all_reduce(r.contract(), r.engine());
  return halving(r.contract(), Segments::kHalves, r.engine());
}

Made recursive_doubling(const ScheduleRequest& r) {
  if (r.is(CollectiveKind::kAllReduce))
    return recursive_doubling_all_reduce(r.contract(), r.engine());
  return halving(r.contract(), uses_chain(r) ? Segments::kWhole : Segments::kHalves, r.engine());
}

Made double_tree(const ScheduleRequest& r) { return tree_pair(r, r.contract(), r.engine()); }

/// The pack's index selects a group of workers, whose CPUs sum the pack. SOURCE:
/// cross_device_utils.py, group_device_names.
Made pscpu(const ScheduleRequest& r) {
  if (!r.is(CollectiveKind::kAllReduce)) return direct(r.contract(), r.engine());
  const std::vector<std::vector<int>> groups = group_devices(r.workers(), r.strategy.shards);
  std::vector<Rank> gather;
  for (const int worker : groups[static_cast<std::size_t>(r.index) % groups.size()])
    gather.push_back(r.hosts ? r.replicas + worker : worker * r.per_worker);
  return shuffle_all_reduce(r.ranks(), r.replicas, std::move(gather), r.elements, r.engine(),
                            Engine::kCpu, r.shift());
}

/// A shuffle in which GPUs are the helpers. Helper i is GPU i / workers of worker i mod workers.
Made psgpu(const ScheduleRequest& r) {
  if (!r.is(CollectiveKind::kAllReduce)) return direct(r.contract(), r.engine());
  const std::vector<std::vector<int>> groups = group_devices(r.replicas, r.strategy.shards);
  std::vector<Rank> gather;
  for (const int helper : groups[static_cast<std::size_t>(r.index) % groups.size()])
    gather.push_back(helper % r.workers() * r.per_worker + helper / r.workers());
  return shuffle_all_reduce(r.replicas, r.replicas, std::move(gather), r.elements,
                            Engine::kCopyEngine, Engine::kCopyEngine, r.shift());
}

Made nccl(const ScheduleRequest& r) {
  const bool across_workers = r.workers() > 1;
  if (r.is(CollectiveKind::kAllReduce)) return all_reduce_by_nccl(r, r.replicas, across_workers);
  RingOptions options = rings_of_nccl(r, across_workers);
  if (has_equal_blocks(r)) return ring_blocks(r.contract(), options);
  options.max_elements_per_message = r.elements_in(kNcclBroadcastChunk);
  options.credits = kNcclBroadcastCredits;
  if (uses_chain(r)) return chain(r.contract(), options);
  return direct(r.contract(), Engine::kKernel);
}

Made tf_ring(const ScheduleRequest& r) {
  if (r.is(CollectiveKind::kAllReduce)) return tf_ring_reduce(r.contract(), rings_of_tf_runtime(r));
  if (uses_chain(r))
    return hierarchical_tree_broadcast(r.contract(), rings_of_tf_runtime(r).order, r.engine());
  return tf_ring_gather(r.contract(), rings_of_tf_runtime(r));
}

/// SOURCE: tensorflow/python/distribute/cross_device_ops.py, ReductionToOneDevice,
/// simple_broadcast.
Made reduction_to_one_device(const ScheduleRequest& r) {
  const Rank host = r.hosts ? r.replicas : 0;
  const StarTree tree{r.ranks(), r.replicas, r.replicas, 1, r.strategy.reduce_to.value_or(host)};
  return reduce_then_broadcast(r, tree, tree);
}

/// The devices form two groups, and one device of each group sums the group's data. One of the two
/// summing devices also adds the two sums. The two summing devices alternate in this role from pack
/// to pack.
Made hierarchical_copy(const ScheduleRequest& r) {
  const CopyRoots roots = copy_roots(r.strategy.hierarchical_copy.topology, r.replicas, r.index);
  // Each of the two devices sums the data of its own group, whichever of them adds the two sums.
  const auto [low, high] = std::minmax(roots.first, roots.second);
  const StarTree::Relays relays{low, high - low};
  const StarTree down{r.replicas, r.replicas, roots.group, 2, roots.first, relays};
  StarTree up = down;
  if (r.strategy.hierarchical_copy.drops_odd && r.replicas > 2) up.replicas -= r.replicas % 2;
  return reduce_then_broadcast(r, up, down);
}

Made custom(const ScheduleRequest& r) {
  TUTTI_CHECK(r.strategy.custom && r.strategy.custom->made, "an algorithm without a file");
  const CustomAlgorithm& algorithm = *r.strategy.custom->made;
  TUTTI_CHECK(algorithm.shape().ranks == r.replicas, "{} ranks, but the algorithm has {}",
              r.replicas, algorithm.shape().ranks);
  const bool alone = r.replicas == 1;
  if (r.shift() == 0 || algorithm.reads_inputs() || alone)
    return algorithm.schedule(r.elements, r.shift(), r.engine(), size_of(r.type).count());
  return in_stages({r.workers(), r.per_worker, false}, r.elements,
                   {{StageScope::kEveryone, copy_inputs_of(r.contract(), r.engine())},
                    {StageScope::kEveryone,
                     algorithm.schedule(r.elements, 0, r.engine(), size_of(r.type).count())}});
}

// --- stages inside workers, before and after the stage across workers ---

std::vector<CollectiveStage> around_by_nccl(const ScheduleRequest& r, Across across) {
  std::vector<CollectiveStage> stages{
      {{StageScope::kInsideWorkers, all_reduce_by_nccl(r, r.per_worker, false)},
       {{CollectiveKind::kAllReduce, r.elements}}}};
  if (r.workers() == 1) return stages;
  if (r.strategy.waits_for_workers && r.per_worker > 1)
    stages.push_back(
        {{StageScope::kInsideWorkers, signals_to_first(r.per_worker, Engine::kCopyEngine)}});
  stages.push_back({across(r)});
  stages.push_back({{StageScope::kInsideWorkers,
                     chain_broadcast(r.per_worker, r.elements, r.elements_in(kNcclBroadcastChunk),
                                     Engine::kKernel)},
                    {{CollectiveKind::kBroadcast, r.elements}}});
  return stages;
}

std::vector<CollectiveStage> around_by_pscpu(const ScheduleRequest& r, Across across) {
  const std::int32_t g = r.per_worker;
  std::vector<CollectiveStage> stages{
      {{StageScope::kWorkersWithHost,
        star_reduce(g + 1, g, g, r.elements, Engine::kCopyEngine, Engine::kCpu, r.shift())}}};
  if (r.workers() > 1) stages.push_back({across(r)});
  stages.push_back({{StageScope::kWorkersWithHost,
                     star_broadcast(g + 1, g, g, r.elements, Engine::kCopyEngine)}});
  return stages;
}

// --- across workers ---

Stage ring_of_first_gpus(const ScheduleRequest& r) {
  return {StageScope::kLeaders,
          ring_all_reduce(r.workers(), r.elements, {.engine = Engine::kCopyEngine})};
}

Stage xring_of_first_gpus(const ScheduleRequest& r) {
  return {StageScope::kLeaders,
          xring_all_reduce(r.workers(), r.elements, {.engine = Engine::kCopyEngine})};
}

Stage halving_doubling_of_first_gpus(const ScheduleRequest& r) {
  return {StageScope::kLeaders,
          halving_doubling_all_reduce(r.workers(), r.elements, Engine::kCopyEngine)};
}

Stage recursive_doubling_of_first_gpus(const ScheduleRequest& r) {
  return {StageScope::kLeaders,
          recursive_doubling_all_reduce(r.workers(), r.elements, Engine::kCopyEngine)};
}

Stage double_tree_of_first_gpus(const ScheduleRequest& r) {
  return {StageScope::kLeaders,
          tree_pair(r, Contract::all_reduce(r.workers(), r.elements), Engine::kCopyEngine)};
}

Stage pscpu_of_first_gpus(const ScheduleRequest& r) {
  return {StageScope::kLeadersWithHosts,
          shuffle_all_reduce(2 * r.workers(), r.workers(), counted_from(r.workers(), r.workers()),
                             r.elements, Engine::kCopyEngine, Engine::kCpu)};
}

Stage pscpu_of_hosts(const ScheduleRequest& r) {
  return {StageScope::kHosts,
          shuffle_all_reduce(r.workers(), r.workers(), counted_from(0, r.strategy.shards),
                             r.elements, Engine::kCpu, Engine::kCpu)};
}

}  // namespace tutti::core::schedules
