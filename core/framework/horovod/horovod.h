#pragma once

#include "core/framework/registry.h"
#include "core/plan/gate/cycle_gate.h"

namespace tutti::core {

/// Horovod, by the names of its settings (core/proto/framework has their units and defaults).
struct Horovod {
  Bytes fusion_threshold;
  Time cycle;
  std::int32_t cache_capacity = 1024;  ///< gradients
};

/// Its cycles on this cluster. In each, workers agree on what is ready on all of them: with a response cache by two bitwise ANDs
/// over everybody's bits, each of ⌈log2 W⌉ rounds there and as many back; without, or the first time, requests besides go to the
/// coordinator and its responses to everybody.
/// SOURCE: horovod/common/controller.cc, ComputeResponseList, CoordinateCacheAndState.
CycleRule::Settings cycles_of(const Horovod& horovod, const Workload& workload, const Cluster& cluster);

std::shared_ptr<const Framework> horovod(const Horovod& options);

FrameworkKind horovod_kind();

}  // namespace tutti::core
