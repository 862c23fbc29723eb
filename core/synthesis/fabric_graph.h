#pragma once

// The graph of a cluster's fabric that synthesis works on: ranks, the switches between them, and
// directed links with capacities.
//
// For example, a DGX A100 becomes 8 ranks, 1 NVSwitch, and links of 240 GB/s in each direction.
// Capacities are integers, so that all arithmetic is exact: bandwidths are divided by their
// greatest common divisor (here 240 GB/s, so that every capacity is 1).

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace tutti::core::synthesis {

/// A directed link between two nodes of a FabricGraph.
struct FabricLink {
  int from = 0;
  int to = 0;
  std::int64_t capacity = 0;  ///< bandwidth in units of FabricGraph::unit, at least 1
  Time latency;
};

/// Ranks and switches with directed links. Nodes 0 … ranks - 1 are the ranks; all others forward
/// messages (switches, CPUs, network cards and devices without a replica).
struct FabricGraph {
  int ranks = 0;
  std::vector<std::string> names;  ///< by node: name, for example "w0/gpu3", "w0/nvswitch" or
                                   ///< "leaf1"
  std::vector<FabricLink> links;
  Bandwidth unit{1};       ///< bandwidth of a link of capacity 1
  bool rounded = false;    ///< true if bandwidths were rounded down to multiples of `unit`
  int ranks_per_node = 1;  ///< number of ranks on each node, which divides `ranks`; ranks of a node
                           ///< have consecutive numbers
  /// By a * ranks + b: the links of the route from rank a to rank b, which all messages between
  /// them take. Empty if there is no route. All routes are empty if messages may take any path.
  std::vector<std::vector<int>> routes;

  [[nodiscard]] int nodes() const { return static_cast<int>(names.size()); }
  [[nodiscard]] const std::vector<int>& route(int from, int to) const {
    return routes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                  static_cast<std::size_t>(to)];
  }
  [[nodiscard]] bool has_route(int from, int to) const { return !route(from, to).empty(); }
  [[nodiscard]] Time latency(int from, int to) const;
  /// Returns the lowest bandwidth on the route. REQUIRES: has_route(from, to).
  [[nodiscard]] Bandwidth bandwidth(int from, int to) const;
};

/// Sets the capacities of all links from their bandwidths. Bandwidths are divided by their greatest
/// common divisor, or by a millionth of the largest bandwidth if the quotients would be too large
/// for exact arithmetic.
/// REQUIRES: all bandwidths are above 0; there is one for each link.
void set_capacities(FabricGraph& graph, const std::vector<Bandwidth>& bandwidths);

/// Returns the fabric without the routes whose narrowest link has less than this capacity, and
/// without the links that no remaining route uses. Removed routes are empty.
FabricGraph with_wide_routes(const FabricGraph& graph, std::int64_t capacity);
/// Returns the distinct capacities of the narrowest links of all routes, in ascending order.
std::vector<std::int64_t> route_capacities(const FabricGraph& graph);

/// Returns the fabric with all links and routes reversed. A forest of the reversed fabric is a
/// forest for reductions in `graph`.
FabricGraph reversed(const FabricGraph& graph);

}  // namespace tutti::core::synthesis
