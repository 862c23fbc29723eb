#pragma once

#include <vector>

#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/optimum.h"
#include "core/synthesis/tree_packing.h"

namespace tutti::core::synthesis {

/// A set of spanning trees over which every rank's contribution reaches all ranks. For a reduction,
/// the trees are used in the reverse direction: the contributions of all ranks are summed on the
/// way to the root.
struct Forest {
  int ranks = 0;
  Contributions contributions;
  std::int64_t trees = 1;  ///< number of trees per part; each tree carries 1/trees of a part
  std::vector<SpanningTree> all;

  /// Returns the largest number of tree edges between a root and a rank.
  [[nodiscard]] int depth() const;
};

/// The directions in which data moves along the trees.
struct Crossings {
  bool down = true;  ///< data moves from the roots to all ranks
  bool up = false;   ///< data moves from all ranks to the roots, and is reduced on the way
};

/// Returns the transfer time of the busiest link if all messages take the fabric's routes, in the
/// unit of Optimum::time.
/// REQUIRES: `graph` has routes.
double time_of_busiest_link(const FabricGraph& graph, const Forest& forest, Crossings crossings);

/// Returns the reason why the forest is invalid: a tree does not span all ranks, or a rank is the
/// root of too few trees. Returns "" if the forest is valid.
std::string flaw_of(const Forest& forest);

}  // namespace tutti::core::synthesis
