#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/lowering/gates.h"
#include "core/lowering/step_program.h"
#include "core/plan/compute_task.h"
#include "core/plan/runner.h"
#include "core/scenario/scenario.h"
#include "real/asynchronous/async_servers.h"
#include "real/emulate/scale.h"
#include "real/fusing/cycles.h"
#include "real/interpreter/gradients.h"
#include "real/interpreter/interpreter.h"
#include "real/process/core_wait.h"
#include "real/process/timers.h"
#include "real/transport/transport.h"
#include "real/worker/step_log.h"

namespace tutti::real {

struct WorkerOptions {
  bool verify = true;
  LogOptions log;
  /// The run fails after this time without progress.
  std::chrono::duration<double> timeout{60};
  /// The factor by which replayed computation is slower than in the scenario.
  TimeScale scale;
  /// True: each launch of a pack takes the launch time of the scenario.
  bool replay_launch = false;
  /// True: during replayed computation, one thread per replica keeps a core busy. False: replicas
  /// wait.
  bool busy = false;
};

/// A function that creates the object that executes a worker's collectives. If `watch_steps` is
/// true, the object reports each schedule step that it executes.
using CollectivesMaker =
    std::function<std::unique_ptr<Collectives>(InterpreterListener& listener, bool watch_steps)>;

/// Executes the training steps of a run on one worker. Each replica has a runner
/// (core/plan/runner.h), which executes the replica's tasks. The worker's CPU also takes part if
/// packs use it. On some devices (Devices::compute()), kernels replay the computation. On other
/// devices, computation is replayed by a timer (the compute stream is busy, the core is idle), or
/// by a thread that keeps a core busy. Communication therefore overlaps computation, as in real
/// training.
///
/// Training steps run in batches. Within a batch, a replica begins a step when its own previous
/// step has ended, even if other replicas are behind. In real training and in the simulator,
/// replicas also begin their steps independently. Between batches, results are checked and buffers
/// get new inputs.
class WorkerRun : private InterpreterListener, private WorkListener {
 public:
  using Clock = Transport::Clock;

  /// `maker` creates the object that executes collectives. If `maker` is empty, an Interpreter
  /// executes the collectives.
  /// REQUIRES: all arguments outlive this object.
  WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
            Devices& devices, Timers& timers, const WorkerOptions& options,
            const CollectivesMaker& maker = {});
  ~WorkerRun() override;

  [[nodiscard]] Receiver& receiver() { return collectives_->receiver(); }
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Returns the result of notes(), followed by the notes that are known only after the last step.
  [[nodiscard]] std::vector<std::string> final_notes() const;

  /// Fills the buffers with the inputs of the training steps first … first + count - 1, and opens
  /// the collectives of these steps.
  void prepare(std::int32_t first, std::int32_t count);
  /// Runs the prepared steps from time `begin` to their end on all replicas of this worker. `idle`
  /// is called regularly; if it returns false, the run is cancelled. ERRORS: a peer is gone or
  /// violates the protocol; there is no progress within the timeout; `idle` returned false.
  core::Expected<void> run(Clock::time_point begin, const std::function<bool()>& idle);
  /// The following two functions may be called during run(). The function still_since() returns the
  /// start of the current standstill, in which no data moves and no timer is pending; nullopt if
  /// there is progress. The function progress_text() returns a text that describes what the run
  /// waits for.
  [[nodiscard]] std::optional<Clock::time_point> still_since() const { return still_since_; }
  [[nodiscard]] std::string progress_text() const;
  /// Returns, in order, the records of the steps that are complete on this worker, except records
  /// that an earlier call has returned. May be called during run(), or after run() has failed.
  std::vector<WorkerStep> take_steps();
  /// Sends messages that peers may need after the end of the run, such as reports of freed slots
  /// (parts of receive buffers).
  core::Expected<void> flush();
  /// Polls the transport until time `until`, so that a lost peer is detected.
  core::Expected<void> serve(Clock::time_point until);
  /// Checks every element of the results of all prepared steps. ERRORS: an element is wrong. The
  /// error names the rank, the pack, the index, the actual value and the expected value of the
  /// first wrong element.
  core::Expected<void> verify();
  /// For asynchronous workers: the two functions return the reads of variables and the staleness of
  /// updates in the current steps.
  std::vector<ReadSeen> take_reads() {
    return async_servers_ ? async_servers_->take_reads() : std::vector<ReadSeen>();
  }
  core::UpdatesBehind take_behind() {
    return async_servers_ ? async_servers_->take_behind() : core::UpdatesBehind();
  }

 private:
  struct Replica;
  struct Task;

  void rank_done(CollectiveTag collective, core::Rank rank) override;
  void step_done(const StepDone& step) override;
  void channel_done(const ChannelDone& done) override;
  void worked(Ticket ticket) override { collectives_->worked(ticket); }
  void computed(core::Rank rank, Clock::time_point start, Clock::time_point end) override;

  [[nodiscard]] std::vector<core::Rank> ranks_of(std::size_t pack) const;
  [[nodiscard]] bool is_in(std::int32_t step, std::size_t pack) const;
  void start_helpers();
  void count_completed(std::int32_t step);
  void begin_step(Replica& replica);
  void end_step(Replica& replica);
  void compute(Replica& replica, const core::ComputeTask& task);
  void poll_compute(Replica& replica, Task task);
  void compute_done(Replica& replica, const Task& done);
  [[nodiscard]] bool computes(Clock::time_point now) const;
  void launch(Replica& replica, int pack);
  void begin(Replica& replica, int pack);
  void launched(Replica& replica, std::int32_t step, int pack);
  void done(std::int32_t step, int pack, core::Rank rank);
  void fuse();
  [[nodiscard]] bool is_fused(std::size_t pack) const {
    return cycles_ && gates_.governs(static_cast<int>(pack));
  }
  void start(const std::vector<core::GateDecision>& decisions);
  void go_on();
  core::Expected<void> look(Clock::time_point until);

  const core::Scenario& scenario_;
  Transport& transport_;
  Devices& devices_;
  Timers& timers_;
  WorkerOptions options_;
  core::StepPrograms programs_;
  /// For each pack that is a push, the index of the pack that pulls the result; -1 for all other
  /// packs.
  std::vector<int> pull_of_;
  std::unique_ptr<Collectives> collectives_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  /// The ranks of this worker: its replicas, then its CPU if any pack uses the CPU.
  std::vector<core::Rank> ranks_;
  std::unique_ptr<Gradients> gradients_;
  core::PlanGate gates_;
  /// The gate of this worker, which decides when packs may start; null unless the plan has a gate
  /// that decides without the other workers.
  std::unique_ptr<core::Gate> gate_;
  std::unique_ptr<Cycles> cycles_;  ///< executes Horovod's cycles; null if packs are not fused
  std::unique_ptr<AsyncServers> async_servers_;  ///< null if workers are not asynchronous
  StepLog log_;
  std::int32_t first_ = 0;  ///< first prepared step
  std::int32_t count_ = 0;  ///< number of prepared steps
  std::int32_t taken_ = 0;  ///< the first step whose record has not been returned yet
  /// For each prepared step, the number of replicas that have not ended the step, plus the number
  /// of (rank, pack) pairs that are not complete.
  std::vector<std::int64_t> left_;
  std::int64_t left_in_all_ = 0;
  /// Measures how long the thread in run() waits for a core. A measurement begins when the first
  /// pack is in flight.
  std::optional<CoreWait> core_wait_;
  /// The time for which this thread waited for a core in the current step while packs were in
  /// flight.
  std::chrono::nanoseconds waited_for_core_{};
  int in_flight_ = 0;  ///< number of packs in flight, over all replicas
  /// The error if a device or the collectives have failed.
  core::Expected<void> works_;
  std::optional<Clock::time_point> still_since_;
  std::int64_t progress_ = 0;  ///< the number of events so far, used to detect progress
};

}  // namespace tutti::real
