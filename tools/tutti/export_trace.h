#pragma once

#include "tools/tutti/export.h"

namespace tutti::tools {

/// `tutti export SCENARIO --to chakra|goal|goal-binary`: the training step of a scenario for other
/// simulators, and a scenario that executes it here.
int export_trace(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
