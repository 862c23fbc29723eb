// Reads a strategy of tf.distribute, or a mode (`variable_update`) of tf_cnn_benchmarks with its
// flags. The result has only the user's choices and TensorFlow's defaults. Other files of this
// folder derive packs and algorithms from these choices. If a flag has no effect in the chosen
// mode, it is reported as a problem. Fields of the strategy that have no effect are problems too:
// with variables on servers, each variable is sent separately and unchanged. Limits that depend on
// the cluster are checked later.

#include "core/framework/tensorflow/distribution_reader.h"

#include <limits>

#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

Mirrored mirrored_from(const proto::MirroredStrategy& message) {
  Mirrored mirrored;
  switch (message.cross_device_ops()) {
    case proto::MirroredStrategy::NCCL_ALL_REDUCE:
      mirrored.cross_device_ops = CrossDeviceOps::kNcclAllReduce;
      break;
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

constexpr std::int64_t kMaxPartsOrAxes = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxPartBytes = std::int64_t{1} << 50;

/// If the partitioner is incomplete, reports a problem and returns nullopt.
std::optional<VariablePartitioner> partitioner_from(const proto::VariablePartitioner& message,
                                                    Fields& fields) {
  VariablePartitioner partitioner;
  const auto axis_of = [&](const auto& rule, const char* what) {
    partitioner.axis = fields.integer(rule, "axis", what, 0, kMaxPartsOrAxes).value_or(0);
  };
  switch (message.rule_case()) {
    case proto::VariablePartitioner::kFixedSize: {
      const auto& rule = message.fixed_size();
      if (!rule.has_num_shards()) {
        fields.complain_at(
            rule, "num_shards", ProblemCode::kMissing,
            "fixed_size: num_shards is missing; set the number of parts of each variable");
        return std::nullopt;
      }
      axis_of(rule, "fixed_size");
      const auto shards = fields.integer(rule, "num_shards", "fixed_size", 1, kMaxPartsOrAxes);
      if (!shards) return std::nullopt;
      partitioner.rule = FixedSize{*shards};
      return partitioner;
    }
    case proto::VariablePartitioner::kMinMaxVariable: {
      const auto& rule = message.min_max_variable();
      axis_of(rule, "min_max_variable");
      MinMaxVariable made;
      made.max_partitions =
          fields.integer(rule, "max_partitions", "min_max_variable", 1, kMaxPartsOrAxes)
              .value_or(made.max_partitions);
      made.min_slice_bytes =
          fields.integer(rule, "min_slice_bytes", "min_max_variable", 1, kMaxPartBytes)
              .value_or(made.min_slice_bytes);
      partitioner.rule = made;
      return partitioner;
    }
    case proto::VariablePartitioner::kVariableAxisSize: {
      const auto& rule = message.variable_axis_size();
      if (!rule.has_max_shard_bytes()) {
        fields.complain_at(
            rule, "max_shard_bytes", ProblemCode::kMissing,
            "variable_axis_size: max_shard_bytes is missing; set the size of the largest part");
        return std::nullopt;
      }
      axis_of(rule, "variable_axis_size");
      const auto bytes =
          fields.integer(rule, "max_shard_bytes", "variable_axis_size", 1, kMaxPartBytes);
      if (!bytes) return std::nullopt;
      partitioner.rule = VariableAxisSize{
          *bytes, fields.integer(rule, "max_shards", "variable_axis_size", 1, kMaxPartsOrAxes)};
      return partitioner;
    }
    default:
      fields.complain(
          message, ProblemCode::kMissing,
          "variable_partitioner: the kind is missing; set a kind, such as fixed_size {{ "
          "num_shards: 2 }}");
      return std::nullopt;
  }
}

ParameterServer parameter_server_from(const proto::ParameterServerStrategy& message,
                                      Fields& fields) {
  ParameterServer servers;
  if (message.placement() == proto::ParameterServerStrategy::GREEDY_BY_BYTES)
    servers.placement = Placement::kGreedyBytes;
  if (message.has_variable_partitioner())
    servers.partitioner = partitioner_from(message.variable_partitioner(), fields);
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
  // The upper limit depends on the cluster and is checked later.
  if (message.has_servers_on_workers()) flags.servers_on_workers = message.servers_on_workers();
  return flags;
}

/// Reports the flags that do not belong to the chosen mode.
void check_flags(const proto::TfCnnBenchmarks& t, std::string_view mode_name, Fields& fields) {
  using Mode = proto::TfCnnBenchmarks;
  const auto refuse = [&](bool given, const char* flag, const char* whose) {
    if (given)
      fields.complain_at(
          t, flag, ProblemCode::kUnused,
          "tf_cnn_benchmarks: {}: {} does not have this option (only {} it); remove this option",
          flag, mode_name, whose);
  };
  const auto mode = t.variable_update();
  refuse(t.hierarchical_copy() && mode != Mode::REPLICATED, "hierarchical_copy", "replicated has");
  refuse(t.network_topology() != Mode::DGX1 && !t.hierarchical_copy(), "network_topology",
         "hierarchical_copy has");
  const bool shared = mode == Mode::PARAMETER_SERVER || mode == Mode::DISTRIBUTED_REPLICATED;
  refuse(t.has_cross_replica_sync() && mode != Mode::PARAMETER_SERVER, "cross_replica_sync",
         "parameter_server has");
  refuse(t.has_servers_on_workers() && !shared, "servers_on_workers",
         "parameter_server and distributed_replicated have");
  refuse(t.local_parameter_device() == Mode::CPU && !shared && mode != Mode::REPLICATED,
         "local_parameter_device", "parameter_server, replicated and distributed_replicated have");
  const bool reduces_by_spec = mode == Mode::REPLICATED || mode == Mode::DISTRIBUTED_ALL_REDUCE;
  refuse(t.has_all_reduce_spec() && !reduces_by_spec, "all_reduce_spec",
         "replicated and distributed_all_reduce have");
  refuse(t.shards() > 1 && mode != Mode::COLLECTIVE_ALL_REDUCE, "shards",
         "collective_all_reduce has");
  const bool packs = t.has_all_reduce_spec() ||
                     (mode == Mode::REPLICATED && t.hierarchical_copy()) ||
                     mode == Mode::COLLECTIVE_ALL_REDUCE;
  for (const char* field : {"gradient_repacking", "agg_small_grads_max_bytes"}) {
    if (fields.has(t, field) && !packs)
      fields.complain_at(
          t, field, ProblemCode::kUnused,
          "tf_cnn_benchmarks: {} has no effect, because {} reduces each gradient separately; "
          "remove this option, or use replicated with all_reduce_spec or hierarchical_copy",
          field, mode_name);
  }
}

[[nodiscard]] bool is_on_servers(const proto::TensorFlow& message) {
  using Mode = proto::TfCnnBenchmarks;
  const auto mode = message.tf_cnn_benchmarks().variable_update();
  return message.has_central_storage() || message.has_parameter_server() ||
         (message.has_tf_cnn_benchmarks() &&
          (mode == Mode::PARAMETER_SERVER || mode == Mode::DISTRIBUTED_REPLICATED));
}

/// Reports fields of the strategy that have no effect if variables are on servers, because each
/// variable is then sent separately and unchanged.
void check_servers(const proto::Strategy& s, Fields& fields) {
  const auto refuse = [&](bool given, const char* field) {
    if (given)
      fields.complain_at(s, field, ProblemCode::kUnused,
                         "strategy: {} has no effect, because variables on servers are sent "
                         "separately and unchanged; remove this field",
                         field);
  };
  refuse(s.has_compression(), "compression");
  refuse(s.pad_packs(), "pad_packs");
  refuse(s.out_of_place(), "out_of_place");
  refuse(s.merging() != proto::Strategy::MERGING_DEFAULT, "merging");
  refuse(s.launch() != proto::Strategy::LAUNCH_DEFAULT, "launch");
  refuse(s.update() != proto::Strategy::UPDATE_DEFAULT, "update");
  refuse(s.has_channels(), "channels");
}

}  // namespace

std::optional<Distribution> distribution_from(const proto::Strategy& s, Fields& fields) {
  const proto::TensorFlow& message = s.tensorflow();
  std::optional<Distribution> distribution;
  switch (message.strategy_case()) {
    case proto::TensorFlow::kOneDevice: distribution = OneDevice(); break;
    case proto::TensorFlow::kMirrored: distribution = mirrored_from(message.mirrored()); break;
    case proto::TensorFlow::kCentralStorage: distribution = CentralStorage(); break;
    case proto::TensorFlow::kParameterServer:
      distribution = parameter_server_from(message.parameter_server(), fields);
      break;
    case proto::TensorFlow::kTfCnnBenchmarks: {
      const TfCnnBenchmarks flags = tf_cnn_benchmarks_from(message.tf_cnn_benchmarks());
      check_flags(message.tf_cnn_benchmarks(), to_string(flags.variable_update), fields);
      distribution = flags;
      break;
    }
    default: return std::nullopt;
  }
  if (is_on_servers(message)) check_servers(s, fields);
  return distribution;
}

}  // namespace tutti::core
