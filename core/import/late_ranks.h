#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// A layer of the backward pass. The GPU of a late rank is estimated to be idle before this layer.
/// The late rank was not measured, but the measured rank waits for it.
struct LateLayer {
  std::int32_t pack = -1;    ///< the pack in which the measured rank waits
  std::string before;        ///< name of the gradient with which the pack becomes ready
  std::int64_t gap_ns = 0;   ///< idle time of the late rank before the layer of this gradient
  std::int64_t wait_ns = 0;  ///< measured time of the pack minus its predicted time
};

/// If only one rank was measured, explains packs that take much longer than their transfer: another
/// rank, which was not measured, is assumed to launch some layers late. Returns the idle times of
/// this late rank with which the packs of a step would take the measured times. The result is empty
/// if no pack exceeds the error band of its prediction by at least 1 % of a step, or if several
/// ranks were measured. `predicted` is a prediction in which no rank is late.
std::vector<LateLayer> late_layers(const MeasuredRun& run, const StepModel& model,
                                   const Summary& predicted);

}  // namespace tutti::core
