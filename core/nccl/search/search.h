#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/nccl/search/graph.h"
#include "core/nccl/search/search_settings.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// The result of NCCL's search on a machine.
struct SearchResult {
  Graphs graphs;
  /// The topology of one node in NCCL's sense: GPU 0 and all GPUs that it reaches without the
  /// network.
  Topology node;
  int nodes_per_topology = 1;  ///< number of nodes, in NCCL's sense, that the topology contains
  bool over_nodes = false;
  float most_gb_per_s = 0;  ///< maximum rate of a path between GPUs, or from a GPU to the network
  /// The total rate of a GPU's NVLinks, or the rate of the GPU's PCIe link if the PCIe rate is
  /// higher.
  float total_gb_per_s = 0;
};

/// Returns the graphs that NCCL 2.28.9 finds for a communicator over all GPUs of `count` machines
/// with this topology. Channels and their order are identical to NCCL's. Other versions of NCCL may
/// find other graphs. A graph in `given` that has channels replaces the searched graph with the
/// same id (as with NCCL_GRAPH_FILE). The given graph must contain the GPUs of the node.
/// ERRORS: a given graph contains other GPUs; there are several nodes without a network card; a
/// node has more than 160 GPUs; the search does not end on this topology.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/search.cc; src/init.cc, which determines the graphs and
/// their order.
Expected<SearchResult> search_graphs(const Topology& topology, std::int64_t count,
                                     const SearchSettings& settings = {},
                                     std::span<const Graph> given = {});

}  // namespace tutti::core::nccl
