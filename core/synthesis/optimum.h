#pragma once

// The least time that bandwidth allows.
//
// Take any set S of nodes that does not hold every rank. All contributions of the ranks inside S
// have to leave it, to reach a rank outside. In an all-gather of 8 ranks with 1 byte each, the five
// ranks of a set S whose outward links carry 2 bytes per second take 5/2 seconds for that, whatever
// the algorithm. The worst set gives the least time, and ForestColl shows that trees reach it.
//
// The number of sets is exponential, but the worst one is a minimum cut. To test a time t: let a
// source offer every rank what it contributes, and give a link of bandwidth b the capacity t·b. If
// the flow from the source to every rank can be all of the contributions, no cut is too narrow for
// t. Otherwise the minimum cut S is one that needs more than t; its own quotient is the next t to
// test. Quotients grow strictly, so this ends at the exact optimum, usually after 2 to 6 tests
// (Dinkelbach's method; a binary search over fractions would need some 60).
// SOURCE: Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous
// Network Fabrics", arXiv 2402.06787, section 4, for the bound and the test by flows; Dinkelbach,
// "On nonlinear fractional programming", Management Science 1967.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/synthesis/fabric_graph.h"

namespace tutti::core::synthesis {

/// A fraction of whole numbers, both above 0.
struct Ratio {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  [[nodiscard]] double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

/// By rank: the number of parts, of equal size, that the rank sends to all others. In an all-gather
/// every rank has one part; in a broadcast only the root has one.
using Contributions = std::vector<std::int64_t>;
Contributions one_of_each(int ranks);
Contributions all_of_root(int ranks, int root);

struct Optimum {
  /// The time in which a link of capacity 1 carries one part is 1; this is that of the whole.
  Ratio time;
  std::vector<bool> cut;  ///< by node: true for those inside the narrowest set
};

/// Returns the least time of delivering all contributions to all ranks. nullopt if some rank cannot
/// be reached. Cost: a few times a maximum flow for each rank.
std::optional<Optimum> optimum_of(const FabricGraph& graph, const Contributions& contributions);

/// True if each rank can receive `trees` times all contributions over links of these capacities at
/// once; that is, no set of nodes has too narrow links for that many trees.
bool carries(const FabricGraph& graph, const std::vector<std::int64_t>& capacities,
             const Contributions& contributions, std::int64_t trees);

}  // namespace tutti::core::synthesis
