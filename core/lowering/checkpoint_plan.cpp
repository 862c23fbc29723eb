#include "core/lowering/checkpoint_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/algorithm/star_tree.h"
#include "core/schedule/stages.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

bool on_gpus(const Cluster& cluster) {
  return cluster.part(cluster.replica(0)).kind == PartKind::kGpu;
}

/// Makes a reduction in which every replica copies its variable to the CPU, and the CPU sums the
/// copies.
Collective to_cpu(const Cluster& cluster, const Strategy& strategy, const OnReadVariable& variable,
                  Reduction reduction) {
  const auto n = static_cast<std::int32_t>(cluster.replicas());
  const bool host = on_gpus(cluster);
  const Engine engine = host ? Engine::kCopyEngine : Engine::kCpu;
  const StageGroup group{1, n, host, true, 0};
  const Rank root = host ? n : 0;
  const StarTree tree{group.ranks(), n, n, 1, root};
  Collective made{Group::of_cluster(cluster, host),
                  nullptr,
                  variable.type,
                  variable.elements,
                  strategy.staging,
                  n,
                  CollectiveKind::kReduce};
  made.root = root;
  std::vector<Stage> stages;
  stages.reserve(2);  // without this, gcc 12 warns of writes beyond the first stage's space
  stages.push_back(
      {StageScope::kEveryone, tree_reduce(tree, variable.elements, engine, Engine::kCpu)});
  if (reduction == Reduction::kMean && n > 1)
    stages.push_back({StageScope::kEveryone, work_of_rank(group.ranks(), root, variable.elements,
                                                          1.0 / n, 0, Engine::kCpu)});
  made.schedule = in_stages(group, variable.elements, std::move(stages));
  return made;
}

}  // namespace

std::optional<StrategyProblem> add_checkpoint(const Workload& workload, const Strategy& strategy,
                                              const Cluster& cluster, Plan& plan) {
  const CheckpointRules& rules = strategy.checkpoint;
  if (rules.refused && !workload.on_read.empty()) return rules.refused;
  if (strategy.servers && !workload.on_read.empty())
    return StrategyProblem{
        "", fmt::format("on_read variables have no effect with {}, which keeps a single copy of "
                        "each variable on a server; remove on_read from the workload",
                        strategy.distribution_name)};
  if (plan.partition && !workload.on_read.empty())
    return StrategyProblem{"",
                           "Tutti does not model on_read variables for groups of replicas "
                           "(splits_model, INDEPENDENT); remove on_read from the workload"};
  Strategy one = strategy;
  one.collective = CollectiveKind::kAllReduce;
  if (strategy.spec) one = for_entry(strategy, strategy.spec->entries.size() - 1);
  if (rules.by) {
    const Strategy usual = Strategy::for_algorithm(*rules.by);
    one.algorithm = usual.algorithm;
    if (!strategy.requested_staging) one.staging = usual.staging;
  }
  std::int64_t bytes = 0;
  int sent = 0;
  for (int i = 0; i < static_cast<int>(workload.on_read.size()); ++i) {
    const OnReadVariable& variable = workload.on_read[i];
    if (variable.aggregation == OnReadAggregation::kOnlyFirstReplica || variable.elements == 0 ||
        cluster.replicas() == 1)
      continue;
    one.reduction =
        variable.aggregation == OnReadAggregation::kMean ? Reduction::kMean : Reduction::kSum;
    Pack pack = plan.pack_of(
        {},
        rules.on_cpu ? to_cpu(cluster, strategy, variable, one.reduction)
                     : make_collective(cluster, one, variable.type, variable.elements, i),
        strategy.launch_overhead);
    pack.phase = PackPhase::kCheckpoint;
    pack.payload.on_read = i;
    pack.turn = i;
    pack.payload.reduction = one.reduction;
    bytes += plan.collective(pack).bytes().count();
    ++sent;
    plan.packs.push_back(std::move(pack));
  }
  if (sent > 0) plan.checkpoint_every = workload.checkpoint_every;
  if (sent == 0) {
    plan.notes.add("checkpoint.empty",
                   "checkpoints cause no communication, because the workload has no on_read "
                   "variable that several replicas reduce");
  } else {
    plan.notes.add("checkpoint.saves",
                   "every {} steps, {} per-replica variables ({:.3g} MB) are aggregated one by one "
                   "for a checkpoint; the time to write the checkpoint is not modelled",
                   workload.checkpoint_every, sent, static_cast<double>(bytes) / 1e6);
  }
  return std::nullopt;
}

}  // namespace tutti::core
