#pragma once

#include <cstdint>

#include "core/lowering/plan.h"

namespace tutti::core {

/// The replicas or servers among which a plan's gradients are reduced.
enum class ReductionScope : std::uint8_t {
  kAllReplicas,   ///< gradients are reduced over all replicas
  kGroups,        ///< gradients are reduced among the replicas that hold the same part of the model
  kServers,       ///< gradients are reduced on servers; replicas wait for each other
  kAsyncServers,  ///< gradients are applied on servers; workers do not wait for each other
  kNoReduction,   ///< gradients are not reduced; every replica keeps its own gradients
};
ReductionScope reduction_scope(const Strategy& strategy, const Plan& plan);

/// True if variables are stored on servers.
inline bool on_servers(ReductionScope who) {
  return who == ReductionScope::kServers || who == ReductionScope::kAsyncServers;
}

/// True if the plan has a collective in which the network's switches reduce (SHARP).
bool network_adds(const Plan& plan);

/// True if the lower bounds of core/strategy/bounds.h apply, because every replica gets the
/// complete sum of all gradients.
bool has_bounds(const Workload& workload, const Strategy& strategy, const Plan& plan);

}  // namespace tutti::core
