#pragma once

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/export.h"

namespace tutti::tools {

/// `tutti export SCENARIO --to msccl|mscclpp`: writes the schedule of the first pack as MSCCL's
/// XML, or as an execution plan of MSCCL++.
int export_algorithm(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
