#pragma once

#include <optional>
#include <string>

#include "core/replay/graph_reader.h"
#include "tools/tutti/command.h"
#include "tools/tutti/import_trace.h"

namespace tutti::tools {

/// Returns the formats of workloads of other simulators, as `tutti import` names them: "chakra".
std::vector<std::string> graph_format_names();
/// Returns a description of the format for use in sentences: "a Chakra execution trace".
std::string_view described_graph(std::string_view name);

/// Returns true if the user has named a format for workloads of another simulator, or if the first
/// file contains such a workload.
bool is_graph_import(const ImportTraceOptions& options);

/// `tutti import` of an execution trace (Chakra, GOAL, PyTorch, SimAI, AICB): reads and checks the
/// trace, prints a summary, and writes a scenario that executes it.
int import_graph(const ImportTraceOptions& options, const Environment& environment);

}  // namespace tutti::tools
