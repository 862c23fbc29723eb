#pragma once

#include <cstdint>

#include "core/lowering/step_program.h"
#include "core/plan/compute_task.h"
#include "core/plan/runner.h"

namespace tutti::core {

/// What a step asks for, in the words of packs and exchanges.
class StepActions {
 public:
  virtual ~StepActions() = default;
  /// Queues a task on the replica's compute stream; StepPlayer::compute_done follows.
  virtual void compute(const ComputeTask& task) = 0;
  /// The last gradient that `pack` needs is ready on the replica. (For the record; nothing has to
  /// follow.)
  virtual void pack_ready(int pack) = 0;
  /// The replica takes part in the collective of `pack` from now on; StepPlayer::pack_done follows.
  virtual void launch(int pack) = 0;
  /// The replica takes part in an exchange of the plan, the `number`-th of its step (the same on
  /// all replicas); StepPlayer::exchange_done follows. Not called for plans without exchanges.
  virtual void exchange(int exchange, std::int64_t number);
  /// The replica's step is over.
  virtual void step_done() = 0;
};

/// Runs the step of one replica: a Runner on the program of the replica's group, whose tasks it
/// names by pack and exchange.
class StepPlayer {
 public:
  /// `device`: the replica's. REQUIRES: `programs` outlives the driver.
  StepPlayer(const StepPrograms& programs, std::size_t group, const DeviceRates& device);

  /// Starts a step. `pace_ppm`: how much slower (or faster) this step computes, 1'000'000 = as
  /// stated.
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
