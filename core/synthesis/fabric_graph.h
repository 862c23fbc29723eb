#pragma once

// The graph of a cluster's fabric for synthesis: ranks, the switches between them, and directed
// links with capacities.
//
// A DGX A100 becomes 8 ranks, 1 NVSwitch and links of 240 GB/s each way. Capacities are whole
// numbers: bandwidths are divided by their greatest common divisor (here 240 GB/s, so that every
// capacity is 1), which keeps all later arithmetic exact and small.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core::synthesis {

/// A directed link between two nodes of a FabricGraph.
struct FabricLink {
  int from = 0;
  int to = 0;
  std::int64_t capacity = 0;  ///< in units of FabricGraph::unit, at least 1
  Time latency;
};

/// Ranks and switches with directed links. Nodes 0 … ranks - 1 are the ranks; all others forward
/// messages (switches, CPUs, network cards and devices without a replica).
struct FabricGraph {
  int ranks = 0;
  std::vector<std::string> names;  ///< by node: its name, such as "w0/gpu3", "w0/nvswitch" or
                                   ///< "leaf1"
  std::vector<FabricLink> links;
  Bandwidth unit{1};       ///< the bandwidth of a capacity of 1
  bool rounded = false;    ///< true if bandwidths were rounded down to multiples of `unit`
  int ranks_per_node = 1;  ///< divides `ranks`; ranks of a worker have consecutive numbers
  /// The links on the route from rank a to rank b, at a * ranks + b. Messages between two ranks
  /// take this route and no other. Empty if there is none; all are empty if routes are free.
  std::vector<std::vector<int>> routes;

  [[nodiscard]] int nodes() const { return static_cast<int>(names.size()); }
  [[nodiscard]] const std::vector<int>& route(int from, int to) const {
    return routes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                  static_cast<std::size_t>(to)];
  }
  [[nodiscard]] bool has_route(int from, int to) const { return !route(from, to).empty(); }
  [[nodiscard]] Time latency(int from, int to) const;
  /// The lowest bandwidth on the route. REQUIRES: has_route(from, to).
  [[nodiscard]] Bandwidth bandwidth(int from, int to) const;
};

/// The bandwidths of all links as capacities: divided by their greatest common divisor, or by a
/// millionth of the largest if the quotients would be too large for exact arithmetic.
/// REQUIRES: all are above 0; `graph.links` has as many.
void set_capacities(FabricGraph& graph, const std::vector<Bandwidth>& bandwidths);

/// The fabric without routes whose narrowest link has less than this capacity, and without links
/// that no other route uses. Routes that are left out are empty.
FabricGraph with_wide_routes(const FabricGraph& graph, std::int64_t capacity);
/// The capacities of the narrowest links of all routes, from low to high, each once.
std::vector<std::int64_t> route_capacities(const FabricGraph& graph);

/// The fabric with all links and routes turned round: a forest there is one for reductions here.
FabricGraph reversed(const FabricGraph& graph);

}  // namespace tutti::core::synthesis
