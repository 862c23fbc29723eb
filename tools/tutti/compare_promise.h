#pragma once

#include "tools/tutti/compare.h"

namespace tutti::tools {

/// `tutti compare --promise`: what `tutti tune` promised of NCCL's collectives against what was
/// measured: dumps of NCCL's Inspector and other traces, or logs of nccl-tests. Returns the exit
/// status.
int compare_promise(const CompareOptions& options);

}  // namespace tutti::tools
