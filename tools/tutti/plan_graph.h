#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::tools {

/// Checks the suffix of a file for `--graph`. ERRORS (requests): it is neither .svg nor .dot.
core::Expected<void> check_graph(const std::string& path);

/// Draws a training step of the scenario as its task graph, with the critical path, into an .svg or
/// .dot file. Times and path are those of a run by `executor`. Without an executor (null), or if
/// its run fails, the path is the longest one over the durations that are known, and the picture
/// says so. Returns remarks on the picture, in lines.
/// ERRORS: as write_file(). REQUIRES: check_graph() accepts `path`.
core::Expected<std::string> write_graph(const core::Scenario& scenario, core::Executor* executor,
                                        const std::string& path);

}  // namespace tutti::tools
