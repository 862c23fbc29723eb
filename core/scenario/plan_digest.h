#pragma once

#include <cstdint>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns a digest of the cluster's shape, every pack with its gradients and order, and the steps
/// of the schedules. Two programs with the same digest for a scenario have derived the same plan,
/// unless the hashes collide. The digest (64 bits of FNV-1a) does not protect against forgery.
/// Computation times are not included, because they are values of the scenario, and no message
/// depends on them. Cost: reads at most about a million steps of the schedules. If there are more
/// steps, the digest includes an evenly spread sample of the steps.
std::uint64_t plan_digest(const Scenario& scenario);

}  // namespace tutti::core
