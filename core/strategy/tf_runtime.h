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
  std::vector<std::int32_t> subdiv_offsets;  ///< one ring per offset; empty: one ring, or the
                                             ///< number that the next field gives
  std::optional<int> max_subdivs_per_device;
  Bytes align{64};            ///< alignment of chunks
  bool tasks_by_name = true;  ///< tasks are ordered by name, so task 10 comes before task 2
  std::string gpu_ring_order;
};

/// Returns the devices of a task in the order in which TensorFlow's rings visit them. GPUs
/// advertise a link of strength 1 to each GPU whose memory they can access, which here means that
/// no CPU is on the route; CPUs advertise none.
/// SOURCE: tensorflow/core/common_runtime/gpu/gpu_device.cc (GetInterconnectMaps),
/// collective_param_resolver_local.cc.
std::vector<std::int32_t> device_order(const Machine& machine, int replicas,
                                       const std::string& gpu_ring_order);

/// True if all workers' machines have their devices in the same order. If not, Tutti orders them by
/// name.
bool same_device_order(const Cluster& cluster, const TfRuntime& runtime);

/// Returns the order in which the runtime arranges the replicas of the cluster.
TaskOrder task_order(const Cluster& cluster, const TfRuntime& runtime);

/// Returns the rings of a reduction of `bytes`. `shards`: 2 is tf_cnn_benchmarks' collective#2, a
/// second ring in the opposite direction that starts at an offset of half of the worker's devices.
std::vector<Subdivision> subdivisions(const Cluster& cluster, const TfRuntime& runtime, int shards,
                                      Bytes bytes);

}  // namespace tutti::core
