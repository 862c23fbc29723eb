#include "core/strategy/server_problems.h"

#include <utility>

#include <fmt/format.h>

namespace tutti::core {

std::vector<StrategyProblem> problems_of_servers(const Strategy& strategy, const Cluster& cluster) {
  std::vector<StrategyProblem> problems;
  const auto complain = [&](std::string text) { problems.push_back({"", std::move(text)}); };
  const Servers& servers = *strategy.servers;
  const std::int64_t workers = cluster.workers() - cluster.servers();
  if (servers.on == Servers::On::kReplicas && (workers > 1 || cluster.servers() > 0)) {
    complain(fmt::format(
        "{} keeps variables on the GPUs of a single worker, and needs a cluster with exactly one "
        "worker and no servers (got {} workers); use such a cluster, or a strategy with servers",
        strategy.distribution_name, workers));
  }
  if (servers.on == Servers::On::kHosts) {
    for (const WorkerGroup& group : cluster.groups()) {
      if (!group.machine->cpus().empty()) continue;
      complain(
          fmt::format("{} keeps variables on CPUs, but machine \"{}\" has none; add one (device {{ "
                      "name: \"cpu0\" kind: CPU … }})",
                      strategy.distribution_name, group.machine->name()));
    }
    if (servers.first + servers.count > cluster.workers()) {
      complain(fmt::format(
          "{} servers exceed the number of workers whose CPUs can be servers ({}); use at most {}",
          servers.count, cluster.workers(), cluster.workers()));
    }
  }
  if (strategy.reduction != Reduction::kSum && strategy.reduction != Reduction::kMean)
    problems.push_back(
        {"reduction", fmt::format("servers compute a sum or a mean, but not {}; use SUM or MEAN",
                                  to_string(strategy.reduction))});
  if (cluster.replicas() + cluster.workers() > kMaxRanks)
    complain(fmt::format("{} replicas exceed the limit of {} for one collective; use fewer workers",
                         cluster.replicas(), kMaxRanks - cluster.workers()));
  return problems;
}

}  // namespace tutti::core
