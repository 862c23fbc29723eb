#pragma once

#include <cstdint>

#include "core/lowering/step_program.h"
#include "core/plan/compute_task.h"
#include "core/plan/runner.h"

namespace tutti::core {

/// The requests of a training step, in terms of packs and exchanges.
class StepActions {
 public:
  virtual ~StepActions() = default;
  /// Queues a task on the replica's compute stream; StepPlayer::compute_done follows.
  virtual void compute(const ComputeTask& task) = 0;
  /// The last gradient of `pack` is ready on the replica. (For information only; no call has to
  /// follow.)
  virtual void pack_ready(int pack) = 0;
  /// The replica starts its part of the collective of `pack`; StepPlayer::pack_done follows.
  virtual void launch(int pack) = 0;
  /// The replica starts its part of an exchange of the plan; StepPlayer::exchange_done follows.
  /// `number`: the index of the exchange in its step, equal on all replicas. Not called for plans
  /// without exchanges.
  virtual void exchange(int exchange, std::int64_t number);
  /// The replica has completed the step.
  virtual void step_done() = 0;
};

/// Runs the training step of one replica. A StepPlayer wraps a Runner for the program of the
/// replica's group, and translates tasks to packs and exchanges.
class StepPlayer {
 public:
  /// `device`: the rates of the replica's device. REQUIRES: `programs` outlives this object.
  StepPlayer(const StepPrograms& programs, std::size_t group, const DeviceRates& device);

  /// Starts a step. `pace_ppm`: the factor for the computation time of this step, in millionths
  /// (1'000'000: unchanged).
  void begin_step(std::int64_t pace_ppm, StepActions& actions);
  void compute_done(const ComputeTask& task, StepActions& actions);
  void pack_done(int pack, StepActions& actions);
  void exchange_done(int exchange, StepActions& actions);

 private:
  class Relay;

  Runner runner_;
  CommunicationTasks tasks_;
};

}  // namespace tutti::core
