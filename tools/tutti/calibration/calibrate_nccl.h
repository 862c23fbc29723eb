#pragma once

#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// `tutti calibrate --cluster`: writes a calibration file from logs of nccl-tests on a cluster. The
/// file corrects predictions of NCCL's times. Returns the exit status.
int calibrate_nccl(const CalibrateOptions& options, const Environment& environment);

}  // namespace tutti::tools
