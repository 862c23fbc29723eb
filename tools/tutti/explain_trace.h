#pragma once

#include "tools/tutti/explain.h"

namespace tutti::tools {

/// `tutti explain TRACE…`: predicts the training step of a measured run, and explains why the
/// measured step time differs from the prediction.
int explain_trace(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
