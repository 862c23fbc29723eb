#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/search/graph.h"
#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Reads the graphs of a file that NCCL 2.6 or later writes (NCCL_GRAPH_DUMP_FILE) or reads
/// (NCCL_GRAPH_FILE). The file identifies GPUs by device numbers. The result identifies a GPU by
/// its index in the sorted list of all device numbers in the file. `file` is the name that error
/// messages use for the text. ERRORS: the text is not XML; a graph is incomplete or inconsistent;
/// two graphs have the same id; a graph has more than 64 channels. SOURCE: NVIDIA/nccl v2.28.9
/// src/graph/search.cc (ncclTopoGetGraphFromXml).
Expected<std::vector<Graph>> read_graphs(std::string_view text, const std::string& file);
/// Reads graphs from a file of at most 64 MiB.
Expected<std::vector<Graph>> load_graphs(const std::string& path);

/// Returns the text of the file that NCCL 2.28 would write for these graphs. Graphs keep their
/// order.
/// REQUIRES: the graphs were found on `node`.
std::string write_graphs(std::span<const Graph> graphs, const Topology& node);

}  // namespace tutti::core::nccl
