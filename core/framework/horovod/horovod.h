#pragma once

#include "core/framework/registry.h"
#include "core/plan/gate/cycle_gate.h"

namespace tutti::core {

/// The settings of Horovod, with Horovod's names (core/proto/framework has units and defaults).
struct Horovod {
  Bytes fusion_threshold;
  Time cycle;
  std::int32_t cache_capacity = 1024;  ///< number of gradients in the cache
};

/// Returns the settings of Horovod's cycles on this cluster. In each cycle workers agree on the
/// tensors that are ready on all of them: with a response cache by two bitwise ANDs over the cache
/// bits of all ranks, each of ⌈log2 W⌉ rounds there and back; without it, or the first time,
/// requests also go to the coordinator and its responses to all ranks.
/// SOURCE: horovod/common/controller.cc, ComputeResponseList, CoordinateCacheAndState.
CycleRule::Settings cycles_of(const Horovod& horovod, const Workload& workload,
                              const Cluster& cluster);

std::shared_ptr<const Framework> horovod(const Horovod& options);

FrameworkKind horovod_kind();

}  // namespace tutti::core
