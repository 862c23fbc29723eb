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
  /// The slowdown of replayed computation.
  TimeScale scale;
  /// True: launches take the time that the scenario specifies.
  bool replay_launch = false;
  /// True: replayed computation keeps a core busy, with a thread for each replica, instead of only
  /// waiting.
  bool busy = false;
};

/// A function that creates the object that executes a worker's collectives. With `watch_steps`,
/// that object reports single schedule steps, if it has any.
using CollectivesMaker =
    std::function<std::unique_ptr<Collectives>(InterpreterListener& listener, bool watch_steps)>;

/// One worker's part of a run: its replicas with their runners, and its host if that is a helper.
/// Computation is replayed on devices that support it, else by threads that keep cores busy, or as
/// time that passes (the compute stream is busy, the core is not). So communication overlaps
/// computation as in training.
///
/// Training steps run in batches. Within a batch, a replica begins its next step when its own
/// previous step has ended, as in training and in the simulator, even if other replicas are behind.
/// Between batches, results are checked and buffers get new inputs.
class WorkerRun : private InterpreterListener, private WorkListener {
 public:
  using Clock = Transport::Clock;

  /// `maker` creates the object that executes collectives; if it is empty, the interpreter does.
  /// REQUIRES: all arguments outlive this object.
  WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
            Devices& devices, Timers& timers, const WorkerOptions& options,
            const CollectivesMaker& maker = {});
  ~WorkerRun() override;

  [[nodiscard]] Receiver& receiver() { return collectives_->receiver(); }
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Returns notes(), and the notes that are known only after the last step.
  [[nodiscard]] std::vector<std::string> final_notes() const;

  /// Fills the buffers with the inputs of steps first … first + count - 1, and opens their
  /// collectives.
  void prepare(std::int32_t first, std::int32_t count);
  /// Runs the prepared steps from time `begin` to their end on all replicas of this worker. `idle`
  /// is called regularly, and returns false to give up. ERRORS: a peer is gone or violates the
  /// protocol; there is no progress within the timeout; `idle` returned false.
  core::Expected<void> run(Clock::time_point begin, const std::function<bool()>& idle);
  /// For calls during run(). still_since() returns the time since when no data has moved and no
  /// timer is pending; nothing if there is progress. where_it_stands() returns a text on what the
  /// run waits for.
  [[nodiscard]] std::optional<Clock::time_point> still_since() const { return still_since_; }
  [[nodiscard]] std::string where_it_stands() const;
  /// Returns the records of steps that are complete on this worker and were not taken yet, in
  /// order. May be called during run(), or after it failed.
  std::vector<WorkerStep> take_steps();
  /// Sends what peers may still need, such as freed slots.
  core::Expected<void> flush();
  /// Polls the transport until `until`, so that a lost peer is noticed.
  core::Expected<void> serve(Clock::time_point until);
  /// Checks every element of all prepared steps. ERRORS: an element is wrong; the error has the
  /// first one's rank, pack, index and both values.
  core::Expected<void> verify();
  /// For asynchronous workers: return the reads of variables, and the staleness of updates, in the
  /// current steps.
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
  void one_less_left(std::int32_t step);
  void begin_step(Replica& replica);
  void end_step(Replica& replica);
  void compute(Replica& replica, const core::ComputeTask& task);
  void look_after(Replica& replica, Task task);
  void compute_done(Replica& replica, const Task& done);
  [[nodiscard]] bool computes(Clock::time_point now) const;
  void launch(Replica& replica, int pack);
  void begin(Replica& replica, int pack);
  void launched(Replica& replica, std::int32_t step, int pack);
  void done(std::int32_t step, int pack, core::Rank rank);
  void fuse();
  [[nodiscard]] bool is_fused(std::size_t pack) const {
    return cycles_ && gates_.holds(static_cast<int>(pack));
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
  std::vector<int> pull_of_;  ///< by pack: the pull that follows this push; -1: none
  std::unique_ptr<Collectives> collectives_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  /// The ranks of this worker: its replicas, then its host if that is a helper in any pack.
  std::vector<core::Rank> ranks_;
  std::unique_ptr<Gradients> gradients_;
  core::PlanGate gates_;
  /// The gate of this worker. Only if a gate that needs no other worker holds packs.
  std::unique_ptr<core::Gate> gate_;
  std::unique_ptr<Cycles> cycles_;               ///< only if packs are fused
  std::unique_ptr<AsyncServers> async_servers_;  ///< only if workers are asynchronous
  StepLog log_;
  std::int32_t first_ = 0;  ///< first prepared step
  std::int32_t count_ = 0;  ///< number of prepared steps
  std::int32_t taken_ = 0;  ///< first step that was not taken yet
  /// By step: the number of replicas that have not ended it, plus the parts of packs that ranks
  /// have not completed.
  std::vector<std::int64_t> left_;
  std::int64_t left_in_all_ = 0;
  /// Measures how long the thread in run() waits for a core. A lap begins when the first pack is in
  /// flight.
  std::optional<CoreWait> core_wait_;
  /// The time waited for a core in the current step while packs were in flight.
  std::chrono::nanoseconds waited_for_core_{};
  int in_flight_ = 0;  ///< number of packs in flight, over all replicas
  /// The error if a device or the collectives have failed.
  core::Expected<void> works_;
  std::optional<Clock::time_point> still_since_;
  std::int64_t progress_ = 0;  ///< number of events so far, to detect progress
};

}  // namespace tutti::real
