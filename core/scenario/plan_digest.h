#pragma once

#include <cstdint>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// A number that two programs agree on only if they make the same of a scenario: the cluster's
/// shape, every pack with its gradients and order, and what the schedules do. Not against forgery
/// (64 bits of FNV-1a). Computation times are left out: they are numbers of the scenario, and no
/// message depends on them. Cost: looks at about a million steps of the schedules at the most;
/// where there are more, at evenly spread ones.
std::uint64_t plan_digest(const Scenario& scenario);

}  // namespace tutti::core
