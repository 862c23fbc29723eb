#include "sim/run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/version.h"
#include "core/scenario/run_info.h"
#include "core/timeline/step_parts.h"
#include "sim/awaited.h"
#include "sim/critical_path.h"
#include "sim/folding/ties.h"
#include "sim/interpreter.h"
#include "sim/links_told.h"
#include "sim/plan_collectives.h"
#include "sim/recorder.h"
#include "sim/repetition.h"
#include "sim/rounds.h"

namespace tutti::sim {
namespace {

using core::ComputeKind;
using core::ComputeTask;
using core::PartId;
using core::Rank;
using core::Scenario;
using core::Time;

class Run : private InterpreterListener {
 public:
  /// `scenario`: what is simulated. `told`: what the timeline is of, the same but for the workers that one stands for.
  Run(const Scenario& scenario, const Scenario& told, const core::RecordOptions& record, bool remember,
      const core::RunControl& control, core::TimelineSink& sink)
      : scenario_(scenario),
        told_(told),
        fellows_(told.cluster->workers() / scenario.cluster->workers()),
        record_(record),
        control_(control),
        sink_(sink),
        cluster_(*scenario.cluster),
        tables_(scenario.workload, scenario.plan),
        collectives_(scenario.plan),
        recorder_(cluster_, record, sink),
        slow_(core::chosen(scenario.run.conditions.slow, scenario.run.seed, cluster_)),
        network_(
            cluster_, scenario.run.network_model, binned_links(record), true,
            LinkHealth(cluster_, scenario.run.conditions.links, scenario.run.conditions.background, scenario.run.seed)),
        devices_(cluster_, Slowness(slow_)),
        interpreter_(network_, devices_, events_, *this, recorder_.watches_steps()),
        remembers_(remember && record.level == core::RecordLevel::kNone && Repetition::is_possible(scenario)) {
    if (fellows_ == 1) return;
    network_.watch(ties_);
    interpreter_.watch(ties_);
  }

  /// Whether it turned out that one worker cannot stand for all; then what the sink was told is worth nothing.
  [[nodiscard]] bool came_apart() const { return ties_.matter(); }

  core::Expected<void> run() {
    sink_.begin(core::run_info(told_, "simulated"));
    if (fellows_ > 1) sink_.note(folding_note());
    for (const std::string& note : core::recording_notes(record_, *told_.cluster)) sink_.note(note);
    for (const std::string& note : core::describe(scenario_.run.conditions, slow_, cluster_)) sink_.note(note);
    network_.schedule_changes(events_);
    collectives_.visit([this](const core::Collective& c) { interpreter_.expect(c); });
    network_.expect_no_other();
    set_up_replicas();
    exchanged_.resize(scenario_.plan.exchanges.size());
    lane_steps_ = std::max(1.0, steps_of(scenario_));
    for (Replica& replica : replicas_) begin_step(replica, Time(), {});
    while (!events_.empty()) {
      const Event event = events_.pop();
      if (event.time > core::kHorizon) return tl::make_unexpected(too_long());
      now_ = event.time;
      if (fellows_ > 1) ties_.begin(event.order);
      handle(event);
      if (ties_.matter()) return {};
      if (remembers_) now_ += rounds_.look(now_);
      if (repeats_ && last_step_end_ > core::kHorizon) return tl::make_unexpected(too_long());
      if (repeats_) break;
      if (++handled_ % 65'536 == 0 && !keep_going()) break;
    }
    const bool stuck = !cancelled_ && steps_ended_ < scenario_.run.steps;
    const std::string dead = dead_links();
    TUTTI_CHECK(!stuck || !dead.empty(), "{} of {} steps ended; something waits forever", steps_ended_,
                scenario_.run.steps);
    tell_links(network_.loads(), cluster_, *told_.cluster, sink_);
    write_exchanges();
    tell_rounds();
    if (stuck) return sink_.end(), tl::make_unexpected(stuck_forever(dead));
    if (!cancelled_) write_path();
    if (cancelled_)
      sink_.note(fmt::format("stopped by request after {} of {} steps", steps_ended_, scenario_.run.steps));
    sink_.end();
    return {};
  }

 private:
  // --- replicas ---

  struct Replica;

  /// What a replica's driver does to the simulated world.
  struct Actions : core::DriverActions {
    Run* run = nullptr;
    Replica* replica = nullptr;
    void compute(const ComputeTask& task) override { run->compute(*replica, task); }
    void pack_ready(int pack) override {
      run->pack_ready_[{replica->step, pack}] = run->now_;
      replica->ready = run->now_;
    }
    void launch(int pack) override { run->launch(*replica, run->collectives_.of_pack(pack, replica->index), pack); }
    void exchange(int exchange, std::int64_t number) override {
      run->launch(*replica, run->collectives_.of_exchange(exchange, replica->index),
                  static_cast<std::int64_t>(run->scenario_.plan.packs.size()) + number);
    }
    void step_done() override { run->step_done(*replica); }
  };

  struct Queued {
    ComputeTask task;
    Time start;
    Time end;
    Cause done;
  };

  struct Replica {
    Replica(core::Driver d, std::int32_t i, PartId p) : driver(std::move(d)), index(i), device(p) {}
    core::Driver driver;
    std::int32_t index;
    PartId device;
    Actions actions;
    std::int32_t step = 0;
    Time step_began;
    Time ready;  ///< when the last gradients so far were
    Server stream;
    std::deque<Queued> queue;
    Cause stream_cause;  ///< what the stream is busy with last
    Cause cause;         ///< of the event being handled for this replica
    // Of the step at hand:
    Time forward, backward, other;
    std::int32_t in_flight = 0;
    Time in_flight_since;
    Time communication;
  };

  /// A pack or an exchange of a step, under way in a group.
  struct Flight {
    std::uint32_t instance = 0;
    std::int32_t step = 0;
    std::int64_t number = 0;  ///< in the step: packs, then exchanges
    Work work;
    std::int64_t ranks_left = 0;
    Time first_start, last_start;
    std::vector<Cause> causes;  ///< per rank: of its launch
    std::vector<Time> started;  ///< per rank
  };

  [[nodiscard]] std::string folding_note() const {
    return fmt::format("simulated {} of {} ranks: one worker stands for all {}, which nothing tells apart",
                       core::show_count(cluster_.replicas()), core::show_count(told_.cluster->replicas()),
                       core::show_count(told_.cluster->workers()));
  }

  LinkRange binned_links(const core::RecordOptions& record) const {
    if (record.level < core::RecordLevel::kPacks || record.last_worker < record.first_worker) return {};
    const auto first_link = [this](std::int64_t worker) {
      return cluster_.first_link(std::clamp<std::int64_t>(worker, 0, cluster_.workers()));
    };
    // Links between switches come first. Bins take 8 KB for each, so that those of huge networks have none.
    constexpr core::LinkId kMostSwitchLinks = 4096;
    const bool switches = record.first_worker <= 0 && cluster_.switch_links() <= kMostSwitchLinks;
    return {switches ? 0 : first_link(record.first_worker), first_link(record.last_worker + 1)};
  }

  void set_up_replicas() {
    replicas_.reserve(static_cast<std::size_t>(cluster_.replicas()));
    std::int64_t first = 0;
    for (std::size_t g = 0; g < cluster_.groups().size(); ++g) {
      const std::int64_t count = cluster_.groups()[g].count * cluster_.replicas_per_worker();
      for (std::int64_t i = 0; i < count; ++i) {
        const PartId device = cluster_.replica(first + i);
        replicas_.emplace_back(core::Driver(tables_, scenario_.workload.times[g], cluster_.part(device).device),
                               static_cast<std::int32_t>(first + i), device);
      }
      first += count;
    }
    for (Replica& replica : replicas_) {
      replica.actions.run = this;
      replica.actions.replica = &replica;
    }
  }

  void begin_step(Replica& replica, Time now, Cause cause) {
    replica.step_began = replica.ready = now;
    replica.forward = replica.backward = replica.other = replica.communication = Time();
    replica.cause = cause;
    const core::RunOptions& run = scenario_.run;
    const std::int64_t jitter = core::pace_of(run.compute_jitter_ppm, run.seed, replica.index, replica.step);
    const std::int64_t noise = core::noisy_pace(run.conditions.compute_noise, run.seed, replica.index, replica.step);
    replica.driver.begin_step(jitter * noise / 1'000'000, replica.actions);
  }

  void compute(Replica& replica, const ComputeTask& task) {
    const Time begins = std::max(now_, replica.stream.free_at());
    const Server::Service service =
        replica.stream.serve(now_, devices_.slowness().longer(replica.device, task.duration, begins));
    const std::int32_t kind = core::SpanKind::kFirstCompute + static_cast<std::int32_t>(task.kind);
    // What the task waited for: the stream if it was busy, else whatever put it there.
    const Cause before = service.start > now_ && replica.stream_cause.node >= 0 ? replica.stream_cause : replica.cause;
    const bool goes_on = task.kind == ComputeKind::kBackward && before.node >= 0 &&
                         path_.node(before.node).kind == kind && path_.node(before.node).replica == replica.index &&
                         path_.node(before.node).step == replica.step && before.until == service.start;
    replica.stream_cause = {
        goes_on ? before.node : path_.add({before, kind, replica.index, replica.step, task.pack, service.start, -1}),
        service.end, task.kind == ComputeKind::kBackward ? task.segment : -1};
    replica.queue.push_back({task, service.start, service.end, replica.stream_cause});
    events_.push({service.end, static_cast<std::uint64_t>(replica.index), EventKind::kCompute,
                  static_cast<std::uint32_t>(replica.index), 0});
  }

  void compute_done(Replica& replica) {
    const Queued done = replica.queue.front();
    replica.queue.pop_front();
    recorder_.compute(replica.device, done.task, replica.step, done.start, done.end);
    Time& total = done.task.kind == ComputeKind::kForward
                      ? replica.forward
                      : (done.task.kind == ComputeKind::kBackward ? replica.backward : replica.other);
    total += done.end - done.start;
    replica.cause = done.done;
    replica.driver.compute_done(done.task, replica.actions);
  }

  void step_done(Replica& replica) {
    StepEnd& end = step_ends_[replica.step];
    // Events come in order of time, so the last to end is the last to be here.
    end.cause = replica.cause;
    end.awaited.add(replica.device, replica.step_began, replica.ready, fellows_);
    const Time computed = replica.forward + replica.backward + replica.other;
    if (end.replicas++ == 0 || computed >= end.longest) {
      end.longest = computed;
      end.step = replica.step;
      end.parts = {cluster_.part_name(replica.device),
                   replica.step_began,
                   replica.forward,
                   replica.backward,
                   replica.other,
                   replica.communication};
    }
    const bool last = end.replicas == cluster_.replicas();
    if (last) end_step(end);
    ++replica.step;
    if (replica.step < scenario_.run.steps) begin_step(replica, now_, replica.cause);
    if (last && remembers_ && replica.step < scenario_.run.steps) repeat_if_it_does(replica.step);
  }

  struct StepEnd {
    std::int64_t replicas = 0;
    Time longest;  ///< computation of the replica that the record is of
    std::int32_t step = 0;
    core::ReplicaParts parts;
    Cause cause;
    Awaited awaited;
  };

  void end_step(const StepEnd& end) {
    core::StepRecord record = core::step_record(end.step, last_step_end_, now_, end.parts);
    if (end.awaited.replicas > 1) {
      record.awaited = cluster_.part_name(end.awaited.last);
      record.awaited_for = end.awaited.waited();
    }
    last_step_end_ = record.end;
    last_cause_ = end.cause;
    last_step_start_ = record.start;
    sink_.step(record);
    if (remembers_) repetition_.tell(record);
    ++steps_ended_;
    step_ends_.erase(record.step);
    if (path_.is_worth_pruning()) path_.forget_before(last_step_start_, causes());
  }

  // --- steps that repeat ---

  /// The last replica has begun `step`. If that is as the one before was, it and the rest of them are told now.
  void repeat_if_it_does(std::int32_t step) {
    const bool together = flights_by_number_.empty() && std::all_of(replicas_.begin(), replicas_.end(),
                                                                    [&](const Replica& r) { return r.step == step; });
    if (!together) return repetition_.cannot_tell();
    Repetition::Step begun;
    for (const Replica& replica : replicas_) begun.began.push_back(now_ - replica.step_began);
    begun.at = now_;
    begun.carried = network_.loads().totals();
    begun.exchanged = exchanged_;
    const Repetition::Step* const before = repetition_.begin(begun);
    if (before) repeat(*before, begun, step);
  }

  void repeat(const Repetition::Step& before, const Repetition::Step& now, std::int32_t first) {
    const std::int32_t times = scenario_.run.steps - first;
    const Time period = now.at - before.at;
    repeats_ = true;
    if (period > Time() && (core::kHorizon - now.at) / period < times) {
      last_step_end_ = core::kNever;
      return;
    }
    for (std::int32_t i = 1; i <= times; ++i) {
      for (core::PackRecord pack : before.packs) {
        for (Time* const t : {&pack.ready, &pack.first_start, &pack.last_start, &pack.end}) *t += i * period;
        pack.step += i;
        sink_.pack(pack);
      }
      core::StepRecord step = *before.step;
      step.step += i;
      step.start += i * period;
      step.end += i * period;
      sink_.step(step);
    }
    network_.carry_again(before.carried, times);
    for (std::size_t e = 0; e < exchanged_.size(); ++e) exchanged_[e] += (exchanged_[e] - before.exchanged[e]) * times;
    steps_ended_ += times;
    last_step_end_ += times * period;
    remembered_ = times * period;
    sink_.note(
        fmt::format("simulated {} of {} steps: the others are step {} again", first, scenario_.run.steps, first - 1));
  }

  void tell_rounds() {
    if (rounds_.steps_skipped() == 0) return;
    const std::int64_t all = interpreter_.steps_executed();
    sink_.note(fmt::format("simulated {} of {} steps of lanes: the others are rounds like those before them",
                           core::show_count(all - rounds_.steps_skipped()), core::show_count(all)));
  }

  // --- packs ---

  void launch(Replica& replica, const Work& work, std::int64_t number) {
    Flight& flight = flight_of(replica, work, number);
    if (replica.in_flight++ == 0) replica.in_flight_since = now_;
    start_rank(flight, static_cast<Rank>(work.place.rank), replica.device, replica.cause, now_);
  }

  /// The pack or exchange of the replica's step, under way already or with this replica's launch.
  Flight& flight_of(const Replica& opener, const Work& work, std::int64_t number) {
    const auto [known, fresh] = flights_by_number_.try_emplace({opener.step, number, work.place.group}, 0);
    if (!fresh) return flights_[known->second];
    if (fellows_ > 1) ties_.wants(Ties::Thing::kOpening, 0, now_);
    const core::Collective& collective = collectives_.collective(work);
    const std::uint32_t instance = interpreter_.open(collective);
    known->second = instance;
    Flight& flight = flights_[instance];
    flight = {};
    flight.instance = instance;
    flight.step = opener.step;
    flight.number = number;
    flight.work = work;
    const Rank ranks = collective.schedule->ranks();
    flight.ranks_left = ranks;
    flight.first_start = now_;
    flight.causes.resize(static_cast<std::size_t>(ranks));
    flight.started.assign(static_cast<std::size_t>(ranks), now_);
    // Helpers have no driver: they are there when the first replica is.
    for (auto rank = static_cast<Rank>(collective.contributors); rank < ranks; ++rank) {
      start_rank(flight, rank, collective.group.device(rank), opener.cause, now_);
    }
    return flight;
  }

  void start_rank(Flight& flight, Rank rank, PartId device, Cause cause, Time now) {
    flight.causes[static_cast<std::size_t>(rank)] = cause;
    flight.started[static_cast<std::size_t>(rank)] = now;
    flight.last_start = now;
    recorder_.launched(device, flight.instance);
    events_.push({now + collectives_.launch_overhead(flight.work), static_cast<std::uint64_t>(rank), EventKind::kStart,
                  flight.instance, static_cast<std::uint32_t>(rank)});
  }

  void rank_done(std::uint32_t instance, Rank rank, Time now, const Trail& trail) override {
    Flight& flight = flights_[instance];
    const Work work = flight.work;
    const core::Collective& collective = collectives_.collective(work);
    const Time started = flight.started[static_cast<std::size_t>(rank)];
    if (work.pack >= 0) {
      recorder_.pack_done(collective.group.device(rank), instance, flight.step, work.pack, started, now);
    } else {
      recorder_.exchange_done(collective.group.device(rank), instance, flight.step, work.exchange, started, now);
      exchanged_[static_cast<std::size_t>(work.exchange)] += static_cast<core::Wide>((now - started).count());
    }
    Cause cause;
    if (rank < collective.contributors) cause = {add_flight_node(flight, rank, now, trail), now};
    if (--flight.ranks_left == 0) {
      if (work.pack >= 0) pack_done(flight, now);
      flights_by_number_.erase({flight.step, flight.number, work.place.group});
      interpreter_.close(instance);
      flight.causes.clear();
      recorder_.closed(instance);
    }
    if (rank >= collective.contributors) return;
    Replica& replica = replicas_[static_cast<std::size_t>(collectives_.replica(work, rank))];
    if (--replica.in_flight == 0) replica.communication += now - replica.in_flight_since;
    replica.cause = cause;
    if (work.pack >= 0) {
      replica.driver.pack_done(work.pack, replica.actions);
    } else {
      replica.driver.exchange_done(work.exchange, replica.actions);
    }
  }

  /// In the flight's group; it is told of when it is in all of them.
  void pack_done(const Flight& flight, Time now) {
    core::PackRecord record{flight.step, flight.work.pack, {}, flight.first_start, flight.last_start, now};
    if (const std::int64_t groups = collectives_.groups_of_packs(); groups > 1) {
      auto& [over, sum] = packs_over_.try_emplace({flight.step, flight.work.pack}, 0, record).first->second;
      sum.first_start = std::min(sum.first_start, record.first_start);
      sum.last_start = std::max(sum.last_start, record.last_start);
      sum.end = now;
      if (++over < groups) return;
      record = sum;
      packs_over_.erase({flight.step, flight.work.pack});
    }
    const auto ready = pack_ready_.find({record.step, record.pack});
    record.ready = ready->second;
    sink_.pack(record);
    if (remembers_) repetition_.tell(record);
    pack_ready_.erase(ready);
  }

  /// The pack's way from the launch that its trail begins with to here.
  std::int32_t add_flight_node(const Flight& flight, Rank rank, Time now, Trail trail) {
    const auto origin = static_cast<std::size_t>(trail.origin);
    const Time start = flight.started[origin];
    trail.parts.launch += collectives_.launch_overhead(flight.work);
    TUTTI_CHECK(trail.parts.total() == now - start, "the critical path of pack {} explains {} of {} ps", flight.number,
                trail.parts.total().count(), (now - start).count());
    const bool pack = flight.work.pack >= 0;
    return path_.add({flight.causes[origin], pack ? core::SpanKind::kPackInFlight : core::SpanKind::kExchange,
                      static_cast<std::int32_t>(collectives_.replica(flight.work, rank)), flight.step,
                      pack ? flight.work.pack : flight.work.exchange, start, -1},
                     trail);
  }

  void step_done(const StepDone& done) override {
    const Flight& flight = flights_[done.instance];
    const core::Collective& collective = collectives_.collective(flight.work);
    recorder_.step(done, flight.step, flight.work.pack, core::size_of(collective.type), collective.group);
  }

  // --- events ---

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kCompute: return compute_done(replicas_[event.a]);
      case EventKind::kStart: return interpreter_.start(event.a, static_cast<Rank>(event.b), event.time);
      case EventKind::kLane: return interpreter_.go_on(event);
      case EventKind::kHop: return network_.reach(event, events_);
      case EventKind::kSent: return interpreter_.buffer_free(event);
      case EventKind::kDeliver: return interpreter_.deliver(event);
      case EventKind::kArrive: return interpreter_.arrive(event);
      case EventKind::kChange: return network_.change(event, events_);
      case EventKind::kShare: return network_.share(event, events_);
    }
  }

  bool keep_going() {
    if (control_.cancel && control_.cancel->load(std::memory_order_relaxed)) cancelled_ = true;
    if (control_.progress) {
      control_.progress(std::min(1.0, static_cast<double>(interpreter_.steps_executed()) / lane_steps_));
    }
    return !cancelled_;
  }

  static core::Error too_long() {
    return core::Error::request(
        "the run takes more than 53 days of virtual time, more than Tutti counts; check the units of latencies, "
        "bandwidths and times");
  }

  // --- what never ends ---

  /// The links that are dead in the end, in words; empty if there are none.
  [[nodiscard]] std::string dead_links() const {
    std::map<core::LinkId, core::LinkChange> last;
    for (const core::LinkChange& change : scenario_.run.conditions.links) last[change.link] = change;
    std::string text;
    for (const auto& [link, change] : last) {
      if (change.share_ppm > 0) continue;
      text += fmt::format("{}link {} is dead from {} on", text.empty() ? "" : ", ", cluster_.link_name(link),
                          core::show(change.at));
    }
    return text;
  }

  [[nodiscard]] core::Error stuck_forever(const std::string& dead) const {
    std::string waiting;
    std::int64_t last = -1;  // a pack that waits in several groups is told once
    for (const auto& [key, instance] : flights_by_number_) {
      const auto [step, number, group] = key;
      if (step != steps_ended_ || number >= static_cast<std::int64_t>(scenario_.plan.packs.size()) ||
          std::exchange(last, number) == number)
        continue;
      waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", number);
    }
    return core::Error::run(
        fmt::format("step {} never ends: {}; what was to cross it waits forever{}. A real run would hang until its "
                    "time-out; give the link a bandwidth_share above 0, or another way",
                    steps_ended_, dead, waiting.empty() ? "" : ", and with it pack " + waiting));
  }

  // --- exchanges ---

  void write_exchanges() {
    if (steps_ended_ == 0) return;
    for (std::size_t e = 0; e < exchanged_.size(); ++e) {
      const core::PlannedExchange& planned = scenario_.plan.exchanges[e];
      const auto parts = static_cast<core::Wide>(steps_ended_) * static_cast<core::Wide>(cluster_.replicas());
      const Time mean(static_cast<std::int64_t>(exchanged_[e] / parts));
      sink_.note(fmt::format("{}: a replica's {} {} of a step take {} together, on average",
                             scenario_.communicators[static_cast<std::size_t>(planned.communicator)].name,
                             scenario_.workload.micro_batches *
                                 (std::int64_t{planned.exchange.per_forward} + planned.exchange.per_backward),
                             to_string(planned.exchange.collective), core::show(mean)));
    }
  }

  // --- the critical path ---

  /// Everything from which a path may lead back.
  [[nodiscard]] std::vector<Cause*> causes() {
    std::vector<Cause*> all{&last_cause_};
    for (Replica& replica : replicas_) {
      all.push_back(&replica.cause);
      all.push_back(&replica.stream_cause);
      for (Queued& queued : replica.queue) all.push_back(&queued.done);
    }
    for (auto& [instance, flight] : flights_) {
      for (Cause& cause : flight.causes) all.push_back(&cause);
    }
    for (auto& [step, end] : step_ends_) all.push_back(&end.cause);
    return all;
  }

  void write_path() {
    for (core::PathPiece& piece : path_.pieces(last_cause_, last_step_start_, scenario_)) {
      piece.start += remembered_;
      piece.end += remembered_;
      sink_.path(piece);
    }
  }

  const Scenario& scenario_;
  const Scenario& told_;
  std::int64_t fellows_;  ///< workers of whom one is simulated
  const core::RecordOptions& record_;
  const core::RunControl& control_;
  core::TimelineSink& sink_;
  const core::Cluster& cluster_;
  core::DriverTables tables_;
  PlanCollectives collectives_;
  Recorder recorder_;
  EventQueue events_;
  std::vector<core::SlowDevices> slow_;  ///< as the seed has chosen
  Network network_;
  Devices devices_;
  Interpreter interpreter_;
  Ties ties_;  ///< if one worker stands for several
  std::vector<Replica> replicas_;
  /// By step, number in it, and group.
  std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, std::uint32_t> flights_by_number_;
  /// By step and pack, while it is over in some groups only: in how many.
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int64_t, core::PackRecord>> packs_over_;
  std::vector<core::Wide> exchanged_;        ///< by exchange: ps in flight, over all replicas and steps
  std::map<std::uint32_t, Flight> flights_;  ///< by instance
  std::map<std::pair<std::int32_t, std::int32_t>, Time> pack_ready_;  ///< by step and pack: on the last replica so far
  std::map<std::int32_t, StepEnd> step_ends_;
  bool remembers_;  ///< steps that repeat are told, not simulated
  Repetition repetition_;
  Rounds rounds_{interpreter_, network_, devices_, events_, ties_};
  bool repeats_ = false;  ///< all steps to come have been told
  Time remembered_;       ///< how much later the last step is than the last one simulated
  CriticalPath path_;
  Time now_;
  Time last_step_end_;
  Time last_step_start_;
  Cause last_cause_;
  std::int32_t steps_ended_ = 0;
  double lane_steps_ = 1;  ///< of all packs and training steps, about
  std::int64_t handled_ = 0;
  bool cancelled_ = false;
};

}  // namespace

double steps_of(const Scenario& scenario) {
  double steps = 0;
  for (const core::Pack& pack : scenario.plan.packs) {
    const core::Schedule& schedule = *pack.collective.schedule;
    const auto of_rank = [&](Rank rank) {
      double sum = 0;
      for (core::Lane l = 0; l < schedule.lanes(rank); ++l) sum += static_cast<double>(schedule.steps(rank, l));
      return sum;
    };
    const auto groups = static_cast<double>(scenario.plan.partition ? scenario.plan.partition->groups() : 1);
    steps += of_rank(0) * groups * static_cast<double>(pack.collective.contributors);
    const std::int64_t helpers = schedule.ranks() - pack.collective.contributors;
    if (helpers > 0) steps += of_rank(schedule.ranks() - 1) * static_cast<double>(helpers);
  }
  return steps * scenario.run.steps;
}

RunEnd run(const Scenario& scenario, const Scenario& told, const core::RecordOptions& record, bool remember,
           const core::RunControl& control, core::TimelineSink& sink) {
  Run one(scenario, told, record, remember, control, sink);
  core::Expected<void> ran = one.run();
  return {std::move(ran), one.came_apart()};
}

}  // namespace tutti::sim
