#pragma once

#include <vector>

#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/optimum.h"
#include "core/synthesis/tree_packing.h"

namespace tutti::core::synthesis {

/// Spanning trees that carry every rank's contribution to all ranks. In the reverse direction, each
/// tree adds the contributions of all ranks to a part while they travel to the root.
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
  bool down = true;  ///< data moves from roots to all ranks
  bool up = false;   ///< data moves from all ranks to roots and is reduced on the way
};

/// Returns the time that the busiest link of the fabric needs to transfer its bytes if all messages
/// take the fabric's routes, in the unit of Optimum::time.
/// REQUIRES: `graph` has routes.
double time_of_busiest_link(const FabricGraph& graph, const Forest& forest, Crossings crossings);

/// Returns a description of the error if the forest is invalid: a tree does not span all ranks, or
/// a root has too few trees. Returns "" if the forest is valid.
std::string flaw_of(const Forest& forest);

}  // namespace tutti::core::synthesis
