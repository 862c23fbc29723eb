#pragma once

#include "tools/tutti/explain.h"

namespace tutti::tools {

/// `tutti explain TRACE…`: predicts the step of a measured run, and says in words why the measured
/// one takes another time.
int explain_trace(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
