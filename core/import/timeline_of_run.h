#pragma once

#include "core/base/error.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Reports a measured run to `sink` as a timeline, which `view`, `compare` and `export` take.
///
/// Packs are the all-reduces of gradients, with the names of gradients that scenario_of_run()
/// writes; all other collectives are packs of their own behind them, one for each kind, size and
/// group. The record of a step has: forward until the backward pass begins, backward until the last
/// gradient is ready, then copies and updates, each without exposed communication. `model`: of the
/// run. `name` is what the timeline calls it. ERRORS: nothing in it has a time; it lasts longer
/// than 50 days.
Expected<void> write_timeline(const MeasuredRun& run, const StepModel& model,
                              const std::string& name, TimelineSink& sink);

}  // namespace tutti::core
