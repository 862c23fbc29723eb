#pragma once

#include <string>

#include "tools/tutti/explain.h"

namespace tutti::tools {

/// Returns true if the file is a log of the operations of a training job (CSV).
bool is_operation_log(const std::string& path);

/// `tutti explain LOG.csv`: makes the task graph of a job from the log of its operations. Reports
/// how well the graph predicts the step time from the durations of the computations, and which
/// computations make the step slower than it would be without stragglers.
int explain_operations(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
