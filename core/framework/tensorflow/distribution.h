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

// Strategies of tf.distribute, and modes of tf_cnn_benchmarks, that say who holds the variables (core/proto/framework/tensorflow.proto).
// MultiWorkerMirroredStrategy is CollectiveAllReduce.

struct OneDevice {};

struct Mirrored {
  std::optional<CrossDeviceOps> cross_device_ops;  ///< nothing: as TensorFlow chooses
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
  bool on_cpu = false;  ///< local_parameter_device
  std::optional<bool> cross_replica_sync;
  bool hierarchical_copy = false;
  bool gcp_v100 = false;  ///< network_topology
  std::optional<std::int64_t> servers_on_workers;
};
/// "parameter_server", …: as the flag has it.
std::string_view to_string(TfCnnBenchmarks::VariableUpdate mode);

using Distribution = std::variant<OneDevice, Mirrored, CentralStorage, ParameterServer, TfCnnBenchmarks>;
/// The field of a strategy's `tensorflow` that says it: "mirrored".
std::string_view field_of(const Distribution& distribution);

/// Makes `strategy` what the strategy of tf.distribute or the mode of tf_cnn_benchmarks is on `cluster`.
/// ERRORS (complaints, at the field): clusters that it does not work on, as TensorFlow says it, with the remedy.
void lower_distribution(const Distribution& distribution, const Cluster& cluster, Strategy& strategy,
                        Complaints& complaints);

}  // namespace tutti::core
