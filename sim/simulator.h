#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

/// When to simulate one worker on behalf of all identical ones (sim/folding/folding.h). Results are
/// the same; only the cost of the simulation and the contents of a timeline differ.
enum class Folds {
  kWhereItPays,  ///< if workers are identical; if their timeline is kept, only if the run would
                 ///< otherwise take long
  kAlways,       ///< always; the run is refused if one worker cannot represent all
  kNever,
};

/// When to skip the simulation of training steps (sim/run/repetition.h) and of rounds of a
/// collective (sim/interpreter/rounds.h) that repeat the previous one. Results are the same; only
/// the cost of the simulation differs.
enum class Remembers {
  kWhereItPays,  ///< repeated steps are skipped if the run takes long
  kAlways,       ///< repeated steps are skipped, however short the run is
  kNever,        ///< all steps are simulated
};

/// Runs scenarios in virtual time. Deterministic: the same scenario and seed give bit-identical
/// timelines.
/// Stateless; several threads may use it concurrently.
class Simulator : public core::Executor {
 public:
  explicit Simulator(Folds folds = Folds::kWhereItPays,
                     Remembers remembers = Remembers::kWhereItPays)
      : folds_(folds), remembers_(remembers) {}

  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

 private:
  Folds folds_;
  Remembers remembers_;
};

/// True if a run with Folds::kAlways was refused only because one worker cannot represent all.
bool cannot_stand_for_all(const core::Error& refusal);

/// Estimates the number of lane steps to simulate: those of one worker if the scenario can be
/// folded. A million steps take about a second. With kNever: those of all workers, which is also
/// the cost if folding fails during the run.
/// Cost: that of a plan.
double work_of(const core::Scenario& scenario, Folds folds = Folds::kWhereItPays);

}  // namespace tutti::sim
