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

/// The settings of TensorFlow's collective runtime (`tf_ring` of a scenario's strategy).
struct TfRuntime {
  std::vector<std::int32_t> subdiv_offsets;  ///< one offset for each ring; empty: the rings follow
                                             ///< from max_subdivs_per_device or, if that is unset,
                                             ///< from the strategy's shards
  std::optional<int> max_subdivs_per_device;
  Bytes align{64};  ///< alignment of chunks
  /// True if tasks are sorted by name, so that task 10 comes before task 2.
  bool tasks_by_name = true;
  std::string gpu_ring_order;
};

/// Returns the devices of a task in the order in which TensorFlow's rings pass through them. In
/// TensorFlow, a GPU reports a link of strength 1 to each GPU whose memory it can access. Tutti
/// assumes that a GPU can access the memory of every GPU to which a route without a CPU leads. CPUs
/// report no links.
/// SOURCE: tensorflow/core/common_runtime/gpu/gpu_device.cc (GetInterconnectMaps),
/// collective_param_resolver_local.cc.
std::vector<std::int32_t> device_order(const Machine& machine, int replicas,
                                       const std::string& gpu_ring_order);

/// True if the order of devices is the same on all machines of the cluster. If the machines have
/// different orders, Tutti sorts devices by name.
bool same_device_order(const Cluster& cluster, const TfRuntime& runtime);

/// Returns the order in which TensorFlow's runtime arranges the replicas of the cluster.
TaskOrder task_order(const Cluster& cluster, const TfRuntime& runtime);

/// Returns the rings of an all-reduce of `bytes` bytes. `shards` = 2 means collective#2 of
/// tf_cnn_benchmarks: a second ring in the opposite direction, shifted by half of a worker's
/// devices.
std::vector<Subdivision> subdivisions(const Cluster& cluster, const TfRuntime& runtime, int shards,
                                      Bytes bytes);

}  // namespace tutti::core
