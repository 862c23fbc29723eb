#pragma once

// Replaces the switches of a fabric by direct links between ranks, without losing bandwidth.
//
// A switch cannot copy data, so each tree that enters a switch on one link leaves it on exactly one
// link. "Splitting off" takes one unit of capacity from a link u → w into switch w and one unit
// from a link w → t out of w. In return, it adds one unit to the direct link u → t. Only the cuts
// that have u and t on one side and w on the other lose capacity; all other cuts keep their
// capacity. Suppose that, for every node, the capacities of the incoming links add up to the same
// total as those of the outgoing links. Then each link into a switch can be paired with a link out
// of the switch such that all cuts stay wide enough if the two links are split off together.
// Therefore all switches can be removed one after the other. The remaining links between ranks can
// carry as much as the original fabric.
//
// The code uses flows to check that all cuts stay wide enough. For every rank v, the code stores a
// flow that brings all contributions to v. All cuts are wide enough as long as all these flows fit
// into the capacities. When γ units are split off, each flow along u → w → t moves to u → t, and
// flow that exceeds a capacity is rerouted. If d units of a flow cannot be rerouted, exactly γ - d
// units can be split off.
//
// In a cluster, messages between two ranks take one fixed route. Therefore pairs of links are first
// split off only along existing routes: the direct link must be a piece of some route. Capacity
// that is left is then split off without regard to routes. RankGraph::off_route counts the units
// that are split off without a route, because their messages will not use the links that are
// planned here.
// SOURCE: Bang-Jensen, Frank, Jackson, "Preserving and increasing local edge-connectivity in mixed
// graphs", SIAM Journal on Discrete Mathematics, 1995; the application to switches is from arXiv
// 2402.06787, section 5.2.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/optimum.h"
#include "core/synthesis/progress.h"

namespace tutti::core::synthesis {

/// A direct link between two ranks, and the number of trees that it can carry.
struct RankLink {
  int from = 0;
  int to = 0;
  std::int64_t capacity = 0;
  bool operator==(const RankLink&) const = default;
};

struct RankGraph {
  int ranks = 0;
  std::vector<RankLink> links;  ///< sorted links with positive capacities; at most one link for
                                ///< each ordered pair of ranks
  std::int64_t off_route = 0;   ///< number of capacity units whose messages use other links than
                                ///< planned
};

/// Replaces the switches of `graph` by links between ranks. `capacities` contains the number of
/// trees that each link of the graph can carry. Each rank is the root of `trees` trees for each
/// part that it contributes (`contributions`). Returns nullopt if `go_on` returns false, or if the
/// resulting links are too narrow for the trees, which can happen only if some node has more
/// incoming than outgoing capacity. `attempt` selects the order in which pairs of links and
/// switches are processed. The order affects RankGraph::off_route.
/// REQUIRES: carries(graph, capacities, contributions, trees).
/// Cost: a few graph searches for each rank and each pair of links.
std::optional<RankGraph> without_switches(const FabricGraph& graph,
                                          const std::vector<std::int64_t>& capacities,
                                          const Contributions& contributions, std::int64_t trees,
                                          const GoOn& go_on = {}, std::uint64_t attempt = 0);

}  // namespace tutti::core::synthesis
