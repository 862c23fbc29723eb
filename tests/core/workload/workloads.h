#pragma once

// Small workloads on one GPU, whose times can be computed by hand.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/workload/workload.h"

namespace tutti::test {

/// Returns a cluster of one GPU, whose memory moves 1 GB/s.
inline core::Cluster one_gpu(std::map<core::Precision, double> flops = {
                                 {core::Precision::kFloat32, 1e12}}) {
  using namespace core;
  Part gpu;
  gpu.name = "gpu0";
  gpu.device = {Bandwidth(1'000'000'000), Bandwidth(333'333'333), Bandwidth(500'000'000), 1,
                std::move(flops)};
  auto machine =
      std::make_shared<const Machine>("m", std::vector<Part>{gpu}, std::vector<MachineLink>{},
                                      std::vector<RingOrder>{}, std::vector<RingOrder>{});
  return Cluster({{machine, 1}}, 1, std::nullopt);
}

/// Returns a variable without a shape, so that the activations of its layer are unknown.
inline core::Variable variable(const std::string& name, std::int64_t elements, std::int64_t layer,
                               double forward_flops, double backward_flops) {
  core::Variable v;
  v.name = name;
  v.elements = elements;
  v.layer = layer;
  v.forward_flops = forward_flops;
  v.backward_flops = backward_flops;
  return v;
}

/// Returns the options of a model with three layers of a few weights.
inline core::WorkloadOptions three_layers() {
  core::WorkloadOptions options;
  options.model.name = "m";
  options.model.variables = {variable("a", 10, 0, 1e6, 2e6), variable("b", 20, 1, 2e6, 4e6),
                             variable("b2", 5, 1, 0, 1e6), variable("c", 30, 2, 3e6, 6e6)};
  return options;
}

}  // namespace tutti::test
