// A strategy has the default settings of its algorithm. A framework may still choose another
// algorithm after the strategy was read. Settings that the user has written are therefore applied
// last, and an algorithm's defaults never replace them. Class Requirements checks whether a
// strategy can run on a cluster. Class Requirements reads only the traits of the algorithm
// (algorithm_table.h), so a new algorithm needs no new check. Every problem names the invalid field
// and has a remedy. All checks are executed, so that users see all problems together. Strategies
// with servers are checked by server_problems.h, and strategies with a spec by all_reduce_spec.h.

#include "core/strategy/strategy.h"

#include <bit>

#include <fmt/format.h>

#include "core/strategy/algorithm_table.h"
#include "core/strategy/server_problems.h"

namespace tutti::core {

Strategy Strategy::for_algorithm(AlgorithmChoice algorithm) {
  const AlgorithmTraits& usual = traits(algorithm);
  Strategy strategy;
  strategy.algorithm = algorithm;
  strategy.merging = usual.merging;
  strategy.launch = usual.launch;
  strategy.staging = usual.staging;
  strategy.waits_for_workers = algorithm.inside && usual.waits_for_workers;
  return strategy;
}

void Strategy::take(AlgorithmChoice which) {
  const Strategy usual = for_algorithm(which);
  algorithm = usual.algorithm;
  merging = usual.merging;
  launch = usual.launch;
  waits_for_workers = usual.waits_for_workers;
  if (!requested_staging) staging = usual.staging;
  apply_overrides();
}

void Strategy::apply_overrides() {
  merging = requested_merging.value_or(merging);
  launch = requested_launch.value_or(launch);
}

namespace {

/// Checks a strategy against the requirements of its algorithm.
class Requirements {
 public:
  Requirements(const Strategy& strategy, const Cluster& cluster)
      : strategy_(strategy), cluster_(cluster), traits_(traits(strategy.algorithm)) {
    for (const WorkerGroup& group : cluster.groups()) {
      all_gpus_ = all_gpus_ && !group.machine->gpus().empty();
      all_cpus_ = all_cpus_ && !group.machine->cpus().empty();
    }
  }

  std::vector<StrategyProblem> check() {
    check_gpus();
    check_collective();
    if (traits_.find_problems) traits_.find_problems(strategy_, cluster_, problems_);
    check_hosts();
    check_shards();
    check_replicas();
    check_channels();
    check_staging();
    check_ranks();
    return std::move(problems_);
  }

 private:
  template <class... Args>
  void problem(const char* field, fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back({field, fmt::format(format, std::forward<Args>(args)...)});
  }

  void check_gpus() {
    if (all_gpus_ || !traits_.needs_gpus()) return;
    problem("algorithm",
            "\"{}\" needs GPUs, but a worker of this cluster has none; use ring, pscpu or "
            "halving_doubling",
            traits_.name);
  }

  void check_collective() {
    const CollectiveKind kind = strategy_.collective;
    const std::string_view name = to_string(kind);
    if (kind != CollectiveKind::kAllReduce && !traits_.supports(kind, all_gpus_)) {
      problem(
          "algorithm", "\"{}\" does not support {}; these algorithms do: {}", traits_.name, name,
          names_where([&](const AlgorithmTraits& t) { return t.supports(kind, all_gpus_); }, ", "));
    }
    if (strategy_.root < 0 || strategy_.root >= cluster_.replicas()) {
      problem("root", "there is no rank {} among {} replicas; use 0 to {}", strategy_.root,
              cluster_.replicas(), cluster_.replicas() - 1);
    }
    if (!strategy_.out_of_place && !can_be_in_place(kind)) {
      problem("out_of_place",
              "{} cannot run in place: received data would overwrite data that is still to be "
              "sent; set out_of_place: true",
              name);
    }
    if (!reduces(kind) && strategy_.reduction != Reduction::kSum)
      problem("reduction", "{} does not reduce; remove reduction", name);
  }

  void check_hosts() {
    if (all_cpus_ || !sums_on_hosts(strategy_)) return;
    problem("algorithm",
            "\"{}\" sums on the workers' CPUs, but a machine of this cluster has none; add one "
            "(device {{ name: \"cpu0\" kind: CPU … }})",
            traits_.name);
  }

  void check_shards() {
    const int s = strategy_.shards;
    switch (traits_.shards) {
      case ShardLimit::kNoShards:
        if (s == 1) return;
        return problem(
            "shards", "\"{}\" does not support shards; only {} do; remove shards{}", traits_.name,
            names_where([](const AlgorithmTraits& t) { return t.shards != ShardLimit::kNoShards; }),
            traits_.channels && traits_.nccl == NcclPart::kAll ? ", or did you mean channels?"
                                                               : "");
      case ShardLimit::kWorkers:
        if (s <= cluster_.workers()) return;
        return problem(
            "shards",
            "{} shards exceed the number of workers whose CPUs can sum them ({}); use at most {}",
            s, cluster_.workers(), cluster_.workers());
      case ShardLimit::kReplicas:
        if (s <= cluster_.replicas()) return;
        return problem("shards",
                       "{} shards exceed the number of GPUs that can sum them ({}); use at most {}",
                       s, cluster_.replicas(), cluster_.replicas());
      case ShardLimit::kReplicasOfWorker:
        if (s <= cluster_.replicas_per_worker()) return;
        return problem("shards",
                       "{} shards are too many, because each shard has its own ring, which is a "
                       "rotation of the {} replicas of a worker; use at most {}",
                       s, cluster_.replicas_per_worker(), cluster_.replicas_per_worker());
      case ShardLimit::kOwn: return;
    }
  }

  void check_replicas() {
    if (cluster_.replicas() < traits_.min_replicas) {
      problem("algorithm",
              "{} needs at least {} replicas (got {}); use more replicas, or algorithm ring",
              traits_.name, traits_.min_replicas, cluster_.replicas());
    }
    const AlgorithmChoice algorithm = strategy_.algorithm;
    const std::int64_t members = algorithm.inside ? cluster_.workers() : cluster_.replicas();
    if (!traits_.power_of_two || std::has_single_bit(static_cast<std::uint64_t>(members))) return;
    problem("algorithm", "{} needs a power-of-two number of {} (got {}); use {}", traits_.name,
            algorithm.inside ? "workers" : "replicas", members,
            to_string(algorithm.inside ? AlgorithmChoice(*algorithm.inside, BaseAlgorithm::kRing)
                                       : BaseAlgorithm::kRing));
  }

  void check_channels() {
    if (!strategy_.channels || traits_.channels) return;
    problem(
        "channels",
        "\"{}\" does not support channels; only nccl and algorithms that begin with nccl do{}",
        traits_.name,
        traits_.shards != ShardLimit::kNoShards ? "; did you mean shards?" : "; remove channels");
  }

  void check_staging() {
    if (strategy_.staging == Staging::kDirect || !strategy_.requested_staging || !all_gpus_ ||
        all_cpus_)
      return;
    problem("staging",
            "VIA_HOST copies through the workers' CPUs, but a machine of this cluster has none; "
            "add one (device {{ name: \"cpu0\" kind: CPU … }}), or use DIRECT");
  }

  void check_ranks() {
    if (cluster_.replicas() + cluster_.workers() <= kMaxRanks) return;
    problem("", "{} replicas exceed the limit of {} for one collective; use fewer workers",
            cluster_.replicas(), kMaxRanks - cluster_.workers());
  }

  const Strategy& strategy_;
  const Cluster& cluster_;
  const AlgorithmTraits& traits_;
  bool all_gpus_ = true;
  bool all_cpus_ = true;
  std::vector<StrategyProblem> problems_;
};

}  // namespace

std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster) {
  if (strategy.servers) return problems_of_servers(strategy, cluster);
  if (cluster.servers() > 0) {
    return {
        {"", fmt::format("the cluster has {} server{}, but only parameter_server, byteps without "
                         "an algorithm, and the modes PARAMETER_SERVER and DISTRIBUTED_REPLICATED "
                         "of tf_cnn_benchmarks use servers; remove workers {{ server: true }}",
                         cluster.servers(), cluster.servers() == 1 ? "" : "s")}};
  }
  if (strategy.spec) return {};  // its entries have requirements: see problems_on()
  return Requirements(strategy, cluster).check();
}

}  // namespace tutti::core
