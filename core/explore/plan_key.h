#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/edit/scenario_text.h"
#include "core/lowering/plan.h"

namespace tutti::core {

/// True if the setting only decides which gradients share a pack (bytes_per_pack, num_packs,
/// bucket_cap_mb, …), so that it affects a run only through the packs of the plan.
bool decides_packing_only(const FieldPath& field);

/// A 128-bit hash of the packs of a plan: their gradients, order, copies and collectives. If two
/// scenarios differ only in fields that decide packing only, and their plans have the same key,
/// their runs are equal.
using PlanKey = std::array<std::uint64_t, 2>;
PlanKey plan_key(const Plan& plan);

}  // namespace tutti::core
