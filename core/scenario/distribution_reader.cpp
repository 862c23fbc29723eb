#include "core/scenario/distribution_reader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/ranges.h>

#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

const char* field_of(const proto::Strategy& s) {
  switch (s.distribution_case()) {
    case proto::Strategy::kOneDevice: return "one_device";
    case proto::Strategy::kMirrored: return "mirrored";
    case proto::Strategy::kCentralStorage: return "central_storage";
    case proto::Strategy::kParameterServer: return "parameter_server";
    case proto::Strategy::kTfCnnBenchmarks: return "tf_cnn_benchmarks";
    case proto::Strategy::DISTRIBUTION_NOT_SET: break;
  }
  return "";
}

std::string mode_name(proto::TfCnnBenchmarks::VariableUpdate mode) {
  std::string name = proto::TfCnnBenchmarks::VariableUpdate_Name(mode);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

class Lowering {
 public:
  Lowering(const proto::Strategy& message, const Cluster& cluster, Fields& fields, Strategy& strategy)
      : message_(message), cluster_(cluster), fields_(fields), strategy_(strategy) {}

  void lower() {
    switch (message_.distribution_case()) {
      case proto::Strategy::kOneDevice: return one_device();
      case proto::Strategy::kMirrored: return mirrored(message_.mirrored());
      case proto::Strategy::kCentralStorage: return central_storage();
      case proto::Strategy::kParameterServer: return parameter_server(message_.parameter_server());
      case proto::Strategy::kTfCnnBenchmarks: return tf_cnn_benchmarks(message_.tf_cnn_benchmarks());
      case proto::Strategy::DISTRIBUTION_NOT_SET: return;
    }
  }

 private:
  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    fields_.complain_at(message_, field_of(message_), "strategy: {}: {}", field_of(message_),
                        fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    strategy_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void name(Distribution which, std::string name) {
    strategy_.distribution = which;
    strategy_.distribution_name = std::move(name);
  }
  [[nodiscard]] std::int64_t workers() const { return cluster_.workers() - cluster_.servers(); }
  [[nodiscard]] bool on_gpus() const { return cluster_.part(cluster_.replica(0)).kind == PartKind::kGpu; }

  /// As the algorithm usually is, but for what the scenario says.
  void take(BaseAlgorithm algorithm) {
    const Strategy usual = Strategy::for_algorithm(algorithm);
    strategy_.algorithm = usual.algorithm;
    strategy_.merging = usual.merging;
    strategy_.launch = usual.launch;
    strategy_.waits_for_workers = usual.waits_for_workers;
    if (!strategy_.staging_asked) strategy_.staging = usual.staging;
  }
  void take(const Servers& servers) {
    take(BaseAlgorithm::kOnServers);
    strategy_.servers = servers;
  }

  // --- tf.distribute ---

  void one_device() {
    name(Distribution::kOneDevice, "OneDeviceStrategy");
    take(BaseAlgorithm::kRing);
    if (cluster_.replicas() > 1)
      complain(
          "OneDeviceStrategy has one replica, and this cluster {}; say workers {{ count: 1 replicas: 1 }}, or take "
          "mirrored",
          cluster_.replicas());
  }

  void mirrored(const proto::MirroredStrategy& mirrored) {
    if (workers() > 1)
      return complain(
          "In-graph multi-worker training with `MirroredStrategy` is not supported (here there are {} workers); take "
          "communication_options for MultiWorkerMirroredStrategy, or all_reduce_spec for MultiWorkerAllReduce",
          workers());
    const CrossDeviceOps ops = ops_of(mirrored);
    name(Distribution::kMirrored, fmt::format("MirroredStrategy ({})", to_string(ops)));
    take(ops == CrossDeviceOps::kNcclAllReduce               ? BaseAlgorithm::kNccl
         : ops == CrossDeviceOps::kHierarchicalCopyAllReduce ? BaseAlgorithm::kHierarchicalCopy
                                                             : BaseAlgorithm::kReductionToOneDevice);
    if (ops == CrossDeviceOps::kReductionToOneDevice) {
      if (mirrored.num_packs() != 0)
        fields_.complain_at(
            mirrored, "num_packs",
            "mirrored: ReductionToOneDevice reduces tensor by tensor and has no num_packs; leave it out");
      return;
    }
    const std::int64_t packs = mirrored.has_num_packs() ? mirrored.num_packs() : 1;
    if (const std::string problem = problem_of_num_packs(ops, packs, !mirrored.tf_1_15());
        !problem.empty() || packs > 1 << 20)
      return fields_.complain_at(mirrored, "num_packs", "mirrored: num_packs: {}; take 1 or more",
                                 problem.empty() ? "it is too large" : problem);
    // One replica has nothing to reduce, and TensorFlow does not even pack then.
    strategy_.num_packs = cluster_.replicas() > 1 ? static_cast<int>(packs) : 0;
  }

  CrossDeviceOps ops_of(const proto::MirroredStrategy& mirrored) {
    switch (mirrored.cross_device_ops()) {
      case proto::MirroredStrategy::NCCL_ALL_REDUCE: return CrossDeviceOps::kNcclAllReduce;
      case proto::MirroredStrategy::HIERARCHICAL_COPY_ALL_REDUCE: return CrossDeviceOps::kHierarchicalCopyAllReduce;
      case proto::MirroredStrategy::REDUCTION_TO_ONE_DEVICE: return CrossDeviceOps::kReductionToOneDevice;
      default: break;
    }
    const bool kernels = !mirrored.has_nccl_kernels() || mirrored.nccl_kernels();
    const CrossDeviceOps best = choose_the_best(on_gpus(), kernels);
    note("MirroredStrategy takes {} here: {}", to_string(best),
         !on_gpus() ? "not all devices are GPUs"
         : kernels  ? "all devices are GPUs, and NCCL is there"
                    : "TensorFlow has no NCCL kernels");
    return best;
  }

  void central_storage() {
    name(Distribution::kCentralStorage, "CentralStorageStrategy");
    if (workers() > 1)
      return complain("CentralStorageStrategy works on one worker (here there are {}); take one, or parameter_server",
                      workers());
    Servers servers;
    if (cluster_.replicas() == 1) servers.on = Servers::On::kReplicas;
    take(servers);
  }

  void parameter_server(const proto::ParameterServerStrategy& ps) {
    name(Distribution::kParameterServer, "ParameterServerStrategy");
    if (cluster_.servers() == 0)
      return complain(
          "The cluster spec needs to have `ps` jobs. Add workers {{ machine: … server: true }} to the cluster");
    Servers servers = on_dedicated();
    servers.placement = ps.placement() == proto::ParameterServerStrategy::GREEDY_BY_BYTES ? Placement::kGreedyBytes
                                                                                          : Placement::kRoundRobin;
    servers.push = Servers::Relay::kHost;
    servers.pull =
        ps.variable_read_cache() == proto::ParameterServerStrategy::CPU ? Servers::Relay::kHost : Servers::Relay::kNone;
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

  void tf_cnn_benchmarks(const proto::TfCnnBenchmarks& t) {
    using Mode = proto::TfCnnBenchmarks;
    mode_ = mode_name(t.variable_update());
    name(Distribution::kTfCnnBenchmarks, fmt::format("tf_cnn_benchmarks --variable_update={}", mode_));
    refuse_flags_of_other_modes(t);
    switch (t.variable_update()) {
      case Mode::REPLICATED: return replicated(t);
      case Mode::DISTRIBUTED_REPLICATED: return distributed_replicated(t);
      case Mode::DISTRIBUTED_ALL_REDUCE:
        if (!strategy_.spec)
          complain("distributed_all_reduce needs --all_reduce_spec; say all_reduce_spec {{ text: … }}");
        return;
      case Mode::COLLECTIVE_ALL_REDUCE:
        // collective#2 of several workers' devices turns its second ring by half of a worker's.
        return take(BaseAlgorithm::kTfRing);
      case Mode::INDEPENDENT:
        take(BaseAlgorithm::kRing);
        strategy_.independent = true;
        return;
      default: return on_servers(t);
    }
  }

  void refuse_flags_of_other_modes(const proto::TfCnnBenchmarks& t) {
    using Mode = proto::TfCnnBenchmarks;
    const auto refuse = [&](bool said, const char* flag, const char* whose) {
      if (said)
        fields_.complain_at(t, flag, "tf_cnn_benchmarks: {}: {} has none, only {}; leave it out", flag, mode_, whose);
    };
    const auto mode = t.variable_update();
    refuse(t.hierarchical_copy() && mode != Mode::REPLICATED, "hierarchical_copy", "replicated has");
    refuse(t.network_topology() != Mode::DGX1 && !t.hierarchical_copy(), "network_topology", "hierarchical_copy has");
    const bool shared = mode == Mode::PARAMETER_SERVER || mode == Mode::DISTRIBUTED_REPLICATED;
    refuse(t.has_cross_replica_sync() && mode != Mode::PARAMETER_SERVER, "cross_replica_sync", "parameter_server has");
    refuse(t.has_servers_on_workers() && !shared, "servers_on_workers",
           "parameter_server and distributed_replicated have");
    refuse(t.local_parameter_device() == Mode::CPU && !shared && mode != Mode::REPLICATED, "local_parameter_device",
           "parameter_server, replicated and distributed_replicated have");
    const bool reduces_by_spec = mode == Mode::REPLICATED || mode == Mode::DISTRIBUTED_ALL_REDUCE;
    if (message_.has_all_reduce_spec() && !reduces_by_spec)
      fields_.complain_at(message_, "all_reduce_spec", "strategy: all_reduce_spec: {} has none; leave it out", mode_);
    const bool packs =
        strategy_.spec || (mode == Mode::REPLICATED && t.hierarchical_copy()) || mode == Mode::COLLECTIVE_ALL_REDUCE;
    for (const char* field : {"num_packs", "agg_small_grads_max_bytes"}) {
      if (fields_.has(message_, field) && !packs)
        fields_.complain_at(message_, field,
                            "strategy: {}: {} sends each gradient by itself here; leave it out, or say "
                            "all_reduce_spec or hierarchical_copy",
                            field, mode_);
    }
  }

  void replicated(const proto::TfCnnBenchmarks& t) {
    if (workers() > 1)
      return complain(
          "replicated works on one worker (here there are {}); take DISTRIBUTED_REPLICATED, or "
          "DISTRIBUTED_ALL_REDUCE with all_reduce_spec",
          workers());
    if (strategy_.spec) {
      if (t.hierarchical_copy())
        complain("--hierarchical_copy and --all_reduce_spec are two ways of reducing; keep one");
      if (strategy_.spec->entries.size() > 1)
        complain(
            "replicated does not support hybrid all-reduce strategies; give all_reduce_spec one entry, or take "
            "DISTRIBUTED_ALL_REDUCE");
      return;
    }
    if (t.hierarchical_copy()) {
      take(BaseAlgorithm::kHierarchicalCopy);
      if (t.network_topology() == proto::TfCnnBenchmarks::GCP_V100)
        strategy_.hierarchical_copy.topology = HierarchicalCopy::Topology::kGcpV100;
      return;
    }
    Servers copies = on_own_devices(t);
    copies.placement = Placement::kRoundRobin;
    copies.reads = copies.updates = false;
    take(copies);
  }

  /// Of one worker: its GPUs or its CPU.
  [[nodiscard]] Servers on_own_devices(const proto::TfCnnBenchmarks& t) const {
    Servers servers;
    if (t.local_parameter_device() == proto::TfCnnBenchmarks::GPU && on_gpus()) {
      servers.on = Servers::On::kReplicas;
      servers.count = cluster_.replicas_per_worker();
      servers.placement = Placement::kLeastElements;
    }
    return servers;
  }

  /// Those of the cluster, or the first workers' CPUs; nothing (and a problem) if it cannot be told.
  std::optional<Servers> on_several_workers(const proto::TfCnnBenchmarks& t) {
    if (t.has_servers_on_workers()) {
      const auto count = fields_.integer(t, "servers_on_workers", "tf_cnn_benchmarks", 1, workers());
      if (cluster_.servers() > 0) {
        fields_.complain_at(
            t, "servers_on_workers",
            "tf_cnn_benchmarks: servers_on_workers and workers {{ server: true }} both say who the servers "
            "are; keep one");
        return std::nullopt;
      }
      if (!count) return std::nullopt;
      Servers servers;
      servers.count = static_cast<int>(*count);
      return servers;
    }
    if (cluster_.servers() > 0) return on_dedicated();
    complain(
        "{} of several workers needs servers; say servers_on_workers: {}, or workers {{ server: true }} in the cluster",
        mode_, workers());
    return std::nullopt;
  }

  void on_servers(const proto::TfCnnBenchmarks& t) {
    const bool local = workers() == 1 && cluster_.servers() == 0 && !t.has_servers_on_workers();
    const bool sync = !t.has_cross_replica_sync() || t.cross_replica_sync();
    if (local) {
      if (!sync)
        fields_.complain_at(
            t, "cross_replica_sync",
            "tf_cnn_benchmarks: cross_replica_sync: one worker without servers has nobody to wait for; leave it "
            "out");
      return take(on_own_devices(t));
    }
    auto servers = on_several_workers(t);
    if (!servers) return;
    const bool gpu = t.local_parameter_device() == proto::TfCnnBenchmarks::GPU && on_gpus();
    servers->placement = Placement::kGreedyBytes;
    servers->push = gpu ? Servers::Relay::kReplicaInTurn : Servers::Relay::kHost;
    servers->pull = gpu ? Servers::Relay::kByLoad : Servers::Relay::kHost;
    servers->asynchronous = !sync;
    if (!sync && t.has_servers_on_workers())
      return complain(
          "workers that do not wait for each other need servers of their own; say workers {{ server: true }} in "
          "the cluster in place of servers_on_workers");
    take(*servers);
  }

  void distributed_replicated(const proto::TfCnnBenchmarks& t) {
    auto servers = on_several_workers(t);
    if (!servers) return;
    const bool gpu = t.local_parameter_device() == proto::TfCnnBenchmarks::GPU && on_gpus();
    servers->placement = Placement::kGreedyBytes;
    servers->push = gpu ? Servers::Relay::kReplicaInTurn : Servers::Relay::kHost;
    servers->pull = Servers::Relay::kHost;
    servers->reads = false;
    take(*servers);
  }

  const proto::Strategy& message_;
  const Cluster& cluster_;
  Fields& fields_;
  Strategy& strategy_;
  std::string mode_;
};

}  // namespace

void check_distribution(const proto::Strategy& s, Fields& fields) {
  const char* const name = field_of(s);
  const bool benchmarks = s.has_tf_cnn_benchmarks();
  const auto refuse = [&](bool said, const char* field) {
    if (said) fields.complain_at(s, field, "strategy: {}: {} decides that by itself; keep one of the two", field, name);
  };
  refuse(!s.algorithm().empty(), "algorithm");
  refuse(s.has_all_reduce_spec() && !benchmarks, "all_reduce_spec");
  refuse(s.has_communication_options(), "communication_options");
  refuse(s.has_hints(), "hints");
  refuse(s.has_collective_all_reduce(), "collective_all_reduce");
  refuse(s.has_bytes_per_pack(), "bytes_per_pack");
  refuse(s.has_num_packs() && !benchmarks, "num_packs");
  refuse(s.has_agg_small_grads_max_bytes() && !benchmarks, "agg_small_grads_max_bytes");
  refuse(s.has_all_reduce_merge_scope() && !benchmarks, "all_reduce_merge_scope");
  refuse(s.collective() != proto::Strategy::ALL_REDUCE, "collective");
  const bool rings =
      benchmarks && s.tf_cnn_benchmarks().variable_update() == proto::TfCnnBenchmarks::COLLECTIVE_ALL_REDUCE;
  refuse(s.shards() > 1 && !rings, "shards");
  // What lies on servers travels as it is, variable by variable.
  const bool on_servers =
      s.has_central_storage() || s.has_parameter_server() ||
      (benchmarks && s.tf_cnn_benchmarks().variable_update() != proto::TfCnnBenchmarks::REPLICATED &&
       s.tf_cnn_benchmarks().variable_update() <= proto::TfCnnBenchmarks::DISTRIBUTED_REPLICATED);
  const auto refuse_there = [&](bool said, const char* field) {
    if (said && on_servers)
      fields.complain_at(
          s, field, "strategy: {}: variables lie on servers, and travel one by one as they are; leave it out", field);
  };
  refuse_there(s.has_compression(), "compression");
  refuse_there(s.pad_packs(), "pad_packs");
  refuse_there(s.out_of_place(), "out_of_place");
  refuse_there(s.merging() != proto::Strategy::MERGING_DEFAULT, "merging");
  refuse_there(s.launch() != proto::Strategy::LAUNCH_DEFAULT, "launch");
  refuse_there(s.update() != proto::Strategy::UPDATE_DEFAULT, "update");
  refuse_there(s.has_channels(), "channels");
}

void lower_distribution(const proto::Strategy& message, const Cluster& cluster, Fields& fields, Strategy& strategy) {
  Lowering(message, cluster, fields, strategy).lower();
}

void take_reduce_to_device(const proto::Strategy& s, const Cluster& cluster, Fields& fields, Strategy& strategy) {
  if (s.drop_odd_device() && !traits(strategy.algorithm).drops_odd_device)
    fields.complain_at(s, "drop_odd_device",
                       "strategy: drop_odd_device: only hierarchical_copy drops one; leave it out");
  strategy.hierarchical_copy.drops_odd = s.drop_odd_device();
  if (s.reduce_to_device().empty()) return;
  if (!traits(strategy.algorithm).chooses_device)
    return fields.complain_at(s, "reduce_to_device",
                              "strategy: reduce_to_device: only reduction_to_one_device has one; leave it out");
  std::vector<std::string> names;
  for (int r = 0; r < cluster.replicas_per_worker(); ++r) {
    names.push_back(cluster.part(cluster.replica(r)).name);
    if (names.back() != s.reduce_to_device()) continue;
    strategy.reduce_to = r;
    return;
  }
  const Machine& machine = cluster.machine(0);
  if (!machine.gpus().empty() && !machine.cpus().empty()) {
    names.push_back(cluster.part(cluster.host(0)).name);
    if (names.back() == s.reduce_to_device()) return strategy.reduce_to.reset();
  }
  fields.complain_at(s, "reduce_to_device",
                     "strategy: reduce_to_device: the first worker has no \"{}\" that takes part; there are {}",
                     s.reduce_to_device(), fmt::join(names, ", "));
}

}  // namespace tutti::core
