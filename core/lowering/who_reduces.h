#pragma once

#include <cstdint>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Among whom a plan's gradients come together.
enum class WhoReduces : std::uint8_t {
  kAllReplicas,       ///< by collectives over all of them
  kGroups,            ///< those that hold the same part of the model
  kServers,           ///< where variables lie; all replicas wait for each other
  kServersAtOwnPace,  ///< likewise, but worker by worker: none waits for another
  kNobody,            ///< every replica keeps its own
};
WhoReduces who_reduces(const Strategy& strategy, const Plan& plan);

/// Variables lie on servers.
inline bool on_servers(WhoReduces who) { return who == WhoReduces::kServers || who == WhoReduces::kServersAtOwnPace; }

/// A network that reduces (SHARP) is there for some collective of the plan's.
bool network_adds(const Plan& plan);

/// The least possible times (core/strategy/bounds.h) are those of it: every replica gets the sum of all gradients, whole, and updates by
/// itself.
bool has_bounds(const Workload& workload, const Strategy& strategy, const Plan& plan);

}  // namespace tutti::core
