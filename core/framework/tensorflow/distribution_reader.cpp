#include "core/framework/tensorflow/distribution_reader.h"

#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

Mirrored mirrored_from(const proto::MirroredStrategy& message) {
  Mirrored mirrored;
  switch (message.cross_device_ops()) {
    case proto::MirroredStrategy::NCCL_ALL_REDUCE: mirrored.cross_device_ops = CrossDeviceOps::kNcclAllReduce; break;
    case proto::MirroredStrategy::HIERARCHICAL_COPY_ALL_REDUCE:
      mirrored.cross_device_ops = CrossDeviceOps::kHierarchicalCopyAllReduce;
      break;
    case proto::MirroredStrategy::REDUCTION_TO_ONE_DEVICE:
      mirrored.cross_device_ops = CrossDeviceOps::kReductionToOneDevice;
      break;
    default: break;
  }
  if (message.has_num_packs()) mirrored.num_packs = message.num_packs();
  mirrored.tf_1_15 = message.tf_1_15();
  mirrored.nccl_kernels = !message.has_nccl_kernels() || message.nccl_kernels();
  return mirrored;
}

ParameterServer parameter_server_from(const proto::ParameterServerStrategy& message) {
  ParameterServer servers;
  if (message.placement() == proto::ParameterServerStrategy::GREEDY_BY_BYTES)
    servers.placement = Placement::kGreedyBytes;
  servers.caches_on_cpu = message.variable_read_cache() == proto::ParameterServerStrategy::CPU;
  return servers;
}

TfCnnBenchmarks::VariableUpdate mode_from(proto::TfCnnBenchmarks::VariableUpdate mode) {
  using Mode = TfCnnBenchmarks::VariableUpdate;
  switch (mode) {
    case proto::TfCnnBenchmarks::REPLICATED: return Mode::kReplicated;
    case proto::TfCnnBenchmarks::DISTRIBUTED_REPLICATED: return Mode::kDistributedReplicated;
    case proto::TfCnnBenchmarks::DISTRIBUTED_ALL_REDUCE: return Mode::kDistributedAllReduce;
    case proto::TfCnnBenchmarks::COLLECTIVE_ALL_REDUCE: return Mode::kCollectiveAllReduce;
    case proto::TfCnnBenchmarks::INDEPENDENT: return Mode::kIndependent;
    default: return Mode::kParameterServer;
  }
}

TfCnnBenchmarks tf_cnn_benchmarks_from(const proto::TfCnnBenchmarks& message) {
  TfCnnBenchmarks flags;
  flags.variable_update = mode_from(message.variable_update());
  flags.on_cpu = message.local_parameter_device() == proto::TfCnnBenchmarks::CPU;
  if (message.has_cross_replica_sync()) flags.cross_replica_sync = message.cross_replica_sync();
  flags.hierarchical_copy = message.hierarchical_copy();
  flags.gcp_v100 = message.network_topology() == proto::TfCnnBenchmarks::GCP_V100;
  // How many there may be depends on the cluster.
  if (message.has_servers_on_workers()) flags.servers_on_workers = message.servers_on_workers();
  return flags;
}

/// Complains of flags that other modes have.
void check_flags(const TfCnnBenchmarks& options, const proto::Strategy& message, Fields& fields) {
  const proto::TfCnnBenchmarks& t = message.tf_cnn_benchmarks();
  const std::string_view mode_name = to_string(options.variable_update);
  using Mode = proto::TfCnnBenchmarks;
  const auto refuse = [&](bool said, const char* flag, const char* whose) {
    if (said)
      fields.complain_at(t, flag, ProblemCode::kUnused, "tf_cnn_benchmarks: {}: {} has none, only {}; leave it out",
                         flag, mode_name, whose);
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
  if (message.has_all_reduce_spec() && !reduces_by_spec)
    fields.complain_at(message, "all_reduce_spec", ProblemCode::kUnused,
                       "strategy: all_reduce_spec: {} has none; leave it out", mode_name);
  const bool packs = message.has_all_reduce_spec() || (mode == Mode::REPLICATED && t.hierarchical_copy()) ||
                     mode == Mode::COLLECTIVE_ALL_REDUCE;
  for (const char* field : {"num_packs", "agg_small_grads_max_bytes"}) {
    if (fields.has(message, field) && !packs)
      fields.complain_at(message, field, ProblemCode::kUnused,
                         "strategy: {}: {} sends each gradient by itself here; leave it out, or say "
                         "all_reduce_spec or hierarchical_copy",
                         field, mode_name);
  }
}

/// Complains of fields of the strategy that contradict it.
void check_distribution(const Distribution& distribution, const proto::Strategy& s, Fields& fields) {
  const std::string_view name = field_of(distribution);
  const bool benchmarks = s.has_tf_cnn_benchmarks();
  const auto refuse = [&](bool said, const char* field) {
    if (said)
      fields.complain_at(s, field, ProblemCode::kConflict,
                         "strategy: {}: {} decides that by itself; keep one of the two", field, name);
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
      fields.complain_at(s, field, ProblemCode::kUnused,
                         "strategy: {}: variables lie on servers, and travel one by one as they are; leave it out",
                         field);
  };
  refuse_there(s.has_compression(), "compression");
  refuse_there(s.pad_packs(), "pad_packs");
  refuse_there(s.out_of_place(), "out_of_place");
  refuse_there(s.merging() != proto::Strategy::MERGING_DEFAULT, "merging");
  refuse_there(s.launch() != proto::Strategy::LAUNCH_DEFAULT, "launch");
  refuse_there(s.update() != proto::Strategy::UPDATE_DEFAULT, "update");
  refuse_there(s.has_channels(), "channels");
}

}  // namespace

std::optional<Distribution> distribution_from(const proto::Strategy& s, Fields& fields) {
  std::optional<Distribution> distribution;
  switch (s.distribution_case()) {
    case proto::Strategy::kOneDevice: distribution = OneDevice(); break;
    case proto::Strategy::kMirrored: distribution = mirrored_from(s.mirrored()); break;
    case proto::Strategy::kCentralStorage: distribution = CentralStorage(); break;
    case proto::Strategy::kParameterServer: distribution = parameter_server_from(s.parameter_server()); break;
    case proto::Strategy::kTfCnnBenchmarks: distribution = tf_cnn_benchmarks_from(s.tf_cnn_benchmarks()); break;
    case proto::Strategy::DISTRIBUTION_NOT_SET: return std::nullopt;
  }
  check_distribution(*distribution, s, fields);
  if (const auto* flags = std::get_if<TfCnnBenchmarks>(&*distribution)) check_flags(*flags, s, fields);
  return distribution;
}

}  // namespace tutti::core
