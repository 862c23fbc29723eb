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
  /// The time without progress after which a run has failed.
  std::chrono::duration<double> timeout{60};
  /// The slowdown of replayed computation.
  TimeScale scale;
  /// Launches take the time that the scenario gives them.
  bool replay_launch = false;
  /// Computation keeps a core busy, with a thread for each replica, instead of only waiting.
  bool busy = false;
};

/// Creates what executes a worker's collectives; with `watch_steps` it reports single steps, if it
/// has any.
using CollectivesMaker =
    std::function<std::unique_ptr<Collectives>(InterpreterListener& listener, bool watch_steps)>;

/// One worker's part of a run: its replicas with their drivers, and its host if it helps.
/// Computation is replayed on devices that support it, else by threads that keep cores busy, or as
/// time that passes (the compute stream is busy, the core is not). So communication overlaps it as
/// in training.
///
/// Steps run in batches. Within a batch, a replica begins its next step when its own last one is
/// over, as in training and in the simulator, even if other replicas are behind. Between batches
/// results are checked and buffers filled anew.
class WorkerRun : private InterpreterListener, private WorkListener {
 public:
  using Clock = Transport::Clock;

  /// Collectives are executed by the interpreter unless `maker` makes something else.
  /// REQUIRES: all arguments outlive the run.
  WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
            Devices& devices, Timers& timers, const WorkerOptions& options,
            const CollectivesMaker& maker = {});
  ~WorkerRun() override;

  [[nodiscard]] Receiver& receiver() { return collectives_->receiver(); }
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Returns notes() after the last step, including those that are known only then.
  [[nodiscard]] std::vector<std::string> final_notes() const;

  /// Fills the buffers with the inputs of steps first … first + count - 1 and prepares for their
  /// messages.
  void prepare(std::int32_t first, std::int32_t count);
  /// Runs the prepared steps, which begin at `begin`, to their end on all replicas here. `idle` is
  /// called now and then, and returns false to give up.
  /// ERRORS: a peer is gone or violates the protocol; no progress within the timeout; given up.
  core::Expected<void> run(Clock::time_point begin, const std::function<bool()>& idle);
  /// During run(): since when nothing has moved and nothing is due (nothing if something moves),
  /// and a description of what is waited for.
  [[nodiscard]] std::optional<Clock::time_point> still_since() const { return still_since_; }
  [[nodiscard]] std::string where_it_stands() const;
  /// Returns the steps that are complete here and were not taken yet, in order; also during run(),
  /// or after it failed.
  std::vector<WorkerStep> take_steps();
  /// Sends what peers may still need, such as freed slots.
  core::Expected<void> flush();
  /// Polls the transport meanwhile, so that a lost peer is noticed.
  core::Expected<void> serve(Clock::time_point until);
  /// Checks every element of all steps. ERRORS: the first wrong element, with rank, pack, element
  /// and both values.
  core::Expected<void> verify();
  /// For asynchronous workers: returns the reads of variables and the staleness of updates in the
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
  std::vector<int> pull_of_;  ///< by pack: the pull of this push; -1: none
  std::unique_ptr<Collectives> collectives_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<core::Rank>
      ranks_;  ///< ranks of this worker: replicas, then the host if it helps with any pack
  std::unique_ptr<Gradients> gradients_;
  core::PlanGate gates_;
  /// Gate of this worker alone; only if packs wait to be released.
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
  /// Waiting of the thread in run(); a lap begins when the first pack is in flight.
  std::optional<CoreWait> core_wait_;
  /// Waiting for a core in the current step, while packs were in flight.
  std::chrono::nanoseconds waited_for_core_{};
  int in_flight_ = 0;           ///< number of packs in flight, over all replicas
  core::Expected<void> works_;  ///< the error if a device or the collectives failed
  std::optional<Clock::time_point> still_since_;
  std::int64_t progress_ = 0;  ///< number of events so far, to detect progress
};

}  // namespace tutti::real
