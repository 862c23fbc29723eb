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
    kPacks,       ///< the packs differ from the predicted ones
  };
  Kind kind = Kind::kCollective;
  std::string what;      ///< one sentence without a full stop
  std::string evidence;  ///< the figures on which the difference is based
  /// An upper bound of the part of the step time that this difference explains. The parts of two
  /// differences may overlap.
  Time effect;
};
/// Returns the name of the kind for programs: "collective", "late-rank", ….
std::string_view to_string(Difference::Kind kind);

/// Returns the differences between a run and the prediction of its step, largest first. `model` is
/// the model of the run. `predicted` is the summary of a simulation of the scenario that
/// scenario_of_run() returns.
///
/// The measured time of a pack is the minimum over the ranks in the files, because every rank
/// except the last to start also waits for other ranks. With one rank, waiting and transfer cannot
/// be distinguished, and the text of the difference states this.
std::vector<Difference> differences(const MeasuredRun& run, const StepModel& model,
                                    const Summary& predicted);

}  // namespace tutti::core
