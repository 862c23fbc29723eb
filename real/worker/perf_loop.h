#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/devices.h"
#include "real/transport/transport.h"
#include "real/worker/loop_options.h"
#include "real/worker/worker_run.h"

namespace tutti::real {

/// Executes a benchmark on one worker. The benchmark executes the scenario's first pack repeatedly,
/// without messages to the coordinator in between. The first iteration, and one iteration after the
/// timed iterations, have new inputs, and their results are checked element by element. Iterations
/// without new inputs use the results of the previous iteration as inputs (as in nccl-tests and the
/// OSU benchmarks).
///
/// A synchronising collective does not complete on any rank before it has begun on all ranks. If
/// the benchmarked collective synchronises, a peer is at most one iteration ahead of this process.
/// To accept messages of a peer that is ahead, the next iteration is opened before messages of the
/// current iteration are taken from the transport. Each iteration of a collective that synchronises
/// is also a barrier. The check after the first iteration takes longer on some peers than on
/// others, so at least one untimed iteration always runs between this check and the timed
/// iterations. In a collective that does not synchronise, a rank such as the root of a broadcast
/// may be ahead by as much data as the transport can buffer, as in nccl-tests. Small all-reduces
/// before and after the timed iterations then serve as barriers.
class PerfLoop : private InterpreterListener {
 public:
  /// `maker` creates the object that executes collectives. If `maker` is empty, an Interpreter
  /// executes the collectives.
  /// REQUIRES: scenario, transport and devices outlive this object.
  PerfLoop(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
           Devices& devices, const WorkerOptions& options, const LoopOptions& loop,
           const CollectivesMaker& maker = {});

  Receiver& receiver() { return collectives_->receiver(); }
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Runs the benchmark, and returns its record as one training step with one pack. The pack, and
  /// the span of each rank, begin with the first timed iteration and end with the last timed
  /// iteration. `idle` is called regularly; if it returns false, the benchmark is cancelled.
  /// ERRORS: those of WorkerRun::run(); an element of a result is wrong.
  core::Expected<WorkerStep> run(const std::function<bool()>& idle);
  core::Expected<void> flush();
  core::Expected<void> serve(Transport::Clock::time_point until) { return transport_.poll(until); }

 private:
  void rank_done(CollectiveTag collective, core::Rank rank) override;
  void step_done(const StepDone&) override {}

  [[nodiscard]] std::unique_ptr<core::Collective> make_barrier() const;
  void open(std::uint32_t iteration);
  [[nodiscard]] bool is_barrier(std::uint32_t iteration) const;
  [[nodiscard]] WorkerStep as_step(Transport::Clock::time_point start,
                                   Transport::Clock::time_point end) const;
  core::Expected<void> iterate(std::int32_t times, const std::function<bool()>& idle);
  core::Expected<void> one(const std::function<bool()>& idle);
  core::Expected<void> checked(const std::function<bool()>& idle);
  core::Expected<void> barrier(const std::function<bool()>& idle);

  const core::Scenario& scenario_;
  const core::Collective& collective_;
  std::int32_t worker_;
  Transport& transport_;
  Devices& devices_;
  WorkerOptions options_;
  LoopOptions loop_;
  std::unique_ptr<Collectives> collectives_;
  /// The ranks of this worker: its replicas, then its CPU if the collective uses the CPU.
  std::vector<core::Rank> ranks_;
  std::size_t replicas_ = 0;
  std::vector<Devices::Memory> data_;  ///< the data of each replica
  std::vector<std::byte*> places_;     ///< the buffer of each rank in ranks_; null for the CPU
  /// The collective that serves as barrier; null if the benchmarked collective itself is a barrier.
  std::unique_ptr<core::Collective> barrier_;
  std::vector<Devices::Memory> barrier_data_;
  std::uint32_t iteration_ = 0;  ///< number of the next iteration
  std::size_t ranks_left_ = 0;
};

}  // namespace tutti::real
