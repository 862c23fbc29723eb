#include "core/lowering/graph_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

using Members = std::vector<std::int64_t>;

bool is_everyone(const Members& members, std::int64_t replicas) {
  if (std::ssize(members) != replicas) return false;
  for (std::int64_t i = 0; i < replicas; ++i) {
    if (members[i] != i) return false;
  }
  return true;
}

/// Returns a partition in which `members` form one group and have their ranks in the same order;
/// nullopt if there is no such partition.
std::optional<Partition> partition_of(const Members& members, std::int64_t replicas) {
  const std::int64_t size = std::ssize(members);
  if (size < 2) return std::nullopt;
  const std::int64_t stride = members[1] - members[0];
  if (stride < 1 || replicas % (size * stride) != 0) return std::nullopt;
  const Partition partition{replicas, size, stride};
  const std::int64_t group = partition.place(members.front()).group;
  for (std::int64_t r = 0; r < size; ++r) {
    const auto [in, rank] = partition.place(members[r]);
    if (in != group || rank != r) return std::nullopt;
  }
  return partition;
}

class GraphPlanner {
 public:
  GraphPlanner(std::shared_ptr<const ExecutionGraph> graph, const Strategy& strategy,
               const Cluster& cluster)
      : graph_(std::move(graph)), strategy_(strategy), cluster_(cluster) {}

  tl::expected<Plan, StrategyProblem> make() {
    for (const ExecutionGraph::Collective& one : graph_->collectives) {
      const auto id = collective(one);
      if (!id) return tl::make_unexpected(id.error());
      Pack pack;
      pack.collective = *id;
      pack.payload.name = one.name;
      pack.turn = static_cast<int>(plan_.packs.size());
      plan_.packs.push_back(std::move(pack));
    }
    for (const std::string& note : graph_->notes) plan_.notes.add("plan.trace", "{}", note);
    plan_.graph = std::move(graph_);
    return std::move(plan_);
  }

 private:
  tl::expected<CollectiveId, StrategyProblem> collective(const ExecutionGraph::Collective& one) {
    const auto key = std::tuple(one.communicator, one.kind, one.type, one.elements, one.root);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    const ExecutionGraph::Communicator& communicator = graph_->communicators[one.communicator];
    Strategy strategy = strategy_;
    strategy.collective = one.kind;
    strategy.root = one.root;
    strategy.out_of_place = !can_be_in_place(one.kind);
    auto planned = make(one, communicator.ranks, strategy);
    if (!planned) {
      StrategyProblem problem = planned.error();
      problem.text =
          fmt::format("collective \"{}\" of the trace ({} among {} ranks{}): {}", one.name,
                      to_string(one.kind), communicator.ranks.size(),
                      communicator.name.empty() ? "" : fmt::format(" of \"{}\"", communicator.name),
                      problem.text);
      return tl::make_unexpected(std::move(problem));
    }
    return known_[key] = plan_.add(std::move(*planned));
  }

  tl::expected<PlannedCollective, StrategyProblem> make(const ExecutionGraph::Collective& one,
                                                        const Members& members,
                                                        const Strategy& strategy) const {
    const int turn = static_cast<int>(plan_.packs.size());
    const Time launch = strategy_.launch_overhead;
    if (is_everyone(members, cluster_.replicas())) {
      if (const auto problems = problems_of(strategy, cluster_); !problems.empty())
        return tl::make_unexpected(problems.front());
      return PlannedCollective{make_collective(cluster_, strategy, one.type, one.elements, turn),
                               std::nullopt, launch};
    }
    const AlgorithmTraits& t = traits(strategy.algorithm);
    if (!t.works_in_groups)
      return tl::make_unexpected(StrategyProblem{
          "algorithm",
          fmt::format(
              "{} supports only collectives of all replicas; use {}", t.name,
              names_where([](const AlgorithmTraits& other) { return other.works_in_groups; },
                          ", "))});
    const std::int64_t size = std::ssize(members);
    const Communicator like{"",
                            Partition{size, size, 1},
                            false,
                            strategy,
                            {Exchange{one.kind, one.type, one.elements}}};
    if (const auto problems = problems_of(like, cluster_); !problems.empty())
      return tl::make_unexpected(StrategyProblem{"algorithm", problems.front()});
    if (const auto partition = partition_of(members, cluster_.replicas()))
      return PlannedCollective{
          make_collective(cluster_, strategy, one.type, one.elements, turn, *partition), partition,
          launch};
    std::vector<PartId> devices;
    for (const std::int64_t replica : members) devices.push_back(cluster_.replica(replica));
    return PlannedCollective{
        make_collective(cluster_, strategy, one.type, one.elements, turn, std::move(devices),
                        per_worker(members, cluster_.replicas_per_worker())),
        std::nullopt, launch, std::nullopt, std::make_shared<const MemberList>(members)};
  }

  std::shared_ptr<const ExecutionGraph> graph_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  Plan plan_;
  std::map<std::tuple<std::int32_t, CollectiveKind, DataType, std::int64_t, std::int32_t>,
           CollectiveId>
      known_;
};

}  // namespace

std::int64_t per_worker(const std::vector<std::int64_t>& members, int replicas_per_worker) {
  const auto worker = [&](std::size_t i) { return members[i] / replicas_per_worker; };
  std::size_t together = 1;
  while (together < members.size() && worker(together) == worker(0)) ++together;
  if (members.size() % together != 0) return 1;
  std::vector<std::int64_t> workers;
  for (std::size_t i = 0; i < members.size(); i += together) {
    for (std::size_t j = i; j < i + together; ++j) {
      if (worker(j) != worker(i)) return 1;
    }
    workers.push_back(worker(i));
  }
  std::sort(workers.begin(), workers.end());
  const bool distinct = std::adjacent_find(workers.begin(), workers.end()) == workers.end();
  return distinct ? static_cast<std::int64_t>(together) : 1;
}

tl::expected<Plan, StrategyProblem> plan_of_graph(std::shared_ptr<const ExecutionGraph> graph,
                                                  const Strategy& strategy,
                                                  const Cluster& cluster) {
  return GraphPlanner(std::move(graph), strategy, cluster).make();
}

}  // namespace tutti::core
