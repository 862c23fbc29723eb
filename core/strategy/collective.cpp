#include "core/strategy/collective.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/algorithm/star.h"
#include "core/base/check.h"
#include "core/custom/custom_algorithm.h"
#include "core/schedule/stages.h"
#include "core/strategy/algorithm_table.h"
#include "core/strategy/collective_parts.h"
#include "core/strategy/schedule_request.h"

namespace tutti::core {
namespace {

/// Makes the collective of a strategy. The functions and values come from the traits of its
/// algorithm.
class CollectiveMaker {
 public:
  CollectiveMaker(const Cluster& cluster, const Strategy& strategy, DataType type,
                  std::int64_t elements, int index,
                  const std::optional<Partition>& partition = std::nullopt,
                  std::vector<PartId> devices = {}, std::int64_t per_worker = 1)
      : traits_(traits(strategy.algorithm)),
        partition_(partition),
        devices_(std::move(devices)),
        request_{cluster,
                 strategy,
                 type,
                 elements,
                 index,
                 static_cast<std::int32_t>(!devices_.empty() ? std::ssize(devices_)
                                           : partition       ? partition->group_size()
                                                             : cluster.replicas()),
                 static_cast<std::int32_t>(
                     !devices_.empty() ? per_worker
                     : partition       ? partition->per_worker(cluster.replicas_per_worker())
                                       : cluster.replicas_per_worker())} {
    TUTTI_CHECK(cluster.replicas() + cluster.workers() < std::numeric_limits<std::int32_t>::max(),
                "{} replicas", cluster.replicas());
    // If the replicas are GPUs, the hosts are additional ranks.
    const bool on_gpus = cluster.part(cluster.replica(0)).kind == PartKind::kGpu;
    request_.hosts = on_gpus && sums_on_hosts(strategy);
    if (strategy.custom && strategy.custom->made)
      request_.elements = strategy.custom->made->padded(elements);
    if (traits_.padded) {
      request_.elements = strategy.algorithm.inside
                              ? traits_.padded(elements, request_.workers(), 1)
                              : traits_.padded(elements, request_.replicas, strategy.shards);
    }
  }

  std::optional<Collective> make_across() {
    if (request_.workers() == 1) return std::nullopt;
    return Collective{Group::of_cluster(request_.cluster, request_.hosts),
                      in_stages(layout(), request_.elements, {across()(request_)}),
                      request_.type,
                      request_.elements,
                      request_.strategy.staging,
                      request_.replicas};
  }

  Collective make() {
    const Strategy& strategy = request_.strategy;
    const std::int32_t replicas = request_.replicas;
    Collective made{!devices_.empty() ? Group::of_devices(request_.cluster, devices_)
                    : partition_      ? Group::of_partition(request_.cluster, *partition_, 0)
                                      : Group::of_cluster(request_.cluster, request_.hosts),
                    nullptr,
                    request_.type,
                    request_.elements,
                    strategy.staging,
                    replicas,
                    strategy.collective,
                    strategy.root,
                    strategy.out_of_place};
    if (traits_.drops_odd_device && strategy.hierarchical_copy.drops_odd && replicas > 2)
      made.left_out = replicas % 2;
    std::vector<CollectiveStage> stages;
    if (!strategy.algorithm.inside) {
      TUTTI_CHECK(traits_.schedule != nullptr, "{} does not implement a separate collective",
                  traits_.name);
      made.schedule = traits_.schedule(request_);
    } else {
      stages = traits_.around(request_, across());
      // If NCCL executes no part of the collective, it has a single schedule.
      if (!traits_.uses_nccl())
        made.schedule =
            in_stages(layout(), request_.elements, schedules_of(std::exchange(stages, {})));
    }
    // If an algorithm sums on one device, this device divides before the result is distributed.
    if (strategy.reduction == Reduction::kMean && replicas > 1 &&
        traits_.sums_on != SumsOn::kOneDevice) {
      if (stages.empty()) stages.push_back({{StageScope::kEveryone, made.schedule}});
      stages.push_back({{StageScope::kEveryone, scale_results(request_.ranks(), made.contract(),
                                                              1.0 / replicas, request_.engine())}});
    }
    if (!stages.empty()) compose(made, layout(), std::move(stages));
    return made;
  }

 private:
  [[nodiscard]] StageGroup layout() const {
    return {request_.workers(), request_.per_worker, request_.hosts};
  }

  /// Makes the stage across workers. The stage across workers depends on where the algorithm inside
  /// workers stores the sums.
  [[nodiscard]] auto across() const -> Stage (*)(const ScheduleRequest&) {
    const auto half =
        traits_.inside_ends_on_hosts ? traits_.across_hosts : traits_.across_first_gpus;
    TUTTI_CHECK(request_.strategy.algorithm.inside && half != nullptr,
                "{} has no part across workers", traits_.name);
    return half;
  }

  static std::vector<Stage> schedules_of(std::vector<CollectiveStage> stages) {
    std::vector<Stage> all;
    for (CollectiveStage& one : stages) all.push_back(std::move(one.stage));
    return all;
  }

  const AlgorithmTraits& traits_;
  std::optional<Partition> partition_;
  std::vector<PartId> devices_;  ///< the devices of the collective, if they were given as a list;
                                 ///< otherwise empty
  ScheduleRequest request_;
};

bool same_orders(const std::vector<RingOrder>& a, const std::vector<RingOrder>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const RingOrder& x, const RingOrder& y) {
                      return x.gpus == y.gpus && x.channels == y.channels;
                    });
}

}  // namespace

bool knows_rings(const Cluster& cluster) {
  const Machine& first = cluster.machine(0);
  return std::all_of(
      cluster.groups().begin(), cluster.groups().end(), [&](const WorkerGroup& group) {
        const Machine& machine = *group.machine;
        return machine.gpus().size() == static_cast<std::size_t>(cluster.replicas_per_worker()) &&
               same_orders(machine.rings_inside(), first.rings_inside()) &&
               same_orders(machine.rings_across(), first.rings_across());
      });
}

std::int64_t cut_evenly(const Cluster& cluster, const Strategy& strategy, DataType type,
                        std::int64_t elements, const Partition* partition) {
  std::int64_t parts = partition ? partition->group_size() : cluster.replicas();
  if (traits(strategy.algorithm).lanes_cut_evenly) {
    Strategy sum = strategy;  // a mean also has lanes that divide
    sum.collective = CollectiveKind::kAllReduce;
    sum.reduction = Reduction::kSum;
    const Collective whole = partition
                                 ? make_collective(cluster, sum, type, elements, 0, *partition)
                                 : make_collective(cluster, sum, type, elements, 0);
    parts *= whole.schedule->lanes(0);
  }
  return (elements + parts - 1) / parts * parts;
}

Collective make_all_reduce(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index) {
  TUTTI_CHECK(strategy.collective == CollectiveKind::kAllReduce, "{} is no all-reduce",
              to_string(strategy.collective));
  return make_collective(cluster, strategy, type, elements, index);
}

Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index) {
  return CollectiveMaker(cluster, strategy, type, elements, index).make();
}

Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, const Partition& partition) {
  TUTTI_CHECK(traits(strategy.algorithm).works_in_groups, "{} among a group",
              to_string(strategy.algorithm));
  return CollectiveMaker(cluster, strategy, type, elements, index, partition).make();
}

Collective make_collective(const Cluster& cluster, const Strategy& strategy, DataType type,
                           std::int64_t elements, int index, std::vector<PartId> devices,
                           std::int64_t per_worker) {
  TUTTI_CHECK(traits(strategy.algorithm).works_in_groups, "{} among a group",
              to_string(strategy.algorithm));
  return CollectiveMaker(cluster, strategy, type, elements, index, std::nullopt, std::move(devices),
                         per_worker)
      .make();
}

std::optional<Collective> make_across_workers(const Cluster& cluster, const Strategy& strategy,
                                              DataType type, std::int64_t elements, int index) {
  return CollectiveMaker(cluster, strategy, type, elements, index).make_across();
}

}  // namespace tutti::core
