#pragma once

#include "core/base/error.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Writes a measured run to `sink` as a timeline, which `view`, `compare` and `export` read.
///
/// Each all-reduce of gradients is a pack of the timeline; gradients have the same names as in
/// scenario_of_run(). All other collectives are further packs, one for each combination of kind,
/// size and group. A step is divided into three parts: forward (until the backward pass begins),
/// backward (until the last gradient is ready), and copies and updates. The parts exclude exposed
/// communication.
///
/// `model` is the result of step_model(run). `name` is the name of the run in the timeline.
/// ERRORS: no record has a time; the run lasts longer than 50 days.
Expected<void> write_timeline(const MeasuredRun& run, const StepModel& model,
                              const std::string& name, TimelineSink& sink);

}  // namespace tutti::core
