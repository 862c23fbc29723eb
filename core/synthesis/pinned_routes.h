#pragma once

// Assigns narrow routes, which share links with each other, to a few pairs of ranks.
//
// Example: in a DGX-1 without GPUs 6 and 7, GPUs 4 and 5 receive over NVLinks of 60 GB/s each.
// Pairs of GPUs without a common NVLink use PCIe and the link of 6 GB/s between the CPUs, which all
// these pairs share. Splitting off switches (edge_splitting.h) also plans with these 6 GB/s, but
// mostly for pairs whose messages in fact take an NVLink. If the 6 GB/s are given to the pairs 2 →
// 4 and 3 → 5 in equal parts, they become two direct links of 3 GB/s, and trees can use all of the
// bandwidth: 126 instead of 120 GB/s into GPUs 4 and 5.

#include <cstdint>
#include <optional>

#include "core/synthesis/fabric_graph.h"

namespace tutti::core::synthesis {

struct PinnedFabric {
  FabricGraph graph;       ///< the fabric with a direct link for each pair that got a share
  std::int64_t scale = 1;  ///< capacities in `graph` are multiplied by this number
};

/// Returns the wide routes of the fabric (with_wide_routes()), and direct links in place of narrow
/// routes. A route is wide if all its links have at least the capacity `wide`; all other routes are
/// narrow. A narrow route is used only if no wide route uses any of its links. Each rank receives
/// over at most one narrow route. The bandwidth of shared links is divided among the ranks with
/// max-min fairness. Returns nullopt if no narrow route can be used. REQUIRES: `graph` has routes.
std::optional<PinnedFabric> with_pinned_routes(const FabricGraph& graph, std::int64_t wide);

}  // namespace tutti::core::synthesis
