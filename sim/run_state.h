#pragma once

// One simulated run: its state, and what happens in it from event to event. run.cpp has the events and the end, run_steps.cpp
// what replicas compute and how steps go by, run_packs.cpp packs and exchanges under way, run_answers.cpp packs that answer others,
// run_deadlines.cpp timers.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/strategy/staleness.h"
#include "core/timeline/exposed_time.h"
#include "core/timeline/step_parts.h"
#include "sim/awaited.h"
#include "sim/collective_engines.h"
#include "sim/compute_stream.h"
#include "sim/critical_path.h"
#include "sim/deadlines.h"
#include "sim/folding/ties.h"
#include "sim/gates.h"
#include "sim/plan_collectives.h"
#include "sim/recorder.h"
#include "sim/repetition.h"
#include "sim/run.h"

namespace tutti::sim {

class Run : private CollectiveListener, private Gates::Starter {
 public:
  /// `scenario`: what is simulated. `told`: what the timeline is of, the same but for the workers that one stands for.
  Run(const core::Scenario& scenario, const core::Scenario& told, const core::RecordOptions& record, bool remember,
      const core::RunControl& control, core::TimelineSink& sink);
  // Replicas' drivers point to it.
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Once.
  core::Expected<void> run();

  /// Whether it turned out that one worker cannot stand for all; then what the sink was told is worth nothing.
  [[nodiscard]] bool came_apart() const { return ties_.matter(); }

 private:
  struct Replica;

  /// What a replica's driver does to the simulated world.
  struct Actions : core::DriverActions {
    Run* run = nullptr;
    Replica* replica = nullptr;
    void compute(const core::ComputeTask& task) override;
    void pack_ready(int pack) override;
    void launch(int pack) override;
    void exchange(int exchange, std::int64_t number) override;
    void step_done() override;
  };

  /// On a compute stream: the first is under way.
  struct Queued {
    core::ComputeTask task;
    core::Time asked;
    Cause asked_by;
  };

  struct Replica {
    Replica(core::Driver d, std::int32_t i, core::PartId p)
        : driver(std::move(d)), index(i), device(p), stream(static_cast<std::uint32_t>(i)) {}
    core::Driver driver;
    std::int32_t index;
    core::PartId device;
    Actions actions;
    std::int32_t step = 0;
    core::Time step_began;
    core::Time ready;  ///< when the last gradients so far were
    ComputeStream stream;
    std::deque<Queued> queue;
    Cause stream_cause;  ///< what the stream is busy with, or was last
    Cause cause;         ///< of the event being handled for this replica
    // Of the step at hand:
    core::Time forward, backward, other;
    core::Time slowed;  ///< how much longer they took than alone
    std::int32_t in_flight = 0;
    core::Time in_flight_since;
    core::ExposedTime exposed;
  };

  /// A pack or an exchange of a step, under way in a group.
  struct Flight {
    std::uint32_t instance = 0;  ///< its handle
    std::int32_t step = 0;
    std::int64_t number = 0;  ///< in the step: packs, then exchanges
    Work work;
    std::int64_t ranks_left = 0;
    core::Time first_start, last_start;
    std::vector<Cause> causes;        ///< per rank: of its launch
    std::vector<core::Time> started;  ///< per rank
    std::vector<bool> came, done;     ///< by replica's rank; only where there are timers
    std::vector<bool> through;        ///< by rank; only of packs that others answer
    // Of packs that are fused:
    std::shared_ptr<const FusedPacks> fused;
    std::vector<core::Time> asked;   ///< per rank: since when it waits for its cycle or its stream
    std::vector<core::Time> copies;  ///< per rank
  };

  struct StepEnd {
    std::int64_t replicas = 0;
    core::Time longest;  ///< computation of the replica that the record is of
    std::int32_t step = 0;
    core::ReplicaParts parts;
    Cause cause;
    Awaited awaited;
  };

  // Events and the end: run.cpp.
  void tell_beginning();
  core::Expected<void> finish();
  void handle(const Event& event);
  bool keep_going();
  [[nodiscard]] static core::Error too_long();
  [[nodiscard]] std::string folding_note() const;
  [[nodiscard]] LinkRange binned_links(const core::RecordOptions& record) const;
  [[nodiscard]] std::string what_is_gone() const;
  [[nodiscard]] core::Error stuck_forever(const std::string& dead) const;
  void write_exchanges();
  void write_path();

  // Replicas, what they compute, and their steps: run_steps.cpp.
  void set_up_replicas();
  void share_devices();
  void begin_step(Replica& replica, core::Time now, Cause cause);
  void compute(Replica& replica, const core::ComputeTask& task);
  void begin_task(Replica& replica);
  void compute_done(const Event& event);
  void step_done(Replica& replica);
  void end_step(const StepEnd& end);
  void repeat_if_it_does(std::int32_t step);
  void repeat(const Repetition::Step& before, const Repetition::Step& now, std::int32_t first);
  [[nodiscard]] std::optional<std::vector<std::int64_t>> state_of_gates();
  [[nodiscard]] std::vector<Cause*> causes();

  // Packs and exchanges: run_packs.cpp.
  void launch(Replica& replica, const Work& work, std::int64_t number) { launch(replica, work, number, replica.cause); }
  void launch(Replica& replica, const Work& work, std::int64_t number, const Cause& cause);
  Flight& flight_of(std::int32_t step, Cause cause, const Work& work, std::int64_t number,
                    const std::shared_ptr<const FusedPacks>& fused = {});
  [[nodiscard]] const core::Collective& collective_of(const Flight& flight) const {
    return flight.fused ? *flight.fused->collective : collectives_.collective(flight.work);
  }
  /// Of what travels: packs that were fused are launched as one.
  [[nodiscard]] core::Time launch_overhead(const Flight& flight) const {
    const core::Time of_pack = collectives_.launch_overhead(flight.work);
    return flight.fused ? PlanCollectives::launch_of(*flight.fused->collective, of_pack) : of_pack;
  }
  void start_rank(Flight& flight, core::Rank rank, core::PartId device, Cause cause, core::Time now,
                  core::Time later = {});
  void rank_done(std::uint32_t instance, core::Rank rank, core::Time now, const Trail& trail) override;
  void pack_done(const Flight& flight, std::int32_t pack, core::Time now);
  std::int32_t add_flight_node(const Flight& flight, core::Rank rank, core::Time now, Trail trail);
  void step_done(const StepDone& done) override;

  void start_passed(std::int64_t replica, const core::GateBatch& batch, const std::shared_ptr<const FusedPacks>& fused,
                    const Gates::Asked& asked) override;
  void launch_fused(Replica& replica, const std::shared_ptr<const FusedPacks>& fused, const Gates::Asked& asked);

  // Packs that answer others: run_answers.cpp.
  [[nodiscard]] bool answers_later(const Flight& flight, core::Rank rank) const;
  void answer(const Flight& answered, core::Rank rank, const Cause& cause);

  // Timers of collectives: run_deadlines.cpp.
  void arm(Flight& flight, const Replica& replica, core::Rank rank);
  void arm_timer(const Flight& flight, core::Rank rank);
  void timer_fires(const Event& event);
  [[nodiscard]] core::Error deadline_exceeded(const Flight& flight, const Deadlines::Timer& timer) const;
  [[nodiscard]] std::string not_come(const Flight& flight) const;

  const core::Scenario& scenario_;
  const core::Scenario& told_;
  std::int64_t fellows_;  ///< workers of whom one is simulated
  const core::RecordOptions& record_;
  const core::RunControl& control_;
  core::TimelineSink& sink_;
  const core::Cluster& cluster_;
  core::StepPrograms programs_;
  std::vector<int> pull_of_;  ///< by pack: the pull that answers this push; -1: none
  PlanCollectives collectives_;
  Recorder recorder_;
  EventQueue events_;
  std::vector<core::SlowDevices> slow_;  ///< as the seed has chosen
  Network network_;
  Devices devices_;
  Deadlines deadlines_;
  std::optional<core::Error> exceeded_;
  Ties ties_;  ///< if one worker stands for several
  CollectiveEngines engines_;
  std::vector<Replica> replicas_;
  /// By step, number in it, and group.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, std::uint32_t> flights_by_number_;
  /// By step and pack, while it is over in some groups only: in how many.
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int64_t, core::PackRecord>> packs_over_;
  std::vector<core::Wide> exchanged_;        ///< by exchange: ps in flight, over all replicas and steps
  std::map<std::uint32_t, Flight> flights_;  ///< by instance
  std::map<std::pair<std::int32_t, std::int32_t>, core::Time>
      pack_ready_;  ///< by step and pack: on the last replica so far
  std::map<std::int32_t, StepEnd> step_ends_;
  core::Versions versions_;  ///< where workers do not wait for each other
  core::OwnPaces own_paces_;
  Gates gates_{scenario_, events_, *this};
  bool remembers_;  ///< steps that repeat are told, not simulated
  Repetition repetition_;
  bool repeats_ = false;   ///< all steps to come have been told
  core::Time remembered_;  ///< how much later the last step is than the last one simulated
  CriticalPath path_;
  core::Time now_;
  core::Time last_step_end_;
  core::Time last_step_start_;
  Cause last_cause_;
  std::int32_t steps_ended_ = 0;
  double lane_steps_ = 1;  ///< of all packs and training steps, about
  std::int64_t handled_ = 0;
  bool cancelled_ = false;
};

}  // namespace tutti::sim
