#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/algorithm/tf_ring.h"
#include "core/base/data_type.h"
#include "core/cluster/cluster.h"

namespace tutti::core {

/// The settings of TensorFlow's collective runtime (strategy { tf_ring { … } }).
struct TfRuntime {
  std::vector<std::int32_t> subdiv_offsets;  ///< offsets of the rings; empty:
                                             ///< max_subdivs_per_device determines the number of
                                             ///< rings
  std::optional<int> max_subdivs_per_device;
  Bytes align{64};  ///< alignment of chunks
  /// True if tasks are ordered by name, so that task 10 comes before task 2.
  bool tasks_by_name = true;
  std::string gpu_ring_order;
};

/// Returns the devices of a task in the order in which TensorFlow's rings visit them. In
/// TensorFlow, a GPU advertises a link of strength 1 to each GPU whose memory it can access. Tutti
/// assumes that a GPU can access the memory of every GPU to which a route without a CPU leads. CPUs
/// advertise no links.
/// SOURCE: tensorflow/core/common_runtime/gpu/gpu_device.cc (GetInterconnectMaps),
/// collective_param_resolver_local.cc.
std::vector<std::int32_t> device_order(const Machine& machine, int replicas,
                                       const std::string& gpu_ring_order);

/// True if the devices of all workers' machines have the same order. If the orders differ, Tutti
/// orders devices by name.
bool same_device_order(const Cluster& cluster, const TfRuntime& runtime);

/// Returns the order of the cluster's replicas in TensorFlow's runtime.
TaskOrder task_order(const Cluster& cluster, const TfRuntime& runtime);

/// Returns the rings of a reduction of `bytes` bytes. `shards` = 2 stands for tf_cnn_benchmarks'
/// collective#2: a second ring in the opposite direction, shifted by half of a worker's devices.
std::vector<Subdivision> subdivisions(const Cluster& cluster, const TfRuntime& runtime, int shards,
                                      Bytes bytes);

}  // namespace tutti::core
