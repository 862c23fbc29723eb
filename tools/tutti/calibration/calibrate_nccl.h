#pragma once

#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// `tutti calibrate --cluster`: NCCL's times on a cluster from logs of nccl-tests, as a file that
/// predictions take. Answers the exit status.
int calibrate_nccl(const CalibrateOptions& options, const Environment& environment);

}  // namespace tutti::tools
