#pragma once

// Computes the number of trees per part, and the number of trees that each link carries.
//
// The optimal time is a fraction. Example: 7/24, the time in which a link of capacity 24 carries 7
// parts. If each part has k trees, a tree carries 1/k of a part. A link of capacity b then carries
// b · 7k/24 trees in the optimal time. This number must be an integer. In the example, k = 24 is
// always sufficient, and k = 3 is sufficient if all capacities are multiples of 8. Fewer trees mean
// fewer and larger messages, which can be worth a slightly longer time. Therefore, for a given k,
// the numbers of trees per link are rounded down, and the time is increased until the trees fit.
// SOURCE: arXiv 2402.06787, section 5.1 (the number of trees) and appendix (fixed k).

#include <optional>

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

struct TreeSize {
  std::int64_t trees = 1;                ///< number of trees per part
  std::vector<std::int64_t> capacities;  ///< number of trees that each link can carry
  double above_optimum = 0;  ///< excess over the optimal time, relative to the optimal time; 0.01
                             ///< is one percent
};

/// Returns the smallest number of trees that reaches the optimal time exactly; nullopt if this
/// number is above `most`.
std::optional<TreeSize> exact_tree_size(const FabricGraph& graph, const Optimum& optimum,
                                        std::int64_t most);

/// Returns the capacities for the shortest time with this number of trees per part, accurate to
/// 1/1024 of the optimal time. `spare` is added to the time, as a share of the optimal time, so
/// that trees can be shallower (0.02: two percent). Returns nullopt if the shortest time is more
/// than twice the optimal time. Cost: about ten calls of carries().
std::optional<TreeSize> tree_size_with(const FabricGraph& graph, const Contributions& contributions,
                                       const Optimum& optimum, std::int64_t trees,
                                       double spare = 0);

}  // namespace tutti::core::synthesis
