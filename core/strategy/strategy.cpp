#include "core/strategy/strategy.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "core/strategy/server_plan.h"

namespace tutti::core {
namespace {

struct Name {
  std::string_view name;
  Algorithm algorithm;
};
/// The first name of an algorithm is the one it is shown by.
constexpr std::array<Name, 19> kAlgorithmNames{{{"ring", Algorithm::kRing},
                                                {"xring", Algorithm::kXring},
                                                {"halving_doubling", Algorithm::kHalvingDoubling},
                                                {"recursive_doubling", Algorithm::kRecursiveDoubling},
                                                {"double_tree", Algorithm::kDoubleTree},
                                                {"pscpu", Algorithm::kPscpu},
                                                {"psgpu", Algorithm::kPsgpu},
                                                {"nccl", Algorithm::kNccl},
                                                {"nccl/ring", Algorithm::kNcclRing},
                                                {"nccl/xring", Algorithm::kNcclXring},
                                                {"nccl/halving_doubling", Algorithm::kNcclHalvingDoubling},
                                                {"nccl/double_tree", Algorithm::kNcclDoubleTree},
                                                {"nccl/pscpu", Algorithm::kNcclPscpu},
                                                {"pscpu/pscpu", Algorithm::kPscpuPscpu},
                                                {"tf_ring", Algorithm::kTfRing},
                                                {"reduction_to_one_device", Algorithm::kReductionToOneDevice},
                                                {"hierarchical_copy", Algorithm::kHierarchicalCopy},
                                                {"rechd", Algorithm::kHalvingDoubling},
                                                {"nccl/rechd", Algorithm::kNcclHalvingDoubling}}};

bool is_power_of_two(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); }

}  // namespace

std::string_view to_string(Algorithm algorithm) {
  for (const Name& name : kAlgorithmNames) {
    if (name.algorithm == algorithm) return name.name;
  }
  return algorithm == Algorithm::kOnServers ? "variables on servers" : "";
}

std::string_view to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum: return "sum";
    case Reduction::kMean: return "mean";
    case Reduction::kMin: return "min";
    case Reduction::kMax: return "max";
    case Reduction::kProduct: return "prod";
  }
  return "";
}

std::optional<Algorithm> parse_algorithm(std::string_view name) {
  for (const Name& known : kAlgorithmNames) {
    if (known.name == name) return known.algorithm;
  }
  return std::nullopt;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const Name& name : kAlgorithmNames) names.emplace_back(name.name);
  return names;
}

std::vector<Algorithm> algorithms() {
  std::vector<Algorithm> all;
  for (const Name& name : kAlgorithmNames) {
    if (std::find(all.begin(), all.end(), name.algorithm) == all.end()) all.push_back(name.algorithm);
  }
  return all;
}

Strategy Strategy::for_algorithm(Algorithm algorithm) {
  Strategy strategy;
  strategy.algorithm = algorithm;
  const bool collective =
      algorithm == Algorithm::kRing || algorithm == Algorithm::kTfRing || algorithm == Algorithm::kNccl;
  strategy.merging = collective ? Merging::kScopedAllocator : Merging::kConcat;
  strategy.launch = algorithm == Algorithm::kNccl ? Launch::kSerial : Launch::kConcurrent;
  strategy.staging = algorithm == Algorithm::kNccl     ? Staging::kDirect
                     : algorithm == Algorithm::kTfRing ? Staging::kViaHostOnRequest
                                                       : Staging::kViaHost;
  strategy.waits_for_workers = algorithm == Algorithm::kNcclXring;
  return strategy;
}

void Strategy::take(Algorithm which) {
  const Strategy usual = for_algorithm(which);
  algorithm = usual.algorithm;
  merging = usual.merging;
  launch = usual.launch;
  waits_for_workers = usual.waits_for_workers;
  if (!staging_asked) staging = usual.staging;
  take_what_is_asked();
}

void Strategy::take_what_is_asked() {
  merging = merging_asked.value_or(merging);
  launch = launch_asked.value_or(launch);
}

bool carries_out(Algorithm algorithm, CollectiveKind kind) {
  using Kind = CollectiveKind;
  if (kind == Kind::kAllReduce) return true;
  switch (algorithm) {
    case Algorithm::kRing: return kind != Kind::kAllToAll && kind != Kind::kGather && kind != Kind::kScatter;
    case Algorithm::kHalvingDoubling: return kind != Kind::kAllToAll && kind != Kind::kSendReceive;
    case Algorithm::kRecursiveDoubling:
      return kind == Kind::kAllGather || kind == Kind::kBroadcast || kind == Kind::kReduce;
    case Algorithm::kTfRing: return kind == Kind::kAllGather || kind == Kind::kBroadcast;
    case Algorithm::kPscpu:
    case Algorithm::kPsgpu:
    case Algorithm::kNccl: return true;
    default: return false;
  }
}

bool starts_with_nccl(Algorithm algorithm) {
  return algorithm == Algorithm::kNccl || algorithm == Algorithm::kNcclRing || algorithm == Algorithm::kNcclXring ||
         algorithm == Algorithm::kNcclHalvingDoubling || algorithm == Algorithm::kNcclDoubleTree ||
         algorithm == Algorithm::kNcclPscpu;
}

bool sums_on_hosts(Algorithm algorithm) {
  return algorithm == Algorithm::kPscpu || algorithm == Algorithm::kNcclPscpu || algorithm == Algorithm::kPscpuPscpu;
}

namespace {

/// Of what is done with a pack.
void find_collective_problems(const Strategy& strategy, const Cluster& cluster, bool on_gpus,
                              std::vector<StrategyProblem>& problems) {
  const CollectiveKind kind = strategy.collective;
  const std::string_view name = to_string(kind);
  const auto has = [&](Algorithm algorithm) {
    if (!carries_out(algorithm, kind)) return false;
    // What is left of pscpu without its CPUs in the middle is psgpu.
    if (on_gpus && algorithm == Algorithm::kPscpu) return kind == CollectiveKind::kAllReduce;
    return on_gpus || (!starts_with_nccl(algorithm) && algorithm != Algorithm::kPsgpu);
  };
  if (kind != CollectiveKind::kAllReduce && !has(strategy.algorithm)) {
    std::string others;
    for (const Algorithm algorithm : algorithms()) {
      if (has(algorithm)) others += fmt::format("{}{}", others.empty() ? "" : ", ", to_string(algorithm));
    }
    problems.push_back({"algorithm", fmt::format("\"{}\" has no {}; here these have: {}", to_string(strategy.algorithm),
                                                 name, others)});
  }
  if (strategy.root < 0 || strategy.root >= cluster.replicas()) {
    problems.push_back({"root", fmt::format("there is no rank {} among {} replicas; take 0 to {}", strategy.root,
                                            cluster.replicas(), cluster.replicas() - 1)});
  }
  if (!strategy.out_of_place && !can_be_in_place(kind)) {
    problems.push_back({"out_of_place", fmt::format("{} cannot be done in place: what a rank gets would overwrite what "
                                                    "it has still to send; say out_of_place: true",
                                                    name)});
  }
  if (!reduces(kind) && strategy.reduction != Reduction::kSum) {
    problems.push_back({"reduction", fmt::format("{} adds nothing; leave reduction out", name)});
  }
}

/// Of TensorFlow's own ring and what there is to be set of it.
void find_tf_ring_problems(const Strategy& strategy, const Cluster& cluster, std::vector<StrategyProblem>& problems) {
  const TfRuntime& runtime = strategy.tf_runtime;
  const int per_worker = cluster.replicas_per_worker();
  if (strategy.shards > 2) {
    problems.push_back({"shards", fmt::format("tf_ring has 1, or 2 as tf_cnn_benchmarks' collective#2 (got {}); say "
                                              "tf_ring {{ subdiv_offsets: … }} for more rings",
                                              strategy.shards)});
  }
  const int said = (strategy.shards > 1 ? 1 : 0) + (runtime.subdiv_offsets.empty() ? 0 : 1) +
                   (runtime.max_subdivs_per_device ? 1 : 0);
  if (said > 1) {
    problems.push_back({"tf_ring",
                        "shards, subdiv_offsets and max_subdivs_per_device all say how many rings there are; "
                        "keep one"});
  }
  if (strategy.collective != CollectiveKind::kAllReduce &&
      (strategy.shards > 1 || runtime.max_subdivs_per_device ||
       (!runtime.subdiv_offsets.empty() && runtime.subdiv_offsets != std::vector<std::int32_t>{0}))) {
    problems.push_back({"tf_ring", fmt::format("only the all-reduce has several rings, or one with an offset; "
                                               "TensorFlow's {} has one of offset 0",
                                               to_string(strategy.collective))});
  }
  for (const std::int32_t offset : runtime.subdiv_offsets) {
    if (offset > -per_worker && offset < per_worker) continue;
    problems.push_back({"tf_ring", fmt::format("subdiv_offsets: {} turns a ring by more devices than the {} that a "
                                               "worker has; take {} to {}",
                                               offset, per_worker, 1 - per_worker, per_worker - 1)});
  }
  std::vector<LinkedDevice> devices(static_cast<std::size_t>(per_worker));
  for (int i = 0; i < per_worker; ++i) devices[static_cast<std::size_t>(i)].number = i;
  if (!runtime.gpu_ring_order.empty() && !names_each_once(devices, runtime.gpu_ring_order)) {
    problems.push_back(
        {"tf_ring", fmt::format("gpu_ring_order: \"{}\" does not name each of the {} devices of a worker "
                                "once, and TensorFlow ignores it then; say 0 to {} in some order, with "
                                "commas, or leave it out",
                                runtime.gpu_ring_order, per_worker, per_worker - 1)});
  }
  if (strategy.pad_packs) {
    problems.push_back({"pad_packs",
                        "tf_ring cuts packs into aligned chunks, the last of them shorter, whatever the "
                        "length; leave pad_packs out"});
  }
}

/// Of what goes to one device and back.
void find_star_problems(const Strategy& strategy, const Cluster& cluster, std::vector<StrategyProblem>& problems) {
  if (strategy.algorithm == Algorithm::kReductionToOneDevice && strategy.reduce_to &&
      *strategy.reduce_to >= cluster.replicas()) {
    problems.push_back(
        {"reduce_to_device",
         fmt::format("there are {} replicas, and the device holds none; take one that does", cluster.replicas())});
  }
  if (strategy.algorithm != Algorithm::kHierarchicalCopy) return;
  const int devices = cluster.replicas_per_worker();
  if (cluster.workers() > 1) {
    problems.push_back(
        {"algorithm", fmt::format("hierarchical_copy is for the GPUs of one machine (here there are {} workers); "
                                  "take nccl, or nccl/xring across workers",
                                  cluster.workers())});
  } else if (devices < 2) {
    problems.push_back({"algorithm",
                        "hierarchical_copy needs two devices at least (TensorFlow: add_n of an empty list); take "
                        "reduction_to_one_device"});
  }
  if (strategy.hierarchical_copy.topology == HierarchicalCopy::Topology::kGcpV100 && devices != 8) {
    problems.push_back({"tf_cnn_benchmarks",
                        fmt::format("network_topology: GCP_V100 is one of 8 GPUs (here {}); take DGX1", devices)});
  }
}

}  // namespace

std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster) {
  if (strategy.servers) return problems_of_servers(strategy, cluster);
  if (cluster.servers() > 0) {
    return {{"", fmt::format(
                     "the cluster has {} server{}, which only parameter_server, byteps without an algorithm, and the "
                     "modes PARAMETER_SERVER and DISTRIBUTED_REPLICATED of tf_cnn_benchmarks use; leave workers {{ "
                     "server: true }} out",
                     cluster.servers(), cluster.servers() == 1 ? "" : "s")}};
  }
  if (strategy.spec) return {};  // its entries have them: problems_on()
  std::vector<StrategyProblem> problems;
  const Algorithm algorithm = strategy.algorithm;
  const std::string_view name = to_string(algorithm);
  const std::int64_t workers = cluster.workers();
  const int per_worker = cluster.replicas_per_worker();
  bool all_gpus = true;
  bool all_cpus = true;
  for (const WorkerGroup& group : cluster.groups()) {
    all_gpus = all_gpus && !group.machine->gpus().empty();
    all_cpus = all_cpus && !group.machine->cpus().empty();
  }
  const bool hierarchical = name.find('/') != std::string_view::npos;
  if (!all_gpus && (starts_with_nccl(algorithm) || algorithm == Algorithm::kPsgpu || hierarchical)) {
    problems.push_back(
        {"algorithm",
         fmt::format("\"{}\" needs GPUs, and a worker of this cluster has none; take ring, pscpu or halving_doubling",
                     name)});
  }
  find_collective_problems(strategy, cluster, all_gpus, problems);
  find_star_problems(strategy, cluster, problems);
  const bool uses_hosts =
      sums_on_hosts(algorithm) || (algorithm == Algorithm::kReductionToOneDevice && !strategy.reduce_to);
  if (!all_cpus && uses_hosts) {
    problems.push_back({"algorithm", fmt::format("\"{}\" sums on the workers' CPUs, and a machine of this cluster "
                                                 "declares none; give it one (device {{ name: \"cpu0\" kind: CPU … }})",
                                                 name)});
  }

  const int s = strategy.shards;
  const bool has_shards = algorithm == Algorithm::kPscpu || algorithm == Algorithm::kPscpuPscpu ||
                          algorithm == Algorithm::kPsgpu || algorithm == Algorithm::kRing ||
                          algorithm == Algorithm::kTfRing || algorithm == Algorithm::kXring;
  if (s > 1 && !has_shards) {
    problems.push_back(
        {"shards",
         fmt::format(
             "\"{}\" has no shards, only ring, tf_ring, xring, pscpu, psgpu and pscpu/pscpu have; leave shards out{}",
             name, algorithm == Algorithm::kNccl ? ", or did you mean channels?" : "")});
  }
  if (has_shards && uses_hosts && s > workers) {
    problems.push_back(
        {"shards", fmt::format("{} shards are more than the {} workers whose CPUs could sum them; take at most {}", s,
                               workers, workers)});
  }
  if (algorithm == Algorithm::kPsgpu && s > cluster.replicas()) {
    problems.push_back(
        {"shards", fmt::format("{} shards are more than the {} GPUs that could sum them; take at most {}", s,
                               cluster.replicas(), cluster.replicas())});
  }
  if ((algorithm == Algorithm::kRing || algorithm == Algorithm::kXring) && s > per_worker) {
    problems.push_back(
        {"shards",
         fmt::format("{} rings cannot be rotated against each other with {} replicas per worker; take at most {}", s,
                     per_worker, per_worker)});
  }
  if (algorithm == Algorithm::kTfRing) find_tf_ring_problems(strategy, cluster, problems);
  if (algorithm == Algorithm::kXring && cluster.replicas() < 2) {
    problems.push_back({"algorithm", "xring goes round at least 2 replicas (here 1); take more, or ring"});
  }
  const bool pairs = algorithm == Algorithm::kHalvingDoubling || algorithm == Algorithm::kRecursiveDoubling;
  if (pairs && !is_power_of_two(cluster.replicas())) {
    problems.push_back({"algorithm", fmt::format("{} needs a power of two of replicas (here {}); take ring", name,
                                                 cluster.replicas())});
  }
  if (algorithm == Algorithm::kNcclHalvingDoubling && !is_power_of_two(workers)) {
    problems.push_back(
        {"algorithm",
         fmt::format("nccl/halving_doubling needs a power of two of workers (here {}); take nccl/ring", workers)});
  }
  if (strategy.channels && !starts_with_nccl(algorithm)) {
    problems.push_back({"channels", fmt::format("\"{}\" has no channels, only nccl and what begins with it has{}", name,
                                                has_shards ? "; did you mean shards?" : "; leave channels out")});
  }
  if (strategy.staging != Staging::kDirect && strategy.staging_asked && all_gpus && !all_cpus) {
    problems.push_back({"staging",
                        "VIA_HOST copies through the workers' CPUs, and a machine of this cluster declares none; give "
                        "it one (device { name: \"cpu0\" kind: CPU … }), or take DIRECT"});
  }
  if (cluster.replicas() + workers > kMostRanks) {
    problems.push_back(
        {"", fmt::format("{} replicas are more than the {} that one collective can have; take fewer workers",
                         cluster.replicas(), kMostRanks - workers)});
  }
  return problems;
}

}  // namespace tutti::core
