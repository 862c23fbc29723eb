#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/cluster/cluster.h"
#include "core/framework/tensorflow/cross_device_ops.h"
#include "core/framework/tensorflow/variable_partitioner.h"
#include "core/strategy/strategy.h"
#include "core/text/places.h"

namespace tutti::core {

// The strategies of tf.distribute and the modes of tf_cnn_benchmarks, which determine the devices
// that hold the variables (core/proto/framework/tensorflow.proto). MultiWorkerMirroredStrategy is
// in collective_all_reduce.h.

struct OneDevice {};

struct Mirrored {
  std::optional<CrossDeviceOps> cross_device_ops;  ///< nullopt: TensorFlow's default
  std::optional<std::int64_t> num_packs;
  bool tf_1_15 = false;
  bool nccl_kernels = true;
};

struct CentralStorage {};

struct ParameterServer {
  Placement placement = Placement::kRoundRobin;
  bool caches_on_cpu = false;
  std::optional<VariablePartitioner> partitioner;
};

struct TfCnnBenchmarks {
  enum class VariableUpdate : std::uint8_t {
    kParameterServer,
    kReplicated,
    kDistributedReplicated,
    kDistributedAllReduce,
    kCollectiveAllReduce,
    kIndependent,
  };
  VariableUpdate variable_update = VariableUpdate::kParameterServer;
  bool on_cpu = false;  ///< the flag local_parameter_device
  std::optional<bool> cross_replica_sync;
  bool hierarchical_copy = false;
  bool gcp_v100 = false;  ///< the flag network_topology
  std::optional<std::int64_t> servers_on_workers;
};
/// Returns the value of the flag variable_update, such as "parameter_server".
std::string_view to_string(TfCnnBenchmarks::VariableUpdate mode);

using Distribution =
    std::variant<OneDevice, Mirrored, CentralStorage, ParameterServer, TfCnnBenchmarks>;
/// Returns the name of the distribution's field in strategy.tensorflow, such as "mirrored".
std::string_view field_of(const Distribution& distribution);

/// Sets all fields of `strategy` that this strategy of tf.distribute, or mode of tf_cnn_benchmarks,
/// determines on this cluster. ERRORS: if TensorFlow does not support the distribution on this
/// cluster, adds a complaint at the distribution's field, with TensorFlow's own message and a
/// remedy.
void lower_distribution(const Distribution& distribution, const Cluster& cluster,
                        Strategy& strategy, Complaints& complaints);

}  // namespace tutti::core
