#pragma once

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/export.h"

namespace tutti::tools {

/// `tutti export SCENARIO --to msccl`: the schedule of the first pack as MSCCL's XML.
int export_algorithm(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
