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
  /// One node as NCCL sees it: GPU 0 and all GPUs that it reaches without the network.
  Topology node;
  int nodes_per_topology = 1;  ///< number of nodes, as NCCL sees them, in the topology
  bool over_nodes = false;
  float most_gb_per_s = 0;  ///< maximum rate of a path between GPUs, or from a GPU to the network
  /// The total rate of a GPU's NVLinks, or of its PCIe link if that is higher.
  float total_gb_per_s = 0;
};

/// Returns the graphs that NCCL 2.28.9 finds for a communicator over all GPUs of `count` such
/// machines: the same channels in the same order. Other versions of NCCL may find other graphs.
/// Graphs of `given` with channels replace searched graphs of the same id (NCCL_GRAPH_FILE); they
/// must have the GPUs of the node.
/// ERRORS: a given graph has other GPUs; several nodes without a network card; more than 160 GPUs
/// in one node; the search does not end on this topology.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/search.cc; src/init.cc, which determines the graphs and
/// their order.
Expected<SearchResult> search_graphs(const Topology& topology, std::int64_t count,
                                     const SearchSettings& settings = {},
                                     std::span<const Graph> given = {});

}  // namespace tutti::core::nccl
