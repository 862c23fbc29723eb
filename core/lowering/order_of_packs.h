#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Puts the packs into the order in which they are launched, gives them TensorFlow's instance keys where it has any, and has serialised ones wait for each
/// other. Serialised collectives are ordered by descending key, so the last one handed over starts first; packs by bytes are handed over last-created
/// first already. REQUIRES: packs as they are handed over.
/// SOURCE: tensorflow/core/graph/collective_order.cc.
void set_launch_order(const Strategy& strategy, Plan& plan);

}  // namespace tutti::core
