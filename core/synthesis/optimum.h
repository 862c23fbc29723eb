#pragma once

// A tight lower bound on the time of a collective, from bandwidths only.
//
// Let S be a set of nodes that does not contain every rank. All contributions of the ranks in S
// have to leave S, to reach the ranks outside. For example, in an all-gather with 1 byte per rank,
// a set S with five ranks, whose outward links carry 2 bytes per second, needs 5/2 seconds for
// this, whatever the algorithm. The set with the longest time gives the lower bound, and ForestColl
// shows that trees reach it.
//
// The number of sets is exponential, but the set with the longest time is found by minimum cuts. To
// test a time t, a source offers every rank its contribution, and a link of bandwidth b gets
// capacity t·b. If the maximum flow from the source to every rank equals the sum of all
// contributions, t is enough for every set. Otherwise the minimum cut is a set S that needs more
// than t, and the time of S is tested next. The tested times increase strictly, so the search ends
// at the exact optimum, usually after 2 to 6 tests (Dinkelbach's method; a binary search over
// fractions would need about 60).
// SOURCE: Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous
// Network Fabrics", arXiv 2402.06787, section 4, for the bound and the test by flows; Dinkelbach,
// "On nonlinear fractional programming", Management Science 1967.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/synthesis/fabric_graph.h"

namespace tutti::core::synthesis {

/// A fraction of two integers above 0.
struct Ratio {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  [[nodiscard]] double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

/// By rank: the number of parts that the rank has to send to all other ranks. All parts have the
/// same size. In an all-gather, every rank has one part; in a broadcast, only the root has one.
using Contributions = std::vector<std::int64_t>;
Contributions one_of_each(int ranks);
Contributions all_of_root(int ranks, int root);

struct Optimum {
  /// The time of the whole collective. The unit is the time in which a link of capacity 1 carries
  /// one part.
  Ratio time;
  std::vector<bool> cut;  ///< by node: true if it is in the set S that gives the time
};

/// Returns the lower bound on the time to deliver all contributions to all ranks. nullopt if a rank
/// cannot be reached. Cost: a few maximum flows for each rank.
std::optional<Optimum> optimum_of(const FabricGraph& graph, const Contributions& contributions);

/// True if no cut is too narrow for `trees` trees per part: for each rank by itself, a flow over
/// links of these capacities can bring `trees` times all contributions to the rank.
bool carries(const FabricGraph& graph, const std::vector<std::int64_t>& capacities,
             const Contributions& contributions, std::int64_t trees);

}  // namespace tutti::core::synthesis
