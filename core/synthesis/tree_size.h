#pragma once

// Computes the number of trees per part, and the number of trees that each link carries.
//
// The optimal time is a fraction of two integers. For example, if it is 7/24, a link of capacity 24
// carries 7 parts in this time. If each part has k trees, a tree carries 1/k of a part. In this
// time, a link of capacity b then carries b · 7k/24 trees. The number of trees on a link must be an
// integer. In the example, k = 24 always works, and k = 3 works if all capacities are multiples of
// 8. With fewer trees, there are fewer and larger messages, which can compensate for a slightly
// longer time. Another possibility is to choose k first. For a given k, the numbers of trees per
// link are rounded down, and the time is increased until all trees fit.
// SOURCE: arXiv 2402.06787, section 5.1 (the number of trees) and appendix (fixed k).

#include <optional>

#include "core/synthesis/optimum.h"

namespace tutti::core::synthesis {

struct TreeSize {
  std::int64_t trees = 1;                ///< number of trees per part
  std::vector<std::int64_t> capacities;  ///< number of trees that each link can carry
  double above_optimum = 0;  ///< relative excess over the optimal time; 0.01 is one percent
};

/// Returns the smallest number of trees with which the time is optimal; nullopt if this number is
/// above `most`.
std::optional<TreeSize> exact_tree_size(const FabricGraph& graph, const Optimum& optimum,
                                        std::int64_t most);

/// For a given number of trees per part, returns the capacities with the shortest time, accurate to
/// 1/1024 of the optimal time. Adds `spare` times the optimal time to the shortest time, so that
/// trees can be shallower (0.02 is two percent). Returns nullopt if the shortest time is more than
/// twice the optimal time.
/// Cost: about ten calls of carries().
std::optional<TreeSize> tree_size_with(const FabricGraph& graph, const Contributions& contributions,
                                       const Optimum& optimum, std::int64_t trees,
                                       double spare = 0);

}  // namespace tutti::core::synthesis
