#pragma once

#include <cstdint>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns a digest of a plan: the shape of the cluster, all packs with their gradients and order,
/// all exchanges, and the steps of the schedules. If two programs compute the same digest for a
/// scenario, they have made the same packs, exchanges and schedules (unless the hashes collide).
/// The digest is a 64-bit FNV-1a hash, so it does not protect against forgery. The digest does not
/// include computation times, which are values of the scenario, because no message depends on them.
/// Cost: at most about a million steps of the schedules are read. If there are more steps, only a
/// sample at regular distances is included.
std::uint64_t plan_digest(const Scenario& scenario);

}  // namespace tutti::core
