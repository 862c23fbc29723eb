// The event loop of a simulated run. The loop takes the earliest event, sets the virtual time to
// the time of this event, and calls its handler, which adds further events. This file also contains
// the beginning and the end of a run; run_state.h lists the files with the event handlers. The loop
// ends if there are no more events, a time limit or timeout has passed, the run is cancelled, or
// the remaining steps are repetitions (repetition.h). The loop also ends if one simulated worker
// cannot represent all workers (sim/folding); the caller then simulates all workers. If there are
// no more events although the last step has not ended, some component waits forever. finish() then
// reports the cause: a link or worker that is down, a custom algorithm, or an execution trace. If
// none of these is the cause, there is a bug in Tutti.

#include "sim/run/run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/lowering/reduction_scope.h"
#include "core/scenario/custom.h"
#include "core/scenario/run_info.h"
#include "sim/device/gone.h"
#include "sim/run/link_reports.h"
#include "sim/run/run_state.h"

namespace tutti::sim {

using core::Rank;
using core::Scenario;
using core::Time;

Run::Run(const Scenario& scenario, const Scenario& timeline_scenario,
         const core::RecordOptions& record, bool remember, const core::RunControl& control,
         core::TimelineSink& sink)
    : scenario_(scenario),
      timeline_scenario_(timeline_scenario),
      workers_per_simulated_(timeline_scenario.cluster->workers() / scenario.cluster->workers()),
      record_(record),
      sink_(sink),
      cluster_(*scenario.cluster),
      programs_(scenario.plan.graph ? core::StepPrograms()
                                    : core::StepPrograms(scenario.workload, scenario.plan)),
      collectives_(scenario.plan),
      recorder_(cluster_, record, sink),
      progress_(control),
      slow_(core::chosen(scenario.run.conditions.slow, scenario.run.seed, cluster_)),
      network_(cluster_, scenario.run.network_model, binned_links(record), true,
               LinkHealth(cluster_, scenario.run.conditions.links,
                          scenario.run.conditions.background, scenario.run.seed)),
      devices_(cluster_,
               DeviceFaults(slow_, scenario.run.conditions.gone, scenario.run.conditions.late)),
      engines_(network_, devices_, events_, ties_, *this, recorder_.watches_steps()) {
  if (workers_per_simulated_ > 1) engines_.watch_ties();
  const bool nothing_recorded = record.level == core::RecordLevel::kNone;
  if (remember && nothing_recorded && Repetition::is_possible(scenario) && state_of_gates())
    repetition_.emplace();
}

core::Expected<void> Run::run() {
  report_beginning();
  network_.schedule_changes(events_);
  progress_.expect(steps_of(scenario_));
  const std::function<bool()> go_on = [this] { return keep_going(); };
  const auto expect = [&](const core::Collective& c) {
    if (keep_going()) engines_.expect(c, go_on);
  };
  collectives_.visit(expect);
  messages_.visit(expect);
  const std::vector<core::Collective> fused = gates_.largest();
  for (const core::Collective& c : fused) expect(c);
  network_.expect_no_other();
  if (progress_.cancelled()) return finish();
  set_up_replicas();
  if (core::reduction_scope(scenario_.strategy, scenario_.plan) ==
      core::ReductionScope::kAsyncServers) {
    asynchrony_.emplace(scenario_, steps_of(scenario_) / scenario_.run.steps);
    // Do not skip steps, because the steady state is searched in simulated steps.
    repetition_.reset();
  }
  share_devices();
  for (Replica& replica : replicas_) begin_step(replica, Time(), {});
  while (!events_.empty()) {
    const Event event = events_.pop();
    if (event.time > core::kHorizon) {
      if (asynchrony_ && step_ends_.ended() >= scenario_.run.steps) break;
      return tl::make_unexpected(too_long());
    }
    now_ = event.time;
    if (workers_per_simulated_ > 1) ties_.begin(event.order);
    handle(event);
    if (ties_.matter()) return {};
    if (timeouts_.exceeded()) break;
    if (repetition_) {
      // If a collective repeats identical rounds, skip them: only advance the time by their
      // duration.
      now_ += engines_.skip_rounds(now_);
      if (repetition_->repeats() && step_ends_.last_end() > core::kHorizon)
        return tl::make_unexpected(too_long());
      if (repetition_->repeats()) break;
    }
    if (progress_.event() && !keep_going()) break;
  }
  return finish();
}

void Run::report_beginning() {
  sink_.begin(core::run_info(timeline_scenario_, "simulated"));
  if (workers_per_simulated_ > 1) sink_.note(folding_note());
  for (const std::string& note : core::recording_notes(record_, *timeline_scenario_.cluster))
    sink_.note(note);
  for (const std::string& note : core::describe(scenario_.run.conditions, slow_, cluster_))
    sink_.note(note);
  bool all_have_steps = true;
  collectives_.visit(
      [&](const core::Collective& c) { all_have_steps = all_have_steps && has_steps(c); });
  if (!all_have_steps && recorder_.watches_steps())
    sink_.note(
        "collectives with predicted times of NCCL have no schedule steps to record; simulate NCCL "
        "as rings to record steps (run.nccl: RINGS)");
}

core::Expected<void> Run::finish() {
  const std::int32_t ended = step_ends_.ended();
  const bool cancelled = progress_.cancelled();
  const bool stuck = !cancelled && !timeouts_.exceeded() && ended < scenario_.run.steps;
  const std::string dead = lost_worker_text(scenario_);
  const bool custom = scenario_.strategy.custom.has_value();
  const bool trace = scenario_.plan.graph != nullptr;
  TUTTI_CHECK(!stuck || !dead.empty() || custom || trace,
              "only {} of {} steps ended, because a task waits forever", ended,
              scenario_.run.steps);
  const bool ports_alone = scenario_.run.network_model == core::NetworkModel::kIdeal;
  report_links(network_.loads(), cluster_, *timeline_scenario_.cluster, ports_alone,
               step_ends_.last_end(), sink_);
  if (ended > 0) {
    for (const std::string& note : exchange_times_.notes(scenario_, ended, cluster_.replicas()))
      sink_.note(note);
    if (asynchrony_) {
      sink_.note(asynchrony_->describe());
      if (const core::SteadyState* const steady = asynchrony_->steady()) sink_.steady(*steady);
    }
    for (const std::string& note : gates_.notes()) sink_.note(note);
  }
  for (const std::string& note : engines_.notes()) sink_.note(note);
  if (timeouts_.exceeded()) return sink_.end(), tl::make_unexpected(*timeouts_.exceeded());
  if (stuck && dead.empty() && trace)
    return sink_.end(),
           tl::make_unexpected(core::Error::run(
               {core::ProblemCode::kConflict, "ExecutionTrace.path"},
               fmt::format("step {} of the trace never ends, because ranks wait forever for "
                           "messages or collectives; receives from any rank or with any tag may "
                           "have matched other messages than intended",
                           ended)));
  if (stuck && dead.empty()) return sink_.end(), tl::make_unexpected(core::never_ends(scenario_));
  if (stuck) return sink_.end(), tl::make_unexpected(stuck_forever(dead));
  if (!cancelled) write_path();
  if (cancelled)
    sink_.note(fmt::format("stopped by request after {} of {} steps", ended, scenario_.run.steps));
  sink_.end();
  return {};
}

// --- the beginning of the timeline ---

std::string Run::folding_note() const {
  return fmt::format("simulated {} of {} ranks: one worker on behalf of all {} identical workers",
                     core::show_count(cluster_.replicas()),
                     core::show_count(timeline_scenario_.cluster->replicas()),
                     core::show_count(timeline_scenario_.cluster->workers()));
}

LinkRange Run::binned_links(const core::RecordOptions& record) const {
  if (record.level < core::RecordLevel::kPacks || record.last_worker < record.first_worker)
    return {};
  const auto first_link = [this](std::int64_t worker) {
    return cluster_.first_link(std::clamp<std::int64_t>(worker, 0, cluster_.workers()));
  };
  // The bins of a link take 8 KB. If the network has more than kMaxSwitchLinks links between
  // switches, these links have no bins. Their numbers are below those of all other links, so the
  // range then begins at the first link of the first recorded worker.
  constexpr core::LinkId kMaxSwitchLinks = 4096;
  const bool switches = record.first_worker <= 0 && cluster_.switch_links() <= kMaxSwitchLinks;
  return {switches ? 0 : first_link(record.first_worker), first_link(record.last_worker + 1)};
}

void Run::write_path() {
  for (core::PathPiece& piece :
       path_.pieces(step_ends_.last_cause(), step_ends_.last_start(), scenario_)) {
    if (repetition_) {
      piece.start += repetition_->later();
      piece.end += repetition_->later();
    }
    sink_.path(piece);
  }
}

// --- events ---

void Run::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kCompute: return compute_done(event);
    case EventKind::kTimer: return timeouts_.fires(event);
    case EventKind::kCycle: return gates_.handle(event);
    default: return engines_.handle(event);
  }
}

bool Run::keep_going() { return progress_.go_on(now_, engines_.work_done()); }

core::Error Run::too_long() {
  return core::Error::request({core::ProblemCode::kTooLarge},
                              "the run exceeds the limit of 53 days of virtual time; check the "
                              "units of latencies, bandwidths and times");
}

// --- runs that never end ---

core::Error Run::stuck_forever(const std::string& dead) const {
  std::string waiting;
  std::int64_t last = -1;  // report a pack only once, even if it waits in several groups
  flights_.visit_numbers([&](std::int32_t step, std::int64_t number) {
    if (step != step_ends_.ended() ||
        number >= static_cast<std::int64_t>(scenario_.plan.packs.size()) ||
        std::exchange(last, number) == number)
      return;
    waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", number);
  });
  return core::Error::run(
      {core::ProblemCode::kInvalid, "Conditions"},
      fmt::format("step {} never ends: {}; all messages over dead links wait forever{}. A real run "
                  "would hang until its timeout; set tensorflow {{ multi_worker_mirrored {{ "
                  "communication_options {{ timeout_seconds: … }} }} }} to simulate TensorFlow's "
                  "timeout, or set bandwidth_share above 0 for a dead link, or add another route",
                  step_ends_.ended(), dead, waiting.empty() ? "" : ", including pack " + waiting));
}

double steps_of(const Scenario& scenario) {
  double steps = 0;
  if (const auto& graph = scenario.plan.graph) {
    for (const core::Pack& pack : scenario.plan.packs)
      steps += work_of(scenario.plan.collective(pack), 1);
    return (steps + 2 * static_cast<double>(graph->sends())) * scenario.run.steps;
  }
  for (const core::Pack& pack : scenario.plan.packs) {
    const core::PlannedCollective& planned = scenario.plan.planned(pack.collective);
    steps += work_of(planned.first, static_cast<double>(planned.number_of_groups()));
  }
  return steps * scenario.run.steps;
}

RunEnd run(const Scenario& scenario, const Scenario& timeline_scenario,
           const core::RecordOptions& record, bool remember, const core::RunControl& control,
           core::TimelineSink& sink) {
  Run one(scenario, timeline_scenario, record, remember, control, sink);
  core::Expected<void> ran = one.run();
  return {std::move(ran), one.symmetry_broken()};
}

}  // namespace tutti::sim
