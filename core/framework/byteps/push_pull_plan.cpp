#include "core/framework/byteps/push_pull_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/algorithm/push_pull.h"
#include "core/lowering/server_plan.h"
#include "core/lowering/sparse_plan.h"
#include "core/plan/gate/credit_gate.h"
#include "core/schedule/at_offset.h"
#include "core/schedule/stages.h"
#include "core/strategy/collective_parts.h"

namespace tutti::core {
namespace {

class PushPullPlanner {
 public:
  PushPullPlanner(const BytePs& byteps, const PlanInput& input)
      : workload_(input.workload),
        strategy_(input.strategy),
        byteps_(byteps),
        cluster_(input.cluster),
        per_worker_(cluster_.replicas_per_worker()),
        workers_(static_cast<std::int32_t>(cluster_.replicas() / per_worker_)),
        on_gpus_(cluster_.part(cluster_.replica(0)).kind == PartKind::kGpu),
        layout_{workers_, per_worker_, true, true, static_cast<std::int32_t>(cluster_.servers())} {}

  Plan make() {
    plan_.notes = strategy_.notes;
    plan_.update = strategy_.update;
    if (byteps_.credit > 0)
      plan_.gate = std::make_shared<CreditRule>(
          Bytes(byteps_.credit * byteps_partition(byteps_.partition, per_worker_).count()));
    std::vector<std::uint64_t> partitions(workload_.gradients.size());  // counts by gradient
    std::vector<std::int64_t> loads(strategy_.servers->count);
    for (const Bucket& bucket : partitions_of(byteps_, workload_, per_worker_)) {
      const Member& member = bucket.members.front();
      const std::size_t v = member.variable;
      const std::uint64_t key = byteps_key(v, partitions[v]++);
      const std::size_t place = byteps_hash(byteps_.hash, key) % loads.size();
      add(member,
          static_cast<std::int32_t>(strategy_.servers->first + static_cast<std::int64_t>(place)));
      loads[place] += plan_.collective(plan_.packs.back()).bytes().count();
    }
    if (loads.size() > 1) {
      const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
      plan_.notes.add(
          "byteps.partitions-lie",
          "partitions are placed {}: {:.1f} MB on the fullest server, {:.1f} MB on the emptiest",
          describe(*strategy_.servers), static_cast<double>(*most) / 1e6,
          static_cast<double>(*least) / 1e6);
    }
    return std::move(plan_);
  }

 private:
  /// Adds a push and the pull of its sum. `server`: the index of a worker.
  void add(const Member& member, std::int32_t server) {
    const auto number = static_cast<int>(plan_.packs.size());
    Pack push = plan_.pack_of({{member.variable, member.first, member.count, 0}},
                              collective(member, server, CollectiveKind::kReduce),
                              strategy_.launch_overhead);
    push.turn = member.variable;
    // The server computes a sum; for a mean, replicas divide it after the pull (copied_out).
    push.payload.reduction = Reduction::kSum;
    Pack pull = push;
    pull.collective = plan_.add({collective(member, server, CollectiveKind::kBroadcast),
                                 std::nullopt, strategy_.launch_overhead});
    pull.after = pull.answers = number;
    if (strategy_.reduction == Reduction::kMean) pull.copied_out = plan_.collective(pull).bytes();
    plan_.packs.push_back(std::move(push));
    plan_.packs.push_back(std::move(pull));
  }

  [[nodiscard]] Collective collective(const Member& member, std::int32_t server,
                                      CollectiveKind kind) const {
    const DataType type = workload_.gradients[member.variable].type;
    Collective made{Group::of_cluster(cluster_, true),
                    nullptr,
                    type,
                    member.count,
                    strategy_.staging,
                    cluster_.replicas(),
                    kind,
                    layout_.replicas() + server};
    const bool push = kind == CollectiveKind::kReduce;
    std::vector<CollectiveStage> stages = on_gpus_ ? by_hosts(type, member.count, server, push)
                                                   : by_themselves(member.count, made.root, push);
    if (!push) std::reverse(stages.begin(), stages.end());
    compose(made, layout_, std::move(stages));
    return made;
  }

  /// Returns the stages of a push in which the workers' hosts move the data between GPUs and
  /// servers. A pull has the corresponding stages in reverse order.
  [[nodiscard]] std::vector<CollectiveStage> by_hosts(DataType type, std::int64_t elements,
                                                      std::int32_t server, bool push) const {
    const std::int32_t g = per_worker_;
    std::vector<CollectiveStage> stages;
    const std::int64_t even = elements / g * g, left = elements - even;
    const auto blocks = push ? CollectiveKind::kReduceScatter : CollectiveKind::kAllGather;
    const auto along = push ? CollectiveKind::kReduce : CollectiveKind::kBroadcast;
    if (g > 1 && even > 0)
      stages.push_back(
          {{StageScope::kInsideWorkers, by_nccl(type, even, blocks)}, {{blocks, even}}});
    if (g > 1 && left > 0)
      stages.push_back({{StageScope::kInsideWorkers, at_offset(by_nccl(type, left, along), even)},
                        {{along, left, g - 1}}});
    stages.push_back({{StageScope::kWorkersWithHost,
                       push ? shares_to_host(g, elements, Engine::kCopyEngine)
                            : shares_from_host(g, elements, Engine::kCopyEngine)}});
    const std::int32_t hosts = layout_.ranks() - layout_.replicas();
    stages.push_back({{StageScope::kHostsAndHelpers,
                       push ? push_to_server(hosts, workers_, server, elements, Engine::kCpu)
                            : pull_from_server(hosts, workers_, server, elements, Engine::kCpu)}});
    return stages;
  }

  [[nodiscard]] std::vector<CollectiveStage> by_themselves(std::int64_t elements, Rank root,
                                                           bool push) const {
    const std::int32_t n = layout_.replicas();
    return {{{StageScope::kEveryone,
              push ? push_to_server(layout_.ranks(), n, root, elements, Engine::kCpu)
                   : pull_from_server(layout_.ranks(), n, root, elements, Engine::kCpu)}}};
  }

  /// Returns NCCL's schedule among a worker's GPUs. If the elements cannot be divided evenly, the
  /// last GPU has the remainder.
  [[nodiscard]] std::shared_ptr<const Schedule> by_nccl(DataType type, std::int64_t elements,
                                                        CollectiveKind kind) const {
    Strategy nccl = Strategy::for_algorithm(BaseAlgorithm::kNccl);
    nccl.channels = strategy_.channels;
    nccl.collective = kind;
    nccl.root = per_worker_ - 1;
    const Partition workers{cluster_.replicas(), per_worker_, 1, false};
    return make_collective(cluster_, nccl, type, elements, 0, workers).schedule;
  }

  const Workload& workload_;
  const Strategy& strategy_;
  const BytePs& byteps_;
  const Cluster& cluster_;
  std::int32_t per_worker_;
  std::int32_t workers_;
  bool on_gpus_;
  StageGroup layout_;
  Plan plan_;
};

}  // namespace

tl::expected<Plan, StrategyProblem> plan_push_pull(const BytePs& options, const PlanInput& input) {
  if (has_slices(input.workload))
    return tl::make_unexpected(
        StrategyProblem{"byteps",
                        "Tutti does not model sparse gradients with BytePS's servers; remove "
                        "sparse_gradient to push whole variables"});
  if (input.strategy.compression)
    return tl::make_unexpected(
        StrategyProblem{"compression",
                        "Tutti does not model compression with BytePS's servers; remove "
                        "compression, or set an algorithm, such as pscpu"});
  Plan plan = PushPullPlanner(options, input).make();
  if (plan.packs.empty())
    return tl::make_unexpected(StrategyProblem{
        "", "the model has no gradient with elements, so there is nothing to send"});
  return plan;
}

}  // namespace tutti::core
