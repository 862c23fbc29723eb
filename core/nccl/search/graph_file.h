#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/search/graph.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Reads the graphs of a file of NCCL_GRAPH_DUMP_FILE or NCCL_GRAPH_FILE, of NCCL 2.6 and later.
/// The file has device numbers of GPUs; here a GPU is its position among all that the file names.
/// Errors use `file` as the name of the text. ERRORS: not XML; an incomplete or inconsistent graph;
/// duplicate ids; more than 64 channels. SOURCE: NVIDIA/nccl v2.28.9 src/graph/search.cc
/// (ncclTopoGetGraphFromXml).
Expected<std::vector<Graph>> read_graphs(std::string_view text, const std::string& file);
/// Reads graphs from a file of at most 64 MiB.
Expected<std::vector<Graph>> load_graphs(const std::string& path);

/// Returns the file that NCCL 2.28 would write for these graphs, which were found on `node`, in
/// their order.
std::string write_graphs(std::span<const Graph> graphs, const Topology& node);

}  // namespace tutti::core::nccl
