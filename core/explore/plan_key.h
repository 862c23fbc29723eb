#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/edit/scenario_text.h"
#include "core/lowering/plan.h"

namespace tutti::core {

/// True if the setting only affects which gradients share a pack, so that it affects a run only
/// through the plan's packs (bytes_per_pack, num_packs, bucket_cap_mb, …).
bool decides_packing_only(const FieldPath& field);

/// A 128-bit hash that two plans share only if their packs are equal: gradients, order, copies and
/// sizes of collectives. Runs of the plans are then equal too. REQUIRES for the latter: their
/// scenarios differ only in fields that decide packing only.
using PlanKey = std::array<std::uint64_t, 2>;
PlanKey plan_key(const Plan& plan);

}  // namespace tutti::core
