#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

/// When to simulate one worker on behalf of all identical workers (sim/folding/folding.h). The
/// choice affects only the cost of the simulation and the contents of a timeline; it does not
/// affect the results.
enum class Folds {
  /// One worker is simulated if all workers are identical and the simulation of each of them would
  /// take long. The threshold is higher for a run that records a timeline, because the timeline of
  /// a folded run has only one worker.
  kAutomatic,
  kAlways,  ///< one worker is always simulated; the run is refused if that worker cannot represent
            ///< all workers
  kNever,
};

/// When to skip the simulation of repetitions: training steps that repeat the previous step
/// (sim/run/repetition.h), and rounds of a collective that repeat the previous round
/// (sim/interpreter/rounds.h). The choice affects only the cost of the simulation; it does not
/// affect the results.
enum class SkipRepeats {
  kAutomatic,  ///< repeated steps are skipped if the run takes long
  kAlways,     ///< repeated steps are skipped, however short the run is
  kNever,      ///< all steps are simulated
};

/// The proof of an algorithm of a file before its simulation. Without it, a wrong algorithm is
/// simulated like any other, unless it deadlocks, so that its timeline shows what it does.
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

/// True if a run with Folds::kAlways was refused, and the only reason is that one worker cannot
/// represent all workers.
bool cannot_fold(const core::Error& refusal);

/// Estimates the number of schedule steps that a run simulates. If `folds` allows folding and the
/// scenario can be folded, these are the steps of one worker; otherwise, these are the steps of all
/// workers. If folding fails during the run, all workers are simulated in addition. The simulation
/// of a million schedule steps takes about a second. Cost: the cost of building a plan.
double work_of(const core::Scenario& scenario, Folds folds = Folds::kAutomatic);

}  // namespace tutti::sim
