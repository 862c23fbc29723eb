#pragma once

#include <functional>
#include <string>

#include "core/formats/byte_input.h"
#include "core/import/measured_run.h"

namespace tutti::core {

/// Adds a dump of PyTorch's Flight Recorder. The rank is the number at the end of the file's name,
/// otherwise the next free one. ERRORS: those of read_flight_recorder.
Expected<void> import_flight_recorder(ByteInput& input, const std::string& name, MeasuredRun& run);
/// Call it after all dumps are read: it adds a note on each group in which ranks issued different
/// numbers of collectives, as after a hang.
void note_late_ranks(MeasuredRun& run);

/// Adds a timeline of Horovod, which one rank writes for all ranks. The k-th negotiation of a
/// tensor belongs to training step k. Tensors whose transport takes the same time belong to one
/// pack. A step begins when the previous one ends, so its forward pass lasts until the first tensor
/// is ready. ERRORS: those of read_horovod_timeline.
Expected<void> import_horovod(ByteInput& input, const std::string& name, MeasuredRun& run,
                              const std::function<void(double)>& progress = {});

}  // namespace tutti::core
