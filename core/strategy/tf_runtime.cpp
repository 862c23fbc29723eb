#include "core/strategy/tf_runtime.h"

#include <algorithm>
#include <numeric>

namespace tutti::core {
namespace {

/// True if the two devices can access each other's memory, that is, if the route between them
/// contains no CPU.
bool are_peers(const Machine& machine, int from, int to) {
  const auto route = machine.route(from, to);
  if (!route || route->empty()) return false;
  return std::none_of(route->begin(), route->end(), [&](int link) {
    const int end = machine.links()[link].to;
    return machine.parts()[end].kind == PartKind::kCpu;
  });
}

std::vector<std::int32_t> by_name(int replicas) {
  std::vector<std::int32_t> order;
  for (int i = 0; i < replicas; ++i)
    order.push_back(static_cast<std::int32_t>(number_by_name(i, replicas)));
  return order;
}

}  // namespace

std::vector<std::int32_t> device_order(const Machine& machine, int replicas,
                                       const std::string& gpu_ring_order) {
  std::vector<std::int32_t> names = by_name(replicas);
  if (machine.gpus().empty()) return names;
  std::vector<LinkedDevice> devices;
  for (const std::int32_t gpu : names) {
    LinkedDevice& device = devices.emplace_back();
    device.number = gpu;
    for (int peer = 0; peer < replicas; ++peer) {
      if (peer != gpu && are_peers(machine, machine.gpus()[gpu], machine.gpus()[peer]))
        device.links.push_back({peer, 1});
    }
  }
  const std::vector<int> order = ring_device_order(devices, gpu_ring_order);
  return {order.begin(), order.end()};
}

bool same_device_order(const Cluster& cluster, const TfRuntime& runtime) {
  const auto order = [&](const WorkerGroup& group) {
    return device_order(*group.machine, cluster.replicas_per_worker(), runtime.gpu_ring_order);
  };
  return std::all_of(
      cluster.groups().begin(), cluster.groups().end(),
      [&](const WorkerGroup& group) { return order(group) == order(cluster.groups().front()); });
}

TaskOrder task_order(const Cluster& cluster, const TfRuntime& runtime) {
  const int replicas = cluster.replicas_per_worker();
  return {static_cast<std::int32_t>(cluster.workers()),
          same_device_order(cluster, runtime)
              ? device_order(cluster.machine(0), replicas, runtime.gpu_ring_order)
              : by_name(replicas),
          runtime.tasks_by_name};
}

std::vector<Subdivision> subdivisions(const Cluster& cluster, const TfRuntime& runtime, int shards,
                                      Bytes bytes) {
  const int per_worker = cluster.replicas_per_worker();
  std::vector<std::int32_t> offsets = runtime.subdiv_offsets;
  if (offsets.empty() && runtime.max_subdivs_per_device) {
    offsets = subdivision_offsets(bytes.count(), cluster.replicas(), cluster.workers(),
                                  *runtime.max_subdivs_per_device);
  } else if (offsets.empty()) {
    offsets = {0};
    if (shards == 2 && per_worker > 1) offsets.push_back(-(per_worker / 2));
  }
  std::vector<Subdivision> rings;
  for (const std::int32_t offset : offsets) rings.push_back({offset});
  return rings;
}

}  // namespace tutti::core
