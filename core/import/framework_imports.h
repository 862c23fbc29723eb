#pragma once

#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a dump of PyTorch's Flight Recorder to `run`. The rank is the number at the end of the
/// file's name or, if there is none, the next unused number.
/// ERRORS: as for read_flight_recorder().
Expected<void> import_flight_recorder(ByteInput& input, const std::string& name, MeasuredRun& run);
/// Adds a note for each group whose ranks issued different numbers of collectives, as is typical of
/// a job that hangs. Must be called after all dumps were read.
void note_late_ranks(MeasuredRun& run);

/// Adds a Horovod timeline, which one rank writes for all ranks. Each tensor is negotiated once per
/// training step, so its k-th negotiation belongs to step k. Tensors whose collectives have the
/// same start and the same end form a pack. A Horovod timeline does not show computation. A step is
/// therefore assumed to begin when the previous step ends, and its forward pass to last until the
/// first tensor of the step is ready. ERRORS: as for read_horovod_timeline().
Expected<void> import_horovod(ByteInput& input, const std::string& name, MeasuredRun& run,
                              const std::function<void(double)>& progress = {});

/// Adds a log of MLPerf to `run`, with one step for each interval of the log whose step time is
/// known (mlperf_intervals.h). Depending on the log, an interval is a step, a period with a logged
/// throughput, an epoch, a block of training, or the time between two evaluations. ERRORS: as for
/// read_mlperf_log(); the log states neither step times nor the global batch; no step time can be
/// computed from the log.
Expected<void> import_mlperf(ByteInput& input, const std::string& name, MeasuredRun& run);

}  // namespace tutti::core
