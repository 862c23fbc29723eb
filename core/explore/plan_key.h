#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/edit/scenario_text.h"
#include "core/lowering/plan.h"

namespace tutti::core {

/// Settings that decide nothing but which gradients travel together: what they do to a run, they do through the plan's packs.
/// (bytes_per_pack, num_packs, bucket_cap_mb, …)
bool decides_packing_only(const FieldPath& field);

/// A number of 128 bits that two plans share only if their packs are the same: their gradients, order, copies and collectives'
/// sizes. REQUIRES, for the same to hold of their runs: they are of scenarios that differ in nothing but fields that decide
/// packing only.
using PlanKey = std::array<std::uint64_t, 2>;
PlanKey plan_key(const Plan& plan);

}  // namespace tutti::core
