#pragma once

#include "core/base/error.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Writes a measured run to `sink` as a timeline, which `view`, `compare` and `export` read.
///
/// The packs are the all-reduces of gradients; their gradients have the names that
/// scenario_of_run() writes. Other collectives follow as further packs, one for each kind, size and
/// group. A step is divided into forward (until the backward pass begins), backward (until the last
/// gradient is ready), and copies and updates. Each part excludes exposed communication.
///
/// `model` is the model of the run, and `name` is the run's name in the timeline.
/// ERRORS: no record has a time; the run lasts longer than 50 days.
Expected<void> write_timeline(const MeasuredRun& run, const StepModel& model,
                              const std::string& name, TimelineSink& sink);

}  // namespace tutti::core
