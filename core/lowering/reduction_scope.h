#pragma once

#include <cstdint>

#include "core/lowering/plan.h"

namespace tutti::core {

/// The scope in which a plan's gradients are reduced.
enum class ReductionScope : std::uint8_t {
  kAllReplicas,   ///< collectives over all replicas
  kGroups,        ///< collectives among the replicas that hold the same part of the model
  kServers,       ///< on the servers of variables; replicas wait for each other
  kAsyncServers,  ///< on the servers of variables; workers do not wait for each other
  kNobody,        ///< no reduction; every replica keeps its own gradients
};
ReductionScope reduction_scope(const Strategy& strategy, const Plan& plan);

/// True if variables are stored on servers.
inline bool on_servers(ReductionScope who) {
  return who == ReductionScope::kServers || who == ReductionScope::kAsyncServers;
}

/// True if some collective of the plan uses a network that reduces (SHARP).
bool network_adds(const Plan& plan);

/// True if the lower bounds of core/strategy/bounds.h apply: every replica gets the complete sum of
/// all gradients and updates on its own.
bool has_bounds(const Workload& workload, const Strategy& strategy, const Plan& plan);

}  // namespace tutti::core
