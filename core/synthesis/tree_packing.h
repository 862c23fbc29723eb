#pragma once

// Spanning trees packed into a graph of direct links.
//
// Every rank needs k trees that lead from it to all others, and a link may be used by as many trees
// as its capacity. Edmonds' theorem says when that is possible: for every set S of ranks, the links
// into S have room for the trees of all roots outside S. A tree that has grown into S already needs
// no link into S any more. So the condition for trees that are half grown is: the links into S have
// room for the trees that do not touch S. Trees grow link by link while it stays true.
//
// Adding x → y to m copies of a tree takes m units away from all sets with y inside and x outside.
// Sets that the tree touches already need no fewer links than before, and must have that many to
// spare. The least spare capacity over these sets is a minimum cut: a source offers x without
// limit, and each other tree as much as it has copies, at all of its ranks; what of that reaches y,
// less the number of all other trees, is spare. If that is fewer than m copies, the tree divides:
// some copies take the link, and the others grow on by themselves.
//
// All trees grow at the same time, always by the link that reaches a rank earliest, so that trees
// stay shallow and the last ones do not have to live with what the others left.
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

/// So many equal trees.
struct SpanningTree {
  int root = 0;
  std::int64_t copies = 1;
  std::vector<int> parent;  ///< by rank; -1 for the root
  std::vector<int> order;   ///< all ranks, each after its parent

  bool operator==(const SpanningTree&) const = default;
};

/// Packs `trees` times each rank's contribution of spanning trees into the graph. `cost` is the
/// time that a tree takes for a step from one rank to another: trees with early ends are preferred.
/// nullopt if `go_on` said so, or if the condition does not hold.
/// Cost: a maximum flow for each link of a tree and a few for links that did not fit; the number of
/// different trees is at most about that of ranks and links.
std::optional<std::vector<SpanningTree>> pack_trees(const RankGraph& graph,
                                                    const Contributions& contributions,
                                                    std::int64_t trees,
                                                    const std::function<Time(int, int)>& cost,
                                                    const GoOn& go_on = {});

}  // namespace tutti::core::synthesis
