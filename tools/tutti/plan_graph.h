#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::tools {

/// True for names by which `--graph` knows what to write. ERRORS (requests): another suffix than
/// .svg or .dot.
core::Expected<void> check_graph(const std::string& path);

/// Draws a training step of the scenario as its task graph, with the critical path, into an .svg or
/// .dot file. Times and path are those of a run by `executor`; without one (null), or if its run
/// fails, they are the longest path over the durations that are known, which the picture says.
/// Returns what is to be said of it, in lines.
/// ERRORS: as write_file(). REQUIRES: check_graph() accepts `path`.
core::Expected<std::string> write_graph(const core::Scenario& scenario, core::Executor* executor,
                                        const std::string& path);

}  // namespace tutti::tools
