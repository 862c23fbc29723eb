#pragma once

// Gives narrow routes that share links to a few pairs of ranks.
//
// Example: in a DGX-1 without GPUs 6 and 7, GPUs 4 and 5 receive over NVLinks of 60 GB/s each. GPUs
// without a common NVLink reach each other over PCIe and the 6 GB/s between the CPUs, which all
// those pairs share. Splitting off switches (edge_splitting.h) plans with these 6 GB/s, but mostly
// for pairs whose messages take an NVLink in fact. If the 6 GB/s are given to the pairs 2 → 4 and
// 3 → 5 in equal parts, they become two direct links of 3 GB/s, and trees can use all of the
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
/// routes. A narrow route is used only if no wide route uses any of its links. Each rank receives
/// over one of its narrow routes. Rates are divided fairly between the ranks (max-min). Returns
/// nullopt if no narrow route can be used. REQUIRES: `graph` has routes.
std::optional<PinnedFabric> with_pinned_routes(const FabricGraph& graph, std::int64_t wide);

}  // namespace tutti::core::synthesis
