#pragma once

// Switches removed from a fabric without loss.
//
// A switch cannot copy data, so that a tree passes through it from one link in to one link out. One
// unit on a link u → w into switch w and one unit on a link w → t out of it are taken away, and one
// unit is added to a direct link u → t. This is called splitting off. Doing so narrows two kinds of
// cuts: those with u and t inside and w outside, and those with w inside and u and t outside. The
// others keep their capacity. For every link into a switch there is some link out of it with which
// it can be split off without making a cut too narrow, as long as links in and out of every node
// have the same total. So all switches disappear one after the other, and what is left are links
// between ranks over which just as much can be sent.
//
// The cuts are watched by their flows. For every rank v there is a flow by which all contributions
// reach v; no cut is too narrow while these flows exist. Splitting γ units off moves what passes
// u → w → t over to u → t, and what is more than fits is sent another way. If d units of some flow
// find none, exactly γ - d can be split off.
//
// Messages between two ranks of a cluster take one fixed route. Links are therefore first split
// off along routes that exist: a path that has grown together must be a piece of some route. The
// remaining units are split off regardless and counted: these units travel over other links than
// planned here.
// SOURCE: Bang-Jensen, Frank, Jackson, "Preserving and increasing local edge-connectivity in mixed
// graphs", SIAM J. Discrete Math. 1995; its use for switches: arXiv 2402.06787, section 5.2.

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
  std::vector<RankLink> links;  ///< at most one link for each pair, sorted; capacities are above 0
  std::int64_t off_route = 0;   ///< number of units whose messages use other links than planned
};

/// Replaces the switches of `graph`, whose links have room for `capacities` trees, by links between
/// ranks. Each rank contributes `trees` times its number. nullopt if `go_on` said so, or if a cut
/// would become too narrow, which happens only if some node has more capacity in than out.
/// `attempt`: other numbers visit links and switches in other orders; one of them may leave fewer
/// units off their routes.
/// REQUIRES: carries(graph, capacities, contributions, trees).
/// Cost: a few searches for each rank and each pair of links of a switch that is tried.
std::optional<RankGraph> without_switches(const FabricGraph& graph,
                                          const std::vector<std::int64_t>& capacities,
                                          const Contributions& contributions, std::int64_t trees,
                                          const GoOn& go_on = {}, std::uint64_t attempt = 0);

}  // namespace tutti::core::synthesis
