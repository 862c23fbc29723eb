#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/search/graph.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// The graphs of a file that NCCL_GRAPH_DUMP_FILE wrote, or NCCL_GRAPH_FILE reads: of NCCL 2.6 and
/// later. GPUs are given by their device numbers there; here a GPU is its place among all that the
/// file names. `file`: what errors call the text. ERRORS: no XML; a graph that lacks something or
/// contradicts itself; two of one id; more than 64 channels. SOURCE: NVIDIA/nccl v2.28.9
/// src/graph/search.cc (ncclTopoGetGraphFromXml).
Expected<std::vector<Graph>> read_graphs(std::string_view text, const std::string& file);
/// The same for a file of at most 64 MiB.
Expected<std::vector<Graph>> load_graphs(const std::string& path);

/// The file that NCCL 2.28 would write of these graphs, which were found on `node`, in their order.
std::string write_graphs(std::span<const Graph> graphs, const Topology& node);

}  // namespace tutti::core::nccl
