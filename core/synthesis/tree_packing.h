#pragma once

// Packs spanning trees into a graph of direct links.
//
// Every rank needs k trees from itself to all other ranks, and the number of trees that use a link
// is limited by the link's capacity. Edmonds' theorem states when such trees exist: for every set S
// of ranks, the links into S must have capacity for the trees of all roots outside S. A tree that
// already contains a rank of S needs no further link into S. Therefore the condition for partly
// grown trees is that the links into S have capacity for all trees that contain no rank of S. Trees
// grow link by link in such a way that this condition remains true.
//
// Adding a link x → y to m copies of a tree takes m units of capacity from all sets with y inside
// and x outside. Sets that contain a rank of the tree still need the same capacity as before, so
// they must have m units to spare. The smallest spare capacity of these sets is found by a minimum
// cut. A source offers an unlimited flow at x. For each other tree, it offers a flow equal to the
// tree's number of copies at all ranks of the tree. The flow that reaches y, minus the number of
// copies of all other trees, is the spare capacity. If the spare capacity is less than m, the tree
// is divided: some copies add the link, and the other copies grow separately.
//
// All trees grow at the same time: the next link is always the link that reaches a rank earliest.
// Therefore all trees stay shallow. If trees grew one after the other, the last trees would have to
// use links that no other tree has used.
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

/// A spanning tree, with the number of its identical copies.
struct SpanningTree {
  int root = 0;
  std::int64_t copies = 1;
  std::vector<int> parent;  ///< parent of each rank; -1 for the root
  std::vector<int> order;   ///< all ranks, in an order in which each rank comes after its parent

  bool operator==(const SpanningTree&) const = default;
};

/// Packs spanning trees into the graph. Each rank is the root of `trees` trees for each part that
/// it contributes. `cost` is the time of a message from one rank to another. Links that reach ranks
/// early are preferred. Returns nullopt if `go_on` returns false, or if Edmonds' condition does not
/// hold.
/// Cost: one maximum flow for each link of a tree, and one for some of the links that did not fit.
/// The number of different trees is about the number of ranks and links, or less.
std::optional<std::vector<SpanningTree>> pack_trees(const RankGraph& graph,
                                                    const Contributions& contributions,
                                                    std::int64_t trees,
                                                    const std::function<Time(int, int)>& cost,
                                                    const GoOn& go_on = {});

}  // namespace tutti::core::synthesis
