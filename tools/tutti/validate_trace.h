#pragma once

#include "tools/tutti/validate.h"

namespace tutti::tools {

/// `tutti validate --trace`: calibrates the scenario of a trace on the first half of its steps,
/// predicts the other steps, and reports the errors.
int validate_trace(const ValidateOptions& options, const Environment& environment);

}  // namespace tutti::tools
