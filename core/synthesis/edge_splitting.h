#pragma once

// Replaces the switches of a fabric by direct links between ranks, without losing bandwidth.
//
// A switch cannot copy data, so a tree passes through a switch from one incoming link to one
// outgoing link. "Splitting off" takes one unit of capacity from a link u → w into switch w and one
// unit from a link w → t out of w. In return, it adds one unit to a direct link u → t. Splitting
// off reduces the capacity of two kinds of cuts: cuts with u and t inside and w outside, and cuts
// with w inside and u and t outside. All other cuts keep their capacity. Suppose that the incoming
// links of every node have the same total capacity as its outgoing links. Then every link into a
// switch can be paired with a link out of the switch, so that splitting off this pair makes no cut
// too narrow. Therefore all switches can be removed one after the other. The remaining links
// between ranks can carry as much as the original fabric.
//
// Flows show whether a cut is too narrow. For every rank v, the code stores a flow that brings all
// contributions to v. No cut is too narrow as long as all these flows exist. When γ units are split
// off, the part of a flow that passes u → w → t moves to u → t, and the excess over the capacities
// is rerouted. If d units of a flow cannot be rerouted, exactly γ - d units can be split off.
//
// In a cluster, messages between two ranks take one fixed route. Therefore links are first split
// off only along existing routes: the direct link must replace a piece of some route. The remaining
// units are split off without this condition. RankGraph::off_route counts these units, because
// their messages will use other links than planned here.
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
  std::vector<RankLink> links;  ///< links in sorted order; at most one link for each pair of ranks;
                                ///< capacities are above 0
  std::int64_t off_route = 0;   ///< number of units whose messages use other links than planned
};

/// Replaces the switches of `graph` by links between ranks. `capacities` contains the number of
/// trees that each link can carry. Each rank is the root of `trees` trees for each part that it
/// contributes (`contributions`). Returns nullopt if `go_on` returns false, or if the capacity
/// across a cut would become too small for the trees. A cut can become too small only if some node
/// has more incoming than outgoing capacity. `attempt` selects the order in which links and
/// switches are visited. Depending on the order, more or fewer units of capacity follow the routes
/// of the fabric.
/// REQUIRES: carries(graph, capacities, contributions, trees).
/// Cost: a few graph searches for each rank and each pair of links that is tried.
std::optional<RankGraph> without_switches(const FabricGraph& graph,
                                          const std::vector<std::int64_t>& capacities,
                                          const Contributions& contributions, std::int64_t trees,
                                          const GoOn& go_on = {}, std::uint64_t attempt = 0);

}  // namespace tutti::core::synthesis
