#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Sets the packs that wait for each other. Assigns TensorFlow's instance keys if the strategy uses
/// them. If packs are launched serially and
/// are not fused, also sorts them into launch order, and makes each pack wait for the previous one.
/// If Strategy::launch_order asks for descending keys, the packs start in the reverse of the order
/// in which TensorFlow passes them to its runtime. With concurrent launches and NCCL, the packs of
/// one communicator wait for each other. REQUIRES: the packs are in the order in which
/// TensorFlow passes them to its runtime. SOURCE: tensorflow/core/graph/collective_order.cc.
void set_launch_order(const Strategy& strategy, Plan& plan);

}  // namespace tutti::core
