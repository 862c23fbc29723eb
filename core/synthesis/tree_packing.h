#pragma once

// Packs spanning trees into a graph of direct links.
//
// Every rank needs k trees from itself to all other ranks. The capacity of a link limits the number
// of trees that use it. Such trees exist if the following holds for every set S of ranks (Edmonds'
// theorem): the links into S have capacity for the trees of all roots outside S. A tree that
// already contains a rank of S needs no further link into S. For partly grown trees, the links into
// S therefore need capacity for all trees that contain no rank of S yet. Trees grow link by link,
// and each link is chosen so that this condition remains true.
//
// If m copies of a tree grow over a link x → y, every set S with y inside and x outside loses m
// units of capacity. Such a set that already contains another rank of the tree needs as much
// capacity as before, so it must have m units to spare. A minimum cut finds the smallest spare
// capacity of the sets that contain a rank of the tree. In the flow network of this cut, a source
// offers an unlimited flow at x. For each other tree, the source offers the number of copies as a
// flow, which may enter at any rank of that tree. The spare capacity is the flow that reaches y,
// minus the number of copies of all other trees. If the spare capacity is less than m, the copies
// are divided: some copies grow over this link, and all other copies grow separately.
//
// All trees grow at the same time: the next link is always the one that reaches a rank earliest.
// In this way, all trees stay shallow. If trees grew one after the other, the last trees would have
// to use the links that are left.
// SOURCE: Edmonds, "Edge-disjoint branchings", 1973; Schrijver, "Combinatorial Optimization",
// section 53.3; Bérczi, Frank, "Packing arborescences", 2010; arXiv 2402.06787, section 5.3.

#include <functional>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "core/synthesis/edge_splitting.h"
#include "core/synthesis/optimum.h"
#include "core/synthesis/progress.h"

namespace tutti::core::synthesis {

/// A spanning tree and the number of its identical copies.
struct SpanningTree {
  int root = 0;
  std::int64_t copies = 1;
  std::vector<int> parent;  ///< parent of each rank; -1 for the root
  std::vector<int> order;   ///< all ranks; each rank comes after its parent

  bool operator==(const SpanningTree&) const = default;
};

/// Packs spanning trees into the graph. Each rank is the root of `trees` trees for each part that
/// it contributes. `cost(a, b)` is the time of a message from rank a to rank b. A tree grows first
/// over the link over which data reaches a new rank earliest. Returns nullopt if `go_on` returns
/// false, or if Edmonds' condition does not hold. Cost: one maximum flow for each link that is
/// added to a tree, and one for some of the links that are rejected because they have no room for
/// the tree. The number of different trees is at most about the number of ranks plus the number of
/// links.
std::optional<std::vector<SpanningTree>> pack_trees(const RankGraph& graph,
                                                    const Contributions& contributions,
                                                    std::int64_t trees,
                                                    const std::function<Time(int, int)>& cost,
                                                    const GoOn& go_on = {});

}  // namespace tutti::core::synthesis
