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

/// One worker's part of a benchmark: the scenario's first pack is executed repeatedly without
/// messages to the coordinator in between. The first iteration and one after the timed ones use
/// fresh inputs and are checked element by element; those between use the results of the one before
/// as inputs (as in nccl-tests and the OSU benchmarks).
///
/// A synchronising collective ends nowhere before it has begun everywhere, so a peer is at most one
/// iteration ahead: the next iteration is opened for its messages before any are taken from the
/// transport for the current one. This also makes each iteration a barrier: there is always an
/// untimed one between the first check, which takes some peers longer than others, and the timed
/// iterations. In other collectives a rank may be ahead by as much as the transport buffers (the
/// root of a broadcast; nccl-tests does not hold it back either). Then small all-reduces before and
/// after the timed iterations are the barriers.
class PerfLoop : private InterpreterListener {
 public:
  /// Collectives are executed by the interpreter unless `maker` makes something else.
  /// REQUIRES: scenario, transport and devices outlive the loop.
  PerfLoop(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
           Devices& devices, const WorkerOptions& options, const LoopOptions& loop,
           const CollectivesMaker& maker = {});

  Receiver& receiver() { return collectives_->receiver(); }
  [[nodiscard]] std::vector<std::string> notes() const;

  /// Returns the start and end of all timed iterations together, as the only pack of a step, and as
  /// a span of each rank. `idle` is called now and then, and returns false to give up.
  /// ERRORS: as WorkerRun::run; a wrong element.
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
  std::vector<core::Rank> ranks_;  ///< ranks of this worker: replicas, then the host if it helps
  std::size_t replicas_ = 0;
  std::vector<Devices::Memory> data_;  ///< by replica
  std::vector<std::byte*> places_;     ///< by index in ranks_; null for the host
  /// Separate barrier; null: the collective itself is a barrier.
  std::unique_ptr<core::Collective> barrier_;
  std::vector<Devices::Memory> barrier_data_;
  std::uint32_t iteration_ = 0;  ///< number of the next iteration
  std::size_t ranks_left_ = 0;
};

}  // namespace tutti::real
