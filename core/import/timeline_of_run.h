#pragma once

#include "core/base/error.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Writes a measured run to `sink` as a timeline, which `view`, `compare` and `export` read.
///
/// Packs are the all-reduces of gradients, with the names of gradients that scenario_of_run()
/// writes; the other collectives are separate packs after them, one for each kind, size and group.
/// The record of a step has these phases: forward until the backward pass begins, backward until
/// the last gradient is ready, then copies and updates, all without exposed communication. `model`:
/// the model of the run. `name`: the timeline's name for the run. ERRORS: no record has a time; the
/// run lasts longer than 50 days.
Expected<void> write_timeline(const MeasuredRun& run, const StepModel& model,
                              const std::string& name, TimelineSink& sink);

}  // namespace tutti::core
