#pragma once

#include "core/base/error.h"
#include "core/cluster/cluster.h"
#include "core/synthesis/fabric_graph.h"

namespace tutti::core::synthesis {

/// The largest number of ranks for which schedules are synthesized.
inline constexpr std::int64_t kMaxRanks = 512;

/// The links of a cluster that synthesis takes into account.
enum class FabricLinks {
  kOnRoutes,  ///< only the links on the routes that messages between ranks take
  kAll,       ///< all links of the cluster, as if data could be routed freely
};

/// The fabric between the replicas of a cluster; messages are not staged in host memory.
/// ERRORS: one rank alone; more than kMaxRanks; a rank that cannot be reached over links and ranks.
/// Cost: that of the routes between all pairs of ranks.
Expected<FabricGraph> fabric_of(const Cluster& cluster, FabricLinks links = FabricLinks::kOnRoutes);

}  // namespace tutti::core::synthesis
