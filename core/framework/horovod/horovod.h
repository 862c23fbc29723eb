#pragma once

#include "core/framework/registry.h"
#include "core/plan/gate/cycle_gate.h"

namespace tutti::core {

/// The settings of Horovod, with the names that Horovod uses. Units and defaults are documented in
/// core/proto/framework.
struct Horovod {
  Bytes fusion_threshold;
  Time cycle;
  std::int32_t cache_capacity = 1024;  ///< capacity of the response cache, in gradients
};

/// Returns the settings of Horovod's cycles on this cluster. In each cycle, the W workers agree on
/// the tensors that are ready on all of them. For tensors in the response cache, the agreement
/// consists of two bitwise ANDs over the cache bits of all ranks. Each AND takes 2 · ⌈log2 W⌉
/// network latencies. For tensors that are not in the cache, requests go to the coordinator and its
/// responses go to all ranks, which takes another 2 · ⌈log2 W⌉ latencies. SOURCE:
/// horovod/common/controller.cc, ComputeResponseList, CoordinateCacheAndState.
CycleRule::Settings cycles_of(const Horovod& horovod, const Workload& workload,
                              const Cluster& cluster);

std::shared_ptr<const Framework> horovod(const Horovod& options);

FrameworkKind horovod_kind();

}  // namespace tutti::core
