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
#include "real/emulate/scale.h"
#include "real/fusing/cycles.h"
#include "real/interpreter/gradients.h"
#include "real/interpreter/interpreter.h"
#include "real/own_pace/own_pace.h"
#include "real/process/core_wait.h"
#include "real/process/timers.h"
#include "real/transport/transport.h"
#include "real/worker/step_log.h"

namespace tutti::real {

struct WorkerOptions {
  bool verify = true;
  LogOptions log;
  /// A run in which nothing moves for so long has failed.
  std::chrono::duration<double> timeout{60};
  /// How much slower computation is replayed than the scenario says.
  TimeScale scale;
  /// Launches take the time that the scenario gives them.
  bool replay_launch = false;
  /// Computation keeps a core busy, a thread for each replica, rather than let its time pass.
  bool busy = false;
};

/// Makes what carries out a worker's collectives; with `watch_steps` it tells of single steps, if it knows any.
using CollectivesMaker = std::function<std::unique_ptr<Collectives>(InterpreterListener& listener, bool watch_steps)>;

/// One worker's part of a run: its replicas with their drivers, and its host where it helps. Computation is replayed by
/// devices that can, else as time that passes (the compute stream is busy, the core is not), or by threads that are, so
/// communication overlaps it as in training.
///
/// Steps run in batches. Within one, a replica begins its next step when its own last one is over, as in training and
/// in the simulator: another may still be behind. Between batches results are compared and buffers filled anew.
class WorkerRun : private InterpreterListener, private WorkListener {
 public:
  using Clock = Transport::Clock;

  /// Collectives are carried out by the interpreter unless `maker` makes something else.
  /// REQUIRES: all it is given outlives the run.
  WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport, Devices& devices, Timers& timers,
            const WorkerOptions& options, const CollectivesMaker& maker = {});
  ~WorkerRun() override;

  [[nodiscard]] Receiver& receiver() { return collectives_->receiver(); }
  [[nodiscard]] std::vector<std::string> notes() const;
  /// The same once there are no more steps to come: what is only known then included.
  [[nodiscard]] std::vector<std::string> last_words() const;

  /// Fills the buffers with the inputs of steps first … first + count - 1 and gets ready for their messages.
  void prepare(std::int32_t first, std::int32_t count);
  /// Runs the prepared steps, which begin at `begin`, to their end on all replicas here. `idle` is called now and then;
  /// it answers false to give up.
  /// ERRORS: a peer is gone or does not keep to the protocol; nothing moved for the timeout; given up.
  core::Expected<void> run(Clock::time_point begin, const std::function<bool()>& idle);
  /// While run() is under way: since when nothing has moved and nothing is due; nothing if something is. And what is waited
  /// for meanwhile, in words.
  [[nodiscard]] std::optional<Clock::time_point> still_since() const { return still_since_; }
  [[nodiscard]] std::string where_it_stands() const;
  /// The steps that are over here and were not taken yet, in order; also while run() is under way, or after it failed.
  std::vector<WorkerStep> take_steps();
  /// Hands over what others may still need, such as slots that are free again.
  core::Expected<void> flush();
  /// Listens to peers meanwhile, so that one that is gone is noticed.
  core::Expected<void> serve(Clock::time_point until);
  /// Compares every element of all steps. ERRORS: the first that is wrong, with rank, pack, element, both values.
  core::Expected<void> verify();
  /// For asynchronous workers: returns the reads of variables and the staleness of updates in the
  /// current steps.
  std::vector<ReadSeen> take_reads() { return own_pace_ ? own_pace_->take_reads() : std::vector<ReadSeen>(); }
  core::UpdatesBehind take_behind() { return own_pace_ ? own_pace_->take_behind() : core::UpdatesBehind(); }

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
  [[nodiscard]] bool is_fused(std::size_t pack) const { return cycles_ && gates_.holds(static_cast<int>(pack)); }
  void start(const std::vector<core::GateDecision>& decisions);
  void go_on();
  core::Expected<void> look(Clock::time_point until);

  const core::Scenario& scenario_;
  Transport& transport_;
  Devices& devices_;
  Timers& timers_;
  WorkerOptions options_;
  core::StepPrograms programs_;
  std::vector<int> pull_of_;  ///< by pack: the pull that answers this push; -1: none
  std::unique_ptr<Collectives> collectives_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<core::Rank> ranks_;  ///< of this worker: replicas, then the host if it helps with any pack
  std::unique_ptr<Gradients> gradients_;
  core::PlanGate gates_;
  std::unique_ptr<core::Gate> gate_;   ///< of this worker alone, where packs wait for their turn
  std::unique_ptr<Cycles> cycles_;     ///< where packs are fused
  std::unique_ptr<OwnPace> own_pace_;  ///< instead, if workers do not wait for each other
  StepLog log_;
  std::int32_t first_ = 0;  ///< of the steps at hand,
  std::int32_t count_ = 0;  ///< and how many there are
  std::int32_t taken_ = 0;  ///< steps before this one were taken
  /// Of each step: replicas that have not ended it, and parts of ranks in packs that are not over.
  std::vector<std::int64_t> left_;
  std::int64_t left_in_all_ = 0;
  std::optional<CoreWait> core_wait_;           ///< of the thread in run(); laps begin with the first pack in flight
  std::chrono::nanoseconds waited_for_core_{};  ///< of the step at hand, while packs were in flight
  int in_flight_ = 0;                           ///< packs, over all replicas
  core::Expected<void> works_;                  ///< or why a device or the collectives do not
  std::optional<Clock::time_point> still_since_;
  std::int64_t progress_ = 0;  ///< counts what happened, to see that something does
};

}  // namespace tutti::real
