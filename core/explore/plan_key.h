#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/edit/scenario_text.h"
#include "core/lowering/plan.h"

namespace tutti::core {

/// True if the setting decides only which gradients share a pack (bytes_per_pack, num_packs,
/// bucket_cap_mb, …). If such a setting changes but the packs of the plan stay the same, the run
/// also stays the same.
bool decides_packing_only(const FieldPath& field);

/// A 128-bit hash of the packs of a plan: their gradients, order, copies and collectives. Two
/// scenarios that differ only in fields for which decides_packing_only() is true have identical
/// runs if their plans have the same key.
using PlanKey = std::array<std::uint64_t, 2>;
PlanKey plan_key(const Plan& plan);

}  // namespace tutti::core
