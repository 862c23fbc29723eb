#pragma once

#include "core/scenario/executor.h"

namespace tutti::sim {

/// Whether one worker is simulated in place of all that are like it (sim/folding/folding.h). It makes no difference but to the
/// time that it takes, and to what a timeline shows.
enum class Folds {
  kWhereItPays,  ///< where workers are alike; if their timeline is kept, only if the run would take long
  kAlways,       ///< or not at all: the run is refused where it cannot be
  kNever,
};

/// Whether training steps that repeat the one before are simulated again (sim/run/repetition.h), and rounds of a collective (sim/interpreter/rounds.h). It makes no difference but to the
/// time that it takes.
enum class Remembers {
  kWhereItPays,  ///< not again, if the run takes long
  kAlways,       ///< not again, however short it is
  kNever,        ///< every one
};

/// Runs scenarios in virtual time. Deterministic: the same scenario and seed give the same timeline to the last bit.
/// Holds no state; one may run in every thread.
class Simulator : public core::Executor {
 public:
  explicit Simulator(Folds folds = Folds::kWhereItPays, Remembers remembers = Remembers::kWhereItPays)
      : folds_(folds), remembers_(remembers) {}

  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;

 private:
  Folds folds_;
  Remembers remembers_;
};

/// Whether a run with Folds::kAlways was refused since one worker cannot stand for all, and for nothing else.
bool cannot_stand_for_all(const core::Error& refusal);

/// About how many steps of lanes have to be gone through: those of one worker, where it is known beforehand that one stands for all. A
/// million of them take a second or so. kNever: those of all workers, which it comes to if that turns out to be wrong. Cost: that of a plan.
double work_of(const core::Scenario& scenario, Folds folds = Folds::kWhereItPays);

}  // namespace tutti::sim
