#pragma once

// Computes the number of trees per rank, and how many of them each link carries.
//
// The optimum is a fraction, say 7/24: in the time in which a link of capacity 24 carries 7 parts.
// With k trees for each part, a tree carries 1/k of a part, and a link of capacity b carries
// b · 7k/24 trees in that time. That has to be a whole number. Here k = 24 would always do, and
// k = 3 does if all capacities are multiples of 8. Fewer trees mean fewer and larger messages, so
// that they can be worth a little time: for a given k, the capacities are rounded down, and the
// time is made longer until the trees fit.
// SOURCE: arXiv 2402.06787, section 5.1 (the number of trees) and appendix (fixed k).

#include <optional>

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

struct TreeSize {
  std::int64_t trees = 1;                ///< number of trees per part
  std::vector<std::int64_t> capacities;  ///< by link: its capacity in trees
  double above_optimum = 0;              ///< relative excess over the optimal time; 0.01 is one
                                         ///< percent
};

/// The smallest number of trees with which the optimum is reached exactly. nullopt if it is above
/// `most`.
std::optional<TreeSize> exact_tree_size(const FabricGraph& graph, const Optimum& optimum,
                                        std::int64_t most);

/// Returns the minimum time with this number of trees per part, accurate to 1/1024 of the optimum,
/// plus the share `spare` of the optimum (0.02: two percent), which allows shallower trees. nullopt
/// if that is more than twice the optimum. Cost: some ten calls of carries().
std::optional<TreeSize> tree_size_with(const FabricGraph& graph, const Contributions& contributions,
                                       const Optimum& optimum, std::int64_t trees,
                                       double spare = 0);

}  // namespace tutti::core::synthesis
