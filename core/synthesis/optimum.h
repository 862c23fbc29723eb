#pragma once

// A tight lower bound on the time of a collective, which follows from bandwidths alone; latencies
// are ignored.
//
// Let S be a set of nodes that does not contain every rank. The contributions of all ranks in S
// have to leave S, because the ranks outside S need these contributions. For example, consider an
// all-gather with 1 byte per rank, and a set S with five ranks whose outward links carry 2 bytes
// per second. Any algorithm needs at least 5/2 seconds to move the five bytes out of S. The set S
// with the longest such time gives the lower bound. ForestColl shows that a collective over
// spanning trees can reach the bound.
//
// There are exponentially many sets, but minimum cuts find the set that needs the longest time. A
// flow tests whether a time t suffices: a source offers every rank its contribution, and a link of
// bandwidth b gets capacity t·b. If, for each rank, the maximum flow from the source to this rank
// equals the sum of all contributions, t suffices for every set. Otherwise, the nodes on the
// source's side of the minimum cut are a set S that needs more time than t. Next, the time that S
// needs is tested in the same way. The tested times increase strictly, so the search ends at the
// exact optimum, usually after 2 to 6 tests. The method is Dinkelbach's; a binary search over
// fractions would need about 60 tests.
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

/// For each rank, the number of equal parts that it has to send to all other ranks. All parts of
/// all ranks have the same size. In an all-gather, every rank has one part. In a broadcast, only
/// the root has a part.
using Contributions = std::vector<std::int64_t>;
Contributions one_of_each(int ranks);
Contributions all_of_root(int ranks, int root);

struct Optimum {
  /// The minimum time of the whole collective. The unit is the time that a link of capacity 1 needs
  /// for one part.
  Ratio time;
  std::vector<bool> cut;  ///< true for the nodes of the set S that determines the time
};

/// Computes the lower bound on the time in which all contributions reach all ranks. Returns nullopt
/// if some rank cannot be reached. Cost: a few maximum flows for each rank.
std::optional<Optimum> optimum_of(const FabricGraph& graph, const Contributions& contributions);

/// True if links with `capacities` have room for `trees` trees per part: for each rank, the links
/// can carry a flow of `trees` times the sum of all contributions to this rank.
bool carries(const FabricGraph& graph, const std::vector<std::int64_t>& capacities,
             const Contributions& contributions, std::int64_t trees);

}  // namespace tutti::core::synthesis
