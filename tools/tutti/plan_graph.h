#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::tools {

/// Checks the suffix of the file for `--graph`. ERRORS (kRequest): the suffix is neither .svg nor
/// .dot.
core::Expected<void> check_graph(const std::string& path);

/// Draws the task graph of a training step, with the critical path, into an .svg or .dot file.
/// Times and the critical path come from a run by `executor`. If `executor` is null or its run
/// fails, the critical path is the longest path through the graph, computed from the durations that
/// are known without a run. If the path does not come from a run, the picture says how it was
/// determined. Returns remarks on the picture, one per line.
/// ERRORS: those of write_file(). REQUIRES: check_graph() accepts `path`.
core::Expected<std::string> write_graph(const core::Scenario& scenario, core::Executor* executor,
                                        const std::string& path);

}  // namespace tutti::tools
