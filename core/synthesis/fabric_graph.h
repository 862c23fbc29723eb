#pragma once

// The graph of a cluster's fabric on which synthesis is based. The graph consists of ranks, the
// switches between them, and directed links with capacities.
//
// For example, a DGX A100 becomes 8 ranks, 1 NVSwitch, and links of 240 GB/s in each direction.
// Capacities are integers, so that all arithmetic is exact. The capacities are the bandwidths
// divided by the greatest common divisor of all bandwidths. In the example, the divisor is 240 GB/s
// and every capacity is 1.

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

/// Ranks and switches with directed links. Nodes 0 … ranks - 1 are the ranks. All other nodes
/// forward messages; they are switches, CPUs, network cards and devices without a replica.
struct FabricGraph {
  int ranks = 0;
  std::vector<std::string> names;  ///< name of each node, for example "w0/gpu3", "w0/nvswitch" or
                                   ///< "leaf1"
  std::vector<FabricLink> links;
  Bandwidth unit{1};       ///< bandwidth of a link whose capacity is 1
  bool rounded = false;    ///< true if bandwidths were rounded down to multiples of `unit`
  int ranks_per_node = 1;  ///< number of ranks on each node of the cluster; divides `ranks`; ranks
                           ///< of a node have consecutive numbers
  bool switches_reduce = false;  ///< true if every node of the cluster has several ranks, and a
                                 ///< switch that reduces and multicasts among these ranks
  /// The links of the route that all messages from rank a to rank b take, at index a * ranks + b.
  /// An entry is empty if there is no route. If messages may take any path, all entries are empty.
  std::vector<std::vector<int>> routes;

  [[nodiscard]] int nodes() const { return static_cast<int>(names.size()); }
  [[nodiscard]] const std::vector<int>& route(int from, int to) const {
    return routes[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) +
                  static_cast<std::size_t>(to)];
  }
  [[nodiscard]] bool has_route(int from, int to) const { return !route(from, to).empty(); }
  [[nodiscard]] Time latency(int from, int to) const;
  /// Returns the bandwidth of the slowest link on the route. REQUIRES: has_route(from, to).
  [[nodiscard]] Bandwidth bandwidth(int from, int to) const;
};

/// Sets the capacities of all links from their bandwidths. Bandwidths are divided by their greatest
/// common divisor. If the quotients would be too large for exact arithmetic, bandwidths are divided
/// by a millionth of the largest bandwidth instead. REQUIRES: there is one bandwidth for each link;
/// all bandwidths are above 0.
void set_capacities(FabricGraph& graph, const std::vector<Bandwidth>& bandwidths);

/// Returns the fabric without the routes whose narrowest link has less than `capacity`, and without
/// the links that no remaining route uses. The entries of removed routes are empty.
FabricGraph with_wide_routes(const FabricGraph& graph, std::int64_t capacity);
/// Returns the capacities of the routes in ascending order, each value once. The capacity of a
/// route is that of its narrowest link.
std::vector<std::int64_t> route_capacities(const FabricGraph& graph);

/// Returns the fabric in which all ranks of a node of the cluster are one rank. The routes are
/// empty.
FabricGraph with_merged_nodes(const FabricGraph& graph);

/// Returns the fabric with all links and routes reversed. A reduction in `graph` uses a forest of
/// the reversed fabric.
FabricGraph reversed(const FabricGraph& graph);

}  // namespace tutti::core::synthesis
