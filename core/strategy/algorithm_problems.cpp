#include "core/strategy/algorithm_problems.h"

#include <fmt/format.h>

#include "core/custom/custom_algorithm.h"

namespace tutti::core {

void find_tf_ring_problems(const Strategy& strategy, const Cluster& cluster,
                           std::vector<StrategyProblem>& problems) {
  const TfRuntime& runtime = strategy.tf_runtime;
  const int per_worker = cluster.replicas_per_worker();
  if (strategy.shards > 2) {
    problems.push_back(
        {"shards",
         fmt::format("shards of tf_ring must be 1, or 2 as in collective#2 of tf_cnn_benchmarks "
                     "(got {}); set tf_ring {{ subdiv_offsets: … }} for more rings",
                     strategy.shards)});
  }
  const int given = (strategy.shards > 1 ? 1 : 0) + (runtime.subdiv_offsets.empty() ? 0 : 1) +
                    (runtime.max_subdivs_per_device ? 1 : 0);
  if (given > 1) {
    problems.push_back({"tf_ring",
                        "shards, subdiv_offsets and max_subdivs_per_device all set the number of "
                        "rings; keep one"});
  }
  if (strategy.collective != CollectiveKind::kAllReduce &&
      (strategy.shards > 1 || runtime.max_subdivs_per_device ||
       (!runtime.subdiv_offsets.empty() &&
        runtime.subdiv_offsets != std::vector<std::int32_t>{0}))) {
    problems.push_back({"tf_ring", fmt::format("only the all-reduce supports several rings or an "
                                               "offset; TensorFlow's {} has one ring with offset 0",
                                               to_string(strategy.collective))});
  }
  for (const std::int32_t offset : runtime.subdiv_offsets) {
    if (offset > -per_worker && offset < per_worker) continue;
    problems.push_back(
        {"tf_ring", fmt::format("subdiv_offsets: {} rotates a ring by more than the {} devices of "
                                "a worker; use {} to {}",
                                offset, per_worker, 1 - per_worker, per_worker - 1)});
  }
  std::vector<LinkedDevice> devices(per_worker);
  for (int i = 0; i < per_worker; ++i) devices[i].number = i;
  if (!runtime.gpu_ring_order.empty() && !names_each_once(devices, runtime.gpu_ring_order)) {
    problems.push_back(
        {"tf_ring",
         fmt::format(
             "gpu_ring_order: \"{}\" does not list each of the {} devices of a worker once, so "
             "TensorFlow ignores it; list 0 to {} in some order, separated by commas, or remove "
             "gpu_ring_order",
             runtime.gpu_ring_order, per_worker, per_worker - 1)});
  }
  if (strategy.pad_packs) {
    problems.push_back({"pad_packs",
                        "tf_ring needs no padding, because it divides packs of any length into "
                        "aligned chunks; remove pad_packs"});
  }
}

void find_reduction_to_one_device_problems(const Strategy& strategy, const Cluster& cluster,
                                           std::vector<StrategyProblem>& problems) {
  if (!strategy.reduce_to || *strategy.reduce_to < cluster.replicas()) return;
  problems.push_back(
      {"reduce_to_device",
       fmt::format("the device holds none of the {} replicas; use a device that holds a replica",
                   cluster.replicas())});
}

void find_hierarchical_copy_problems(const Strategy& strategy, const Cluster& cluster,
                                     std::vector<StrategyProblem>& problems) {
  const int devices = cluster.replicas_per_worker();
  if (cluster.workers() > 1) {
    problems.push_back(
        {"algorithm", fmt::format("hierarchical_copy supports only the GPUs of one machine (got {} "
                                  "workers); use nccl, or nccl/xring across workers",
                                  cluster.workers())});
  } else if (devices < 2) {
    problems.push_back({"algorithm",
                        "hierarchical_copy needs at least two devices (TensorFlow: add_n of an "
                        "empty list); use reduction_to_one_device"});
  }
  if (strategy.hierarchical_copy.topology == HierarchicalCopy::Topology::kGcpV100 && devices != 8) {
    problems.push_back(
        {"tf_cnn_benchmarks",
         fmt::format("network_topology: GCP_V100 needs 8 GPUs (got {}); use DGX1", devices)});
  }
}

void find_custom_problems(const Strategy& strategy, const Cluster&,
                          std::vector<StrategyProblem>& problems) {
  if (!strategy.custom || strategy.custom->text->kind() == strategy.collective) return;
  problems.push_back(
      {"custom", fmt::format("\"{}\" describes the collective {}, but the strategy uses {}; name a "
                             "file of this collective, or set another collective",
                             strategy.custom->file, to_string(strategy.custom->text->kind()),
                             to_string(strategy.collective))});
}

}  // namespace tutti::core
