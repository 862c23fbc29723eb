#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// A reason why the measured time of a step differs from the predicted time.
struct Difference {
  enum class Kind {
    kCollective,  ///< the time of a pack is outside the error band of its prediction
    kLateRank,    ///< other ranks wait for a rank that starts its collectives late
    kHostGap,     ///< the device is idle while no collective is in flight
    kOverlap,     ///< computation is slower while collectives are in flight
    kChoice,      ///< NCCL chose an algorithm, protocol or channel count that was not predicted
    kPacks,       ///< the run's packs are not those that were predicted
  };
  Kind kind = Kind::kCollective;
  std::string what;      ///< describes the difference in one sentence without a full stop
  std::string evidence;  ///< the measured and predicted values that show the difference
  /// An upper bound of the part of the step time that this difference explains. Two differences may
  /// explain the same time.
  Time effect;
};
/// Returns the name of the kind for programs: "collective", "late-rank", ….
std::string_view to_string(Difference::Kind kind);

/// Returns the differences between a measured run and its prediction, largest first. `model` is the
/// result of step_model(run). `predicted` is the summary of a simulation of the scenario that
/// scenario_of_run() returns.
///
/// The measured time of a pack is the minimum over the ranks in the files, because every rank
/// except the last to start also waits for other ranks. If only one rank was measured, waiting and
/// transfer cannot be distinguished; `what` then says so.
std::vector<Difference> differences(const MeasuredRun& run, const StepModel& model,
                                    const Summary& predicted);

}  // namespace tutti::core
