#pragma once

#include "core/lowering/plan.h"

namespace tutti::core {

/// Puts the packs into launch order, assigns TensorFlow's instance keys if it uses them, and makes
/// serialised packs wait for each other. Serialised collectives are ordered by descending key, so
/// the last one handed over starts first; with bytes_per_pack, packs are handed over last-created
/// first already. REQUIRES: packs in the order of handing over.
/// SOURCE: tensorflow/core/graph/collective_order.cc.
void set_launch_order(const Strategy& strategy, Plan& plan);

}  // namespace tutti::core
