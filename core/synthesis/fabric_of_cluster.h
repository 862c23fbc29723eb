#pragma once

#include "core/base/error.h"
#include "core/cluster/cluster.h"
#include "core/synthesis/fabric_graph.h"

namespace tutti::core::synthesis {

/// The maximum number of ranks for which schedules are synthesized.
inline constexpr std::int64_t kMaxSynthesisRanks = 512;

/// Selects the links of a cluster that become links of the graph.
enum class FabricLinks {
  kOnRoutes,  ///< only links on the routes between ranks
  kAll,       ///< all links of the cluster, as if messages could take any path
};

/// Returns the graph of the fabric between the replicas of a cluster. Messages are assumed to go
/// directly between GPUs, without a copy in host memory.
/// ERRORS: there is only one rank; there are more than kMaxSynthesisRanks ranks; a rank cannot be
/// reached, even if other ranks forward messages. Cost: routes are computed between all pairs of
/// ranks.
Expected<FabricGraph> fabric_of(const Cluster& cluster, FabricLinks links = FabricLinks::kOnRoutes);

}  // namespace tutti::core::synthesis
