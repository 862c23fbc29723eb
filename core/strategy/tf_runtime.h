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

/// What TensorFlow's collective runtime leaves to be set (strategy { tf_ring { … } }).
struct TfRuntime {
  std::vector<std::int32_t> subdiv_offsets;  ///< one ring each; empty: one ring, or by what follows
  std::optional<int> max_subdivs_per_device;
  Bytes align{64};            ///< of chunks
  bool tasks_by_name = true;  ///< task 10 comes before task 2
  std::string gpu_ring_order;
};

/// The devices of a task in the order in which TensorFlow's rings visit them. GPUs advertise a link of strength 1 to each GPU
/// whose memory they can access, which here are those that no CPU lies between; CPUs advertise none.
/// SOURCE: tensorflow/core/common_runtime/gpu/gpu_device.cc (GetInterconnectMaps), collective_param_resolver_local.cc.
std::vector<std::int32_t> device_order(const Machine& machine, int replicas, const std::string& gpu_ring_order);

/// Whether all workers' machines have their devices in the same order; if not, Tutti takes them by their names.
bool same_device_order(const Cluster& cluster, const TfRuntime& runtime);

/// Where the runtime puts the replicas of the cluster.
TaskOrder task_order(const Cluster& cluster, const TfRuntime& runtime);

/// The rings of a reduction of `bytes`. `shards`: 2 is tf_cnn_benchmarks' collective#2, a second ring that starts half of
/// the worker's devices further on, the other way about.
std::vector<Subdivision> subdivisions(const Cluster& cluster, const TfRuntime& runtime, int shards, Bytes bytes);

}  // namespace tutti::core
