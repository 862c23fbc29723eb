#pragma once

#include "tools/tutti/compare.h"

namespace tutti::tools {

/// `tutti compare --promise`: compares measurements of NCCL's collectives with the times that
/// `tutti tune` predicted. Measurements are dumps of NCCL Inspector, other traces, or logs of
/// nccl-tests. Returns the exit status.
int compare_promise(const CompareOptions& options);

}  // namespace tutti::tools
