#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/edit/scenario_text.h"
#include "core/lowering/plan.h"

namespace tutti::core {

/// True if the setting decides only which gradients share a pack (bytes_per_pack, num_packs,
/// bucket_cap_mb, …). A packing setting affects a run only through the packs of the plan.
bool decides_packing_only(const FieldPath& field);

/// A 128-bit hash of the packs of a plan: their gradients, order, copies and collectives. Two
/// scenarios have equal runs if their plans have the same key and the scenarios differ only in
/// fields that decide packing.
using PlanKey = std::array<std::uint64_t, 2>;
PlanKey plan_key(const Plan& plan);

}  // namespace tutti::core
