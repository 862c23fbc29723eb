#pragma once

#include "tools/tutti/export.h"

namespace tutti::tools {

/// `tutti export SCENARIO --to chakra|goal|goal-binary`: writes the training step of a scenario as
/// an execution trace for other simulators, and a scenario that executes the trace with Tutti.
int export_trace(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
