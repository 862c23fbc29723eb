#pragma once

#include <cstdint>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// A digest on which two programs agree only if they derive the same plan from a scenario: the
/// cluster's shape, every pack with its gradients and order, and the steps of the schedules. It
/// does not protect against forgery (64 bits of FNV-1a). Computation times are not included: they
/// are values of the scenario, and no message depends on them. Cost: it reads at most about a
/// million steps of the schedules; if there are more, evenly spread ones.
std::uint64_t plan_digest(const Scenario& scenario);

}  // namespace tutti::core
