#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Sorts the packs into launch order, assigns TensorFlow's instance keys if the strategy uses them,
/// and makes each serially launched pack wait for the previous pack. If Strategy::launch_order asks
/// for descending keys, the packs start in the reverse of the order in which TensorFlow passes them
/// to its runtime. REQUIRES: the packs are in the order in which TensorFlow passes them to its
/// runtime. SOURCE: tensorflow/core/graph/collective_order.cc.
void set_launch_order(const Strategy& strategy, Plan& plan);

}  // namespace tutti::core
