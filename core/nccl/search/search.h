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
  Topology node;  ///< one node for NCCL: GPU 0 and all that it reaches without the network
  int nodes_per_topology = 1;  ///< number of such nodes in the topology
  bool over_nodes = false;
  float most_gb_per_s = 0;   ///< maximum of paths between GPUs, or from GPUs to the network
  float total_gb_per_s = 0;  ///< total rate of a GPU's NVLinks, or of its PCIe slot
};

/// Returns the graphs that NCCL 2.28.9 finds for a communicator over all GPUs of `count` such
/// machines: the same channels in the same order. For other versions of NCCL the graphs may differ.
/// `given` graphs with channels replace searched ones of the same id (NCCL_GRAPH_FILE); their GPUs
/// must be the node's. ERRORS: a given graph has other GPUs; several nodes without a network card;
/// more than 160 GPUs in one node; a topology on which the search does not end. SOURCE: NVIDIA/nccl
/// v2.28.9 src/graph/search.cc, src/init.cc (which graphs, in which order).
Expected<SearchResult> search_graphs(const Topology& topology, std::int64_t count,
                                     const SearchSettings& settings = {},
                                     std::span<const Graph> given = {});

}  // namespace tutti::core::nccl
