// Sets the fields of Strategy for a strategy of tf.distribute or a mode of tf_cnn_benchmarks: the
// algorithm, the devices that hold variables, the relays between replicas and servers, and whether
// workers are synchronous. There is one function for each type of the variant Distribution. Each
// function first checks whether TensorFlow accepts the cluster; if not, it reports a problem with a
// remedy. tf_cnn_benchmarks has the most complex rules for servers. If there is one worker and no
// server, variables are on the worker's GPUs or CPU. If there are several workers or servers, the
// servers are dedicated workers or the CPUs of the first workers. A worker's GPUs take turns to
// relay the gradients of the worker. distribution_reader.cpp reads the options, and packing.cpp
// sets the packing.

#include "core/framework/tensorflow/distribution.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace tutti::core {
namespace {

class DistributionLowering {
 public:
  DistributionLowering(const Distribution& distribution, const Cluster& cluster, Strategy& strategy,
                       Complaints& complaints)
      : distribution_(distribution),
        field_(field_of(distribution)),
        cluster_(cluster),
        strategy_(strategy),
        complaints_(complaints) {}

  void lower() {
    std::visit([this](const auto& options) { take_options(options); }, distribution_);
  }

 private:
  template <class... Args>
  void complain(ProblemCode code, fmt::format_string<Args...> format, Args&&... args) {
    complaints_.complain_at(fmt::format("strategy.tensorflow.{}", field_), code,
                            "tensorflow: {}: {}", field_,
                            fmt::format(format, std::forward<Args>(args)...));
  }
  /// Reports a problem at a field of the strategy's message.
  template <class... Args>
  void complain_at(std::string_view field, ProblemCode code, fmt::format_string<Args...> format,
                   Args&&... args) {
    complaints_.complain_at(fmt::format("strategy.tensorflow.{}.{}", field_, field), code, format,
                            std::forward<Args>(args)...);
  }

  void name(std::string name) { strategy_.distribution_name = std::move(name); }
  [[nodiscard]] std::int64_t workers() const { return cluster_.workers() - cluster_.servers(); }
  [[nodiscard]] bool on_gpus() const {
    return cluster_.part(cluster_.replica(0)).kind == PartKind::kGpu;
  }

  void take(BaseAlgorithm algorithm) { strategy_.take(algorithm); }
  void take(const Servers& servers) {
    take(BaseAlgorithm::kOnServers);
    strategy_.servers = servers;
  }

  // --- tf.distribute ---

  void take_options(const OneDevice&) {
    name("OneDeviceStrategy");
    take(BaseAlgorithm::kRing);
    if (cluster_.replicas() > 1)
      complain(ProblemCode::kConflict,
               "OneDeviceStrategy has one replica, but this cluster has {}; set workers {{ count: "
               "1 replicas: 1 }}, or use mirrored",
               cluster_.replicas());
  }

  void take_options(const Mirrored& mirrored) {
    if (workers() > 1)
      return complain(ProblemCode::kUnsupported,
                      "In-graph multi-worker training with `MirroredStrategy` is not supported "
                      "(here there are {} workers); use multi_worker_mirrored for "
                      "MultiWorkerMirroredStrategy, or multi_worker_all_reduce",
                      workers());
    const CrossDeviceOps ops = ops_of(mirrored);
    name(fmt::format("MirroredStrategy ({})", to_string(ops)));
    // A batch of IndexedSlices is gathered on the first device, whatever algorithm reduces the
    // dense gradients. SOURCE: tensorflow/python/distribute/cross_device_ops.py,
    // AllReduceCrossDeviceOps._batch_reduce.
    strategy_.sparse.over_first_device = true;
    // SOURCE: tensorflow/python/distribute/values.py, SyncOnReadVariable._get_cross_replica;
    // mirrored_strategy.py, _reduce_to.
    strategy_.checkpoint.on_cpu = true;
    take(ops == CrossDeviceOps::kNcclAllReduce ? BaseAlgorithm::kNccl
         : ops == CrossDeviceOps::kHierarchicalCopyAllReduce
             ? BaseAlgorithm::kHierarchicalCopy
             : BaseAlgorithm::kReductionToOneDevice);
    if (ops == CrossDeviceOps::kReductionToOneDevice) {
      if (mirrored.num_packs.value_or(0) != 0)
        complain_at("num_packs", ProblemCode::kUnused,
                    "mirrored: num_packs has no effect with ReductionToOneDevice, which reduces "
                    "one tensor at a time; remove num_packs");
      return;
    }
    const std::int64_t packs = mirrored.num_packs.value_or(1);
    if (const std::string problem = problem_of_num_packs(ops, packs, !mirrored.tf_1_15);
        !problem.empty() || packs > 1 << 20)
      return complain_at("num_packs", packs < 1 ? ProblemCode::kTooSmall : ProblemCode::kTooLarge,
                         "mirrored: num_packs: {}",
                         problem.empty() ? "the value exceeds the limit of 1048576" : problem);
    // With a single replica, there is nothing to reduce, and TensorFlow does not pack gradients.
    strategy_.num_packs = cluster_.replicas() > 1 ? static_cast<int>(packs) : 0;
  }

  CrossDeviceOps ops_of(const Mirrored& mirrored) {
    if (mirrored.cross_device_ops) return *mirrored.cross_device_ops;
    const bool kernels = mirrored.nccl_kernels;
    const CrossDeviceOps best = choose_the_best(on_gpus(), kernels);
    strategy_.notes.add("tensorflow.mirrored-takes", "MirroredStrategy chooses {}: {}",
                        to_string(best),
                        !on_gpus() ? "not all devices are GPUs"
                        : kernels  ? "all devices are GPUs, and NCCL is available"
                                   : "TensorFlow has no NCCL kernels");
    return best;
  }

  void take_options(const CentralStorage&) {
    name("CentralStorageStrategy");
    if (workers() > 1)
      return complain(ProblemCode::kConflict,
                      "CentralStorageStrategy needs exactly one worker (got {}); use one worker, "
                      "or parameter_server",
                      workers());
    Servers servers;
    if (cluster_.replicas() == 1) servers.on = Servers::On::kReplicas;
    take(servers);
  }

  void take_options(const ParameterServer& ps) {
    name(ps.partitioner ? fmt::format("ParameterServerStrategy ({})", describe(*ps.partitioner))
                        : "ParameterServerStrategy");
    if (cluster_.servers() == 0)
      return complain(ProblemCode::kMissing,
                      "The cluster spec needs to have `ps` jobs. Add workers {{ machine: … server: "
                      "true }} to the cluster");
    Servers servers = on_dedicated();
    servers.placement = ps.placement;
    servers.push = Servers::Relay::kHost;
    servers.pull = ps.caches_on_cpu ? Servers::Relay::kHost : Servers::Relay::kNone;
    servers.asynchronous = true;
    take(servers);
  }

  [[nodiscard]] Servers on_dedicated() const {
    Servers servers;
    servers.first = workers();
    servers.count = static_cast<int>(cluster_.servers());
    return servers;
  }

  // --- tf_cnn_benchmarks ---

  void take_options(const TfCnnBenchmarks& t) {
    using Mode = TfCnnBenchmarks::VariableUpdate;
    mode_ = to_string(t.variable_update);
    name(fmt::format("tf_cnn_benchmarks --variable_update={}", mode_));
    strategy_.sparse.on_servers = false;  // tf_cnn_benchmarks has no embeddings
    switch (t.variable_update) {
      case Mode::kReplicated: return replicated(t);
      case Mode::kDistributedReplicated: return distributed_replicated(t);
      case Mode::kDistributedAllReduce:
        if (!strategy_.spec)
          complain(
              ProblemCode::kMissing,
              "distributed_all_reduce needs --all_reduce_spec; say all_reduce_spec {{ text: … }}");
        return;
      case Mode::kCollectiveAllReduce:
        // If there are several workers, collective#2 shifts its second ring by half of a worker's
        // devices.
        return take(BaseAlgorithm::kTfRing);
      case Mode::kIndependent:
        take(BaseAlgorithm::kRing);
        strategy_.independent = true;
        return;
      default: return on_servers(t);
    }
  }

  void replicated(const TfCnnBenchmarks& t) {
    if (workers() > 1)
      return complain(ProblemCode::kConflict,
                      "replicated needs exactly one worker (got {}); use DISTRIBUTED_REPLICATED, "
                      "or DISTRIBUTED_ALL_REDUCE with all_reduce_spec",
                      workers());
    if (strategy_.spec) {
      if (t.hierarchical_copy)
        complain(
            ProblemCode::kConflict,
            "hierarchical_copy and all_reduce_spec both set how gradients are reduced; keep one");
      if (strategy_.spec->entries.size() > 1)
        complain(ProblemCode::kUnsupported,
                 "replicated does not support hybrid all-reduce strategies; give all_reduce_spec a "
                 "single entry, or use DISTRIBUTED_ALL_REDUCE");
      return;
    }
    if (t.hierarchical_copy) {
      take(BaseAlgorithm::kHierarchicalCopy);
      if (t.gcp_v100) strategy_.hierarchical_copy.topology = HierarchicalCopy::Topology::kGcpV100;
      return;
    }
    Servers copies = on_own_devices(t);
    copies.placement = Placement::kRoundRobin;
    copies.reads = copies.updates = false;
    take(copies);
  }

  /// Returns the servers if there is a single worker: its GPUs or its CPU.
  [[nodiscard]] Servers on_own_devices(const TfCnnBenchmarks& t) const {
    Servers servers;
    if (!t.on_cpu && on_gpus()) {
      servers.on = Servers::On::kReplicas;
      servers.count = cluster_.replicas_per_worker();
      servers.placement = Placement::kMinElements;
    }
    return servers;
  }

  /// Returns the servers if there are several workers: dedicated servers, or the CPUs of the first
  /// workers. If the servers cannot be determined, reports a problem and returns nullopt.
  std::optional<Servers> on_several_workers(const TfCnnBenchmarks& t) {
    if (t.servers_on_workers) {
      const auto count =
          complaints_.in_range("strategy.tensorflow.tf_cnn_benchmarks.servers_on_workers",
                               "tf_cnn_benchmarks", *t.servers_on_workers, 1, workers());
      if (cluster_.servers() > 0) {
        complain_at("servers_on_workers", ProblemCode::kConflict,
                    "tf_cnn_benchmarks: servers_on_workers and workers {{ server: true }} both set "
                    "the servers; keep one");
        return std::nullopt;
      }
      if (!count) return std::nullopt;
      Servers servers;
      servers.count = static_cast<int>(*count);
      return servers;
    }
    if (cluster_.servers() > 0) return on_dedicated();
    complain(ProblemCode::kMissing,
             "{} with several workers needs servers; set servers_on_workers: {}, or add workers {{ "
             "server: true }} to the cluster",
             mode_, workers());
    return std::nullopt;
  }

  void on_servers(const TfCnnBenchmarks& t) {
    const bool local = workers() == 1 && cluster_.servers() == 0 && !t.servers_on_workers;
    const bool sync = t.cross_replica_sync.value_or(true);
    if (local) {
      if (!sync)
        complain_at("cross_replica_sync", ProblemCode::kUnused,
                    "tf_cnn_benchmarks: cross_replica_sync has no effect with one worker and no "
                    "servers; remove cross_replica_sync");
      return take(on_own_devices(t));
    }
    auto servers = on_several_workers(t);
    if (!servers) return;
    const bool gpu = !t.on_cpu && on_gpus();
    servers->placement = Placement::kGreedyBytes;
    servers->push = gpu ? Servers::Relay::kReplicaRoundRobin : Servers::Relay::kHost;
    servers->pull = gpu ? Servers::Relay::kByLoad : Servers::Relay::kHost;
    servers->asynchronous = !sync;
    if (!sync && t.servers_on_workers)
      return complain(ProblemCode::kConflict,
                      "asynchronous workers need dedicated servers; replace servers_on_workers by "
                      "workers {{ server: true }} in the cluster");
    take(*servers);
  }

  void distributed_replicated(const TfCnnBenchmarks& t) {
    auto servers = on_several_workers(t);
    if (!servers) return;
    const bool gpu = !t.on_cpu && on_gpus();
    servers->placement = Placement::kGreedyBytes;
    servers->push = gpu ? Servers::Relay::kReplicaRoundRobin : Servers::Relay::kHost;
    servers->pull = Servers::Relay::kHost;
    servers->reads = false;
    take(*servers);
  }

  const Distribution& distribution_;
  std::string_view field_;
  const Cluster& cluster_;
  Strategy& strategy_;
  Complaints& complaints_;
  std::string mode_;
};

}  // namespace

std::string_view field_of(const Distribution& distribution) {
  constexpr std::array<std::string_view, std::variant_size_v<Distribution>> kFields{
      "one_device", "mirrored", "central_storage", "parameter_server", "tf_cnn_benchmarks"};
  return kFields[distribution.index()];
}

std::string_view to_string(TfCnnBenchmarks::VariableUpdate mode) {
  using Mode = TfCnnBenchmarks::VariableUpdate;
  switch (mode) {
    case Mode::kParameterServer: return "parameter_server";
    case Mode::kReplicated: return "replicated";
    case Mode::kDistributedReplicated: return "distributed_replicated";
    case Mode::kDistributedAllReduce: return "distributed_all_reduce";
    case Mode::kCollectiveAllReduce: return "collective_all_reduce";
    case Mode::kIndependent: return "independent";
  }
  return "";
}

void lower_distribution(const Distribution& distribution, const Cluster& cluster,
                        Strategy& strategy, Complaints& complaints) {
  DistributionLowering(distribution, cluster, strategy, complaints).lower();
}

}  // namespace tutti::core
