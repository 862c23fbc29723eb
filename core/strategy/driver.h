#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/runner.h"
#include "core/strategy/step_program.h"

namespace tutti::core {

/// Work for the device's compute stream, which does one thing after the other.
struct ComputeTask {
  ComputeKind kind = ComputeKind::kForward;
  Time duration;
  int segment = -1;  ///< of backward tasks, and of conversions of a segment's gradients; -1: none
  int pack = -1;     ///< of copies, conversions and updates of one pack; -1: of none, or of all together
  std::int64_t compute_bound_ppm = 0;  ///< what of it multiprocessors limit, in millionths; memory limits the rest
  TaskId id = kNoTask;
};

/// The world as a driver sees it: virtual in the simulator, clocks and processes in a real run.
class DriverActions {
 public:
  virtual ~DriverActions() = default;
  /// Queues a task on the replica's compute stream; Driver::compute_done follows.
  virtual void compute(const ComputeTask& task) = 0;
  /// The last gradient that `pack` needs is ready on the replica. (For the record; nothing has to follow.)
  virtual void pack_ready(int pack) = 0;
  /// The replica takes part in the collective of `pack` from now on; Driver::pack_done follows.
  virtual void launch(int pack) = 0;
  /// The replica takes part in an exchange of the plan, the `number`-th of its step (the same on all replicas);
  /// Driver::exchange_done follows. Not called for plans without exchanges.
  virtual void exchange(int exchange, std::int64_t number);
  /// The replica's step is over.
  virtual void step_done() = 0;
};

/// Returns how much slower or faster than stated a replica computes in a step, in millionths: evenly distributed within
/// ± `jitter_ppm`. A pure function of its arguments.
std::int64_t pace_of(std::int64_t jitter_ppm, std::uint64_t seed, std::int64_t replica, std::int32_t step);

/// Runs the step of one replica: a Runner on the program of the replica's group, whose tasks it names by pack and exchange.
class Driver {
 public:
  /// `device`: the replica's. REQUIRES: `programs` outlives the driver.
  Driver(const StepPrograms& programs, std::size_t group, const DeviceRates& device);

  /// Starts a step. `pace_ppm`: how much slower (or faster) this step computes, 1'000'000 = as stated.
  void begin_step(std::int64_t pace_ppm, DriverActions& actions);
  void compute_done(const ComputeTask& task, DriverActions& actions);
  void pack_done(int pack, DriverActions& actions);
  void exchange_done(int exchange, DriverActions& actions);

 private:
  class Relay;

  const StepProgram* program_;
  Runner runner_;
  std::vector<TaskId> exchanges_;  ///< by exchange: the task that is in flight
};

}  // namespace tutti::core
