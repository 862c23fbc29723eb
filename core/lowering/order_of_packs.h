#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Determines which packs wait for which other packs (Pack::after). Assigns TensorFlow's instance
/// keys if the strategy uses them. If packs are launched serially and are not fused, also sorts
/// them into launch order, and makes each pack wait for the previous one. If Strategy::launch_order
/// asks for descending keys, the packs start in the reverse of the order in which TensorFlow passes
/// them to its runtime. If packs are launched concurrently, as their gradients become ready, and
/// share NCCL's communicators, sorts them into the order in which they become ready; each pack then
/// waits for the previous pack of its communicator. REQUIRES: the packs are in the order in which
/// TensorFlow passes them to its runtime. SOURCE: tensorflow/core/graph/collective_order.cc.
void set_launch_order(const Strategy& strategy, const Workload& workload, Plan& plan);

}  // namespace tutti::core
