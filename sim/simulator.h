#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

/// Specifies when a run is folded, that is, when one worker is simulated on behalf of all identical
/// workers (sim/folding/folding.h). Folding changes the cost of the simulation and the contents of
/// a timeline, but not the results.
enum class Folds {
  /// The run is folded if all workers are identical and the simulation of all of them would take
  /// long. For a run that records a timeline, the threshold is higher, because the timeline of a
  /// folded run has only one worker.
  kAutomatic,
  kAlways,  ///< the run is folded or, if one worker cannot represent all workers, rejected
  kNever,
};

/// Specifies when repetitions are computed instead of being simulated. Repetitions are training
/// steps that are identical to the previous step (sim/run/repetition.h), and rounds of a collective
/// that are identical to the previous round (sim/interpreter/rounds.h). The choice changes the cost
/// of the simulation, but not the results.
enum class SkipRepeats {
  kAutomatic,  ///< repetitions are skipped if the run would take long
  kAlways,     ///< repetitions are skipped even in short runs
  kNever,      ///< all training steps and all rounds are simulated
};

/// Selects whether an algorithm from a file is proved correct before it is simulated. Without a
/// proof, incorrect algorithms are simulated too (unless they deadlock), so that their timelines
/// show the errors.
enum class Proof { kQuick, kNone };

/// Runs scenarios in virtual time. Deterministic: the same scenario and seed give bit-identical
/// timelines. Stateless: several threads may call one Simulator concurrently.
class Simulator : public core::Executor {
 public:
  explicit Simulator(Folds folds = Folds::kAutomatic,
                     SkipRepeats skip_repeats = SkipRepeats::kAutomatic,
                     Proof proof = Proof::kQuick)
      : folds_(folds), skip_repeats_(skip_repeats), proof_(proof) {}

  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

 private:
  Folds folds_;
  SkipRepeats skip_repeats_;
  Proof proof_;
};

/// `refusal` is the error of a run with Folds::kAlways. Returns true if the run failed only because
/// one worker cannot represent all workers.
bool cannot_fold(const core::Error& refusal);

/// Estimates the number of schedule steps that a run simulates. If `folds` allows folding and the
/// scenario can be folded, only the steps of one worker are counted, otherwise those of all
/// workers. If folding fails during the run, the run takes longer than estimated, because all
/// workers are then simulated in addition. The simulation of a million schedule steps takes about a
/// second. Cost: the cost of building a plan.
double work_of(const core::Scenario& scenario, Folds folds = Folds::kAutomatic);

}  // namespace tutti::sim
