#pragma once

// The state of one simulated run, and its event handlers. run.cpp handles events and the end of the
// run. run_steps.cpp handles the computation and the training steps of replicas, run_packs.cpp
// handles packs and exchanges in flight, and run_messages.cpp handles messages of an execution
// trace. Class Gates decides when packs start, and CollectiveEngines executes their collectives.
// Observers, which do not affect simulated times, are separate classes (Timeouts, PackRecords,
// StepEnds, …).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/lowering/step_program.h"
#include "core/plan/runner.h"
#include "core/timeline/exposed_time.h"
#include "sim/collectives/collective_engines.h"
#include "sim/collectives/plan_collectives.h"
#include "sim/device/compute_stream.h"
#include "sim/engine/critical_path.h"
#include "sim/engine/short_queue.h"
#include "sim/folding/ties.h"
#include "sim/run/asynchrony.h"
#include "sim/run/exchange_times.h"
#include "sim/run/flights.h"
#include "sim/run/gates.h"
#include "sim/run/messages.h"
#include "sim/run/pack_records.h"
#include "sim/run/progress.h"
#include "sim/run/pull_order.h"
#include "sim/run/recorder.h"
#include "sim/run/repetition.h"
#include "sim/run/run.h"
#include "sim/run/step_ends.h"
#include "sim/run/timeouts.h"

namespace tutti::sim {

class Run : private CollectiveListener, private Gates::Starter {
 public:
  /// `scenario` is the simulated scenario, and `timeline_scenario` is the scenario that the
  /// timeline describes. In a folded run, `timeline_scenario` has more workers; otherwise both
  /// scenarios are the same. The other arguments are those of sim::run() (run.h).
  Run(const core::Scenario& scenario, const core::Scenario& timeline_scenario,
      const core::RecordOptions& record, bool remember, const core::RunControl& control,
      core::TimelineSink& sink);
  // Not copyable, because the World objects of replicas point to this object.
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Must be called only once.
  core::Expected<void> run();

  /// Returns true if the run has shown that one simulated worker cannot represent all workers. The
  /// contents of the sink are then invalid.
  [[nodiscard]] bool symmetry_broken() const { return ties_.matter(); }

 private:
  struct Replica;

  /// The interface through which a replica's task runner acts on the simulation.
  struct World : core::Host {
    Run* run = nullptr;
    Replica* replica = nullptr;
    void compute(core::TaskId id, const core::Task& task, core::Time duration,
                 std::int64_t compute_bound_ppm) override;
    void communicate(core::TaskId id, const core::Task& task, std::int64_t number) override;
    void mark(const core::Task& task) override;
    void step_done() override;
  };

  /// A task in the queue of a compute stream. The first task in the queue is running.
  struct Queued {
    core::ComputeTask task;
    core::Time requested;
    Cause requested_by;
  };

  /// A compute stream, which executes one task at a time, in the order of the requests.
  struct Stream {
    explicit Stream(std::uint32_t number) : stream(number) {}
    ComputeStream stream;
    ShortQueue<Queued> queue;
    Cause cause;  ///< the running task or, if there is none, the last task, as a cause of later
                  ///< work
  };

  struct Replica {
    Replica(core::Runner r, const core::StepProgram& p, std::int32_t i, core::PartId d)
        : runner(std::move(r)), tasks(p), index(i), device(d) {}
    core::Runner runner;
    core::CommunicationTasks tasks;
    std::int32_t index;
    core::PartId device;
    World world;
    std::int32_t step = 0;
    core::Time step_began;
    core::Time ready;             ///< time at which the latest gradients were ready
    std::vector<Stream> streams;  ///< the replica's compute streams: one, unless an execution trace
                                  ///< has several
    /// The replica's tasks in an execution trace; null if the run has no trace.
    const core::ExecutionGraph::Rank* graph = nullptr;
    Cause cause;  ///< cause of the work that the current event starts on this replica
    // The current step:
    core::Time forward, backward, other;
    core::Time slowed;  ///< time by which simultaneous communication extended the tasks
    std::int32_t in_flight = 0;
    core::Time in_flight_since;
    core::ExposedTime exposed;
  };

  // Events and the end: run.cpp.
  void report_beginning();
  core::Expected<void> finish();
  void handle(const Event& event);
  bool keep_going();
  [[nodiscard]] static core::Error too_long();
  [[nodiscard]] std::string folding_note() const;
  [[nodiscard]] LinkRange binned_links(const core::RecordOptions& record) const;
  [[nodiscard]] core::Error stuck_forever(const std::string& dead) const;
  void write_path();

  // Replicas, their computation and their training steps: run_steps.cpp.
  void set_up_replicas();
  void share_devices();
  void begin_step(Replica& replica, core::Time now, Cause cause);
  void add_streams(Replica& replica, std::int32_t count);
  void compute(Replica& replica, std::int32_t stream, const core::ComputeTask& task);
  void begin_task(Replica& replica, std::int32_t stream);
  void compute_done(const Event& event);
  void step_done(Replica& replica);
  void end_step(const core::StepRecord& record);
  void skip_repeated_steps(std::int32_t step);
  void repeat(const Repetition::Step& before, const Repetition::Step& now, std::int32_t first);
  [[nodiscard]] std::optional<std::vector<std::int64_t>> state_of_gates();
  [[nodiscard]] std::vector<Cause*> causes();

  // Messages of an execution trace: run_messages.cpp.
  void communicate_in_graph(Replica& replica, core::TaskId id, const core::Task& task);
  void post(Replica& replica, core::TaskId id, const core::ExecutionGraph::Message& message);
  Flight& open_message(const Replica& from, core::TaskId task,
                       const core::ExecutionGraph::Message& message);
  void start_receiver(Flight& flight, Replica& to, core::TaskId task, const Cause& cause);
  void message_done(Flight& flight, core::Rank rank, core::Time now,
                    const CausalChain& causal_chain);

  // Packs and exchanges: run_packs.cpp.
  void launch(Replica& replica, const Work& work, std::int64_t number) {
    launch(replica, work, number, replica.cause);
  }
  void launch(Replica& replica, const Work& work, std::int64_t number, const Cause& cause);
  Flight& flight_of(std::int32_t step, Cause cause, const Work& work, std::int64_t number,
                    const std::shared_ptr<const FusedPacks>& fused = {});
  [[nodiscard]] std::int64_t replica_of(const Flight& flight, core::Rank rank) const {
    if (flight.message) return rank == 0 ? flight.message->from : flight.message->to;
    return collectives_.replica(flight.work, rank);
  }
  [[nodiscard]] const core::Collective& collective_of(const Flight& flight) const {
    if (flight.fused) return *flight.fused->collective;
    return flight.in_group ? *flight.in_group : collectives_.planned(flight.work).first;
  }
  /// Returns the launch overhead of the flight. All packs of a fused batch are launched together,
  /// with a single overhead.
  [[nodiscard]] core::Time launch_overhead(const Flight& flight) const {
    if (flight.message) return {};
    return PlanCollectives::launch_of(collective_of(flight),
                                      collectives_.planned(flight.work).launch_overhead);
  }
  void start_rank(Flight& flight, core::Rank rank, core::PartId device, Cause cause, core::Time now,
                  core::Time later = {});
  void rank_done(std::uint32_t instance, core::Rank rank, core::Time now,
                 const CausalChain& causal_chain) override;
  void pack_done(const Flight& flight, std::int32_t pack, core::Time now);
  std::int32_t add_flight_node(const Flight& flight, core::Rank rank, core::Time now,
                               CausalChain causal_chain);
  void step_done(const StepDone& done) override;

  void start_passed(std::int64_t replica, const core::GateBatch& batch,
                    const std::shared_ptr<const FusedPacks>& fused,
                    const Gates::Request& requested) override;
  void launch_fused(Replica& replica, const std::shared_ptr<const FusedPacks>& fused,
                    const Gates::Request& requested);

  const core::Scenario& scenario_;
  const core::Scenario& timeline_scenario_;
  std::int64_t workers_per_simulated_;  ///< number of workers that each simulated worker
                                        ///< represents; 1 unless the run is folded
  const core::RecordOptions& record_;
  core::TimelineSink& sink_;
  const core::Cluster& cluster_;
  core::StepPrograms programs_;
  PlanCollectives collectives_;
  Recorder recorder_;
  Progress progress_;

  // The simulated system.
  EventQueue events_;
  std::vector<core::SlowDevices> slow_;  ///< slow devices, after random workers have been chosen
  Network network_;
  Devices devices_;
  Ties ties_;  ///< detects ties between simultaneous events; used only in a folded run
  CollectiveEngines engines_;
  std::vector<Replica> replicas_;
  /// For each compute stream (number in Event::a), its replica and its index in Replica::streams.
  std::vector<std::pair<std::int32_t, std::int32_t>> stream_owners_;
  core::StepProgram no_program_;  ///< the program of replicas that execute a trace
  /// An empty table of durations. Replicas that execute a trace use this empty table, because each
  /// task of a trace has its own duration.
  core::Durations no_durations_;
  Messages messages_{scenario_};
  /// Number of messages that were opened so far. The numbers of messages follow those of packs.
  std::int64_t next_message_ = 0;
  Flights flights_;
  PullOrder pull_order_{scenario_.plan, flights_};
  Gates gates_{scenario_, events_, *this};
  core::Time now_;

  // Observers.
  Timeouts timeouts_{scenario_, collectives_, flights_, events_, recorder_, sink_};
  PackRecords pack_records_{collectives_.groups_of_packs()};
  StepEnds step_ends_{cluster_, workers_per_simulated_};
  ExchangeTimes exchange_times_{scenario_.plan.exchanges.size()};
  std::optional<Asynchrony> asynchrony_;  ///< observes asynchronous workers; nullopt if workers are
                                          ///< synchronous
  /// Detects identical steps; nullopt if all steps are simulated.
  std::optional<Repetition> repetition_;
  CriticalPath path_;
};

}  // namespace tutti::sim
