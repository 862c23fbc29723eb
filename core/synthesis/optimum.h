#pragma once

// A tight lower bound on the time of a collective that depends only on bandwidths.
//
// Let S be a set of nodes that does not contain every rank. All contributions of the ranks in S
// have to leave S to reach the ranks outside S. For example, consider an all-gather with 1 byte per
// rank, and a set S with five ranks whose outward links carry 2 bytes per second. Any algorithm
// needs at least 5/2 seconds to move the five bytes out of S. The set that needs the longest time
// gives the lower bound. ForestColl shows that trees reach this bound.
//
// The number of sets is exponential, but minimum cuts find the set that needs the longest time. To
// test whether a time t suffices, a source offers every rank its contribution, and a link of
// bandwidth b gets capacity t·b. If the maximum flow from the source to each rank equals the sum of
// all contributions, t suffices for every set. Otherwise the minimum cut is a set S that needs more
// than t. Then the time that S needs is tested. The tested times increase strictly, so the search
// ends at the exact optimum, usually after 2 to 6 tests. This is Dinkelbach's method; a binary
// search over fractions would need about 60 tests.
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

/// For each rank, the number of parts that the rank has to send to all other ranks. All parts have
/// the same size. In an all-gather, every rank has one part. In a broadcast, only the root has a
/// part.
using Contributions = std::vector<std::int64_t>;
Contributions one_of_each(int ranks);
Contributions all_of_root(int ranks, int root);

struct Optimum {
  /// The time of the whole collective. The unit is the time in which a link of capacity 1 carries
  /// one part.
  Ratio time;
  std::vector<bool> cut;  ///< true for the nodes of the set S that gives the time
};

/// Returns the lower bound on the time to deliver all contributions to all ranks. Returns nullopt
/// if a rank cannot be reached. Cost: a few maximum flows for each rank.
std::optional<Optimum> optimum_of(const FabricGraph& graph, const Contributions& contributions);

/// True if no cut is too narrow for `trees` trees per part: links of these capacities can carry a
/// flow that brings `trees` times all contributions to any single rank.
bool carries(const FabricGraph& graph, const std::vector<std::int64_t>& capacities,
             const Contributions& contributions, std::int64_t trees);

}  // namespace tutti::core::synthesis
