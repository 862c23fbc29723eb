#pragma once

#include <vector>

#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/optimum.h"
#include "core/synthesis/tree_packing.h"

namespace tutti::core::synthesis {

/// Spanning trees by which every rank's contribution reaches all ranks, or, reversed, by which the
/// contributions of all ranks to each part are added up.
struct Forest {
  int ranks = 0;
  Contributions contributions;
  std::int64_t trees = 1;  ///< number of trees per part; each carries 1/trees of a part
  std::vector<SpanningTree> all;

  /// The largest number of links between a root and a rank.
  [[nodiscard]] int depth() const;
};

/// The directions in which data crosses the trees.
struct Crossings {
  bool down = true;  ///< data moves from roots to all ranks
  bool up = false;   ///< data moves from all ranks to roots, which reduce it
};

/// Returns the time in which the busiest link of the fabric carries its share, where messages take
/// the fabric's routes; the unit is that of Optimum::time. REQUIRES: `graph` has routes.
double time_of_busiest_link(const FabricGraph& graph, const Forest& forest, Crossings crossings);

/// Returns what is wrong with a forest: a tree that does not span, roots with too few trees. "" if
/// nothing is.
std::string flaw_of(const Forest& forest);

}  // namespace tutti::core::synthesis
