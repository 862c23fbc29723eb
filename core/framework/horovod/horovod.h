#pragma once

#include "core/framework/registry.h"
#include "core/plan/gate/cycle_gate.h"

namespace tutti::core {

/// The settings of Horovod, with Horovod's names. core/proto/framework documents their units and
/// defaults.
struct Horovod {
  Bytes fusion_threshold;
  Time cycle;
  std::int32_t cache_capacity = 1024;  ///< number of gradients that the response cache can hold
};

/// Returns the settings of Horovod's cycles on this cluster. In each cycle, all W workers agree on
/// the tensors that are ready on every worker. For tensors in the response cache, the ranks compute
/// two bitwise ANDs over their cache bits. Each AND takes 2 · ⌈log2 W⌉ network latencies. For
/// tensors that are not in the cache, the ranks send requests to the coordinator, which sends
/// responses to all ranks. The requests and responses take another 2 · ⌈log2 W⌉ latencies. If the
/// cache capacity is 0, there are only requests and responses. SOURCE:
/// horovod/common/controller.cc, ComputeResponseList, CoordinateCacheAndState.
CycleRule::Settings cycles_of(const Horovod& horovod, const Workload& workload,
                              const Cluster& cluster);

std::shared_ptr<const Framework> horovod(const Horovod& options);

FrameworkKind horovod_kind();

}  // namespace tutti::core
