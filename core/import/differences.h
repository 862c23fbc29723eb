#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/import/measured_run.h"
#include "core/import/step_model.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// A reason why a measured step takes another time than a predicted one.
struct Difference {
  enum class Kind {
    kCollective,  ///< a pack takes longer or shorter than the band of its prediction
    kLateRank,    ///< other ranks wait for a rank that begins its collectives later
    kHostGap,     ///< the device is idle although nothing is in flight
    kOverlap,     ///< computation is slower while collectives are in flight
    kChoice,      ///< NCCL chose an algorithm, protocol or channel count that was not predicted
    kPacks,       ///< the packs differ from the predicted ones
  };
  Kind kind = Kind::kCollective;
  std::string what;      ///< one sentence without a full stop
  std::string evidence;  ///< the figures behind it
  /// The maximum time of a step that it explains; differences may overlap.
  Time effect;
};
/// "collective", "late-rank", …: for programs.
std::string_view to_string(Difference::Kind kind);

/// Returns the differences between a run and the prediction of its step, largest first. `model`: of
/// the run. `predicted`: of the scenario that scenario_of_run() makes of it.
/// A pack's measured time is the least over the ranks of the files, whose start is the last: the
/// others' times include waiting. With one rank, that cannot be told apart, and is said.
std::vector<Difference> differences(const MeasuredRun& run, const StepModel& model,
                                    const Summary& predicted);

}  // namespace tutti::core
