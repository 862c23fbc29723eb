#include "sim/run.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/scenario/run_info.h"
#include "core/strategy/who_reduces.h"
#include "sim/links_told.h"
#include "sim/run_state.h"

namespace tutti::sim {

using core::Rank;
using core::Scenario;
using core::Time;

Run::Run(const Scenario& scenario, const Scenario& told, const core::RecordOptions& record, bool remember,
         const core::RunControl& control, core::TimelineSink& sink)
    : scenario_(scenario),
      told_(told),
      fellows_(told.cluster->workers() / scenario.cluster->workers()),
      record_(record),
      control_(control),
      sink_(sink),
      cluster_(*scenario.cluster),
      programs_(scenario.workload, scenario.plan),
      pull_of_(core::answers_to(scenario.plan)),
      collectives_(scenario.plan),
      recorder_(cluster_, record, sink),
      slow_(core::chosen(scenario.run.conditions.slow, scenario.run.seed, cluster_)),
      network_(
          cluster_, scenario.run.network_model, binned_links(record), true,
          LinkHealth(cluster_, scenario.run.conditions.links, scenario.run.conditions.background, scenario.run.seed)),
      devices_(cluster_, Slowness(slow_, scenario.run.conditions.gone)),
      deadlines_(scenario.strategy.timeout, cluster_.replicas()),
      engines_(network_, devices_, events_, ties_, *this, recorder_.watches_steps()),
      remembers_(remember && record.level == core::RecordLevel::kNone && Repetition::is_possible(scenario) &&
                 state_of_gates().has_value()) {
  if (fellows_ > 1) engines_.watch_ties();
}

core::Expected<void> Run::run() {
  tell_beginning();
  network_.schedule_changes(events_);
  lane_steps_ = std::max(1.0, steps_of(scenario_));
  const std::function<bool()> go_on = [this] { return keep_going(); };
  const auto expect = [&](const core::Collective& c) {
    if (!cancelled_) engines_.expect(c, go_on);
  };
  collectives_.visit(expect);
  const std::vector<core::Collective> fused = gates_.largest();
  for (const core::Collective& c : fused) expect(c);
  network_.expect_no_other();
  if (cancelled_) return finish();
  set_up_replicas();
  if (core::who_reduces(scenario_.strategy, scenario_.plan) == core::WhoReduces::kServersAtOwnPace) {
    versions_ = core::Versions(scenario_.plan.partition->groups(), scenario_.workload.gradients.size());
    own_paces_ = core::OwnPaces(scenario_.plan.partition->groups());
  }
  share_devices();
  exchanged_.resize(scenario_.plan.exchanges.size());
  for (Replica& replica : replicas_) begin_step(replica, Time(), {});
  while (!events_.empty()) {
    const Event event = events_.pop();
    if (event.time > core::kHorizon) return tl::make_unexpected(too_long());
    now_ = event.time;
    if (fellows_ > 1) ties_.begin(event.order);
    handle(event);
    if (ties_.matter()) return {};
    if (exceeded_) break;
    if (remembers_) now_ += engines_.skip_rounds(now_);
    if (repeats_ && last_step_end_ > core::kHorizon) return tl::make_unexpected(too_long());
    if (repeats_) break;
    if (++handled_ % 65'536 == 0 && !keep_going()) break;
  }
  return finish();
}

void Run::tell_beginning() {
  sink_.begin(core::run_info(told_, "simulated"));
  if (fellows_ > 1) sink_.note(folding_note());
  for (const std::string& note : core::recording_notes(record_, *told_.cluster)) sink_.note(note);
  for (const std::string& note : core::describe(scenario_.run.conditions, slow_, cluster_)) sink_.note(note);
  bool all_have_steps = true;
  collectives_.visit([&](const core::Collective& c) { all_have_steps = all_have_steps && has_steps(c); });
  if (!all_have_steps && recorder_.watches_steps())
    sink_.note(
        "NCCL's collectives by its own times have no steps to record; those of its rings have (run.nccl: RINGS)");
}

core::Expected<void> Run::finish() {
  const bool stuck = !cancelled_ && !exceeded_ && steps_ended_ < scenario_.run.steps;
  const std::string dead = what_is_gone();
  TUTTI_CHECK(!stuck || !dead.empty(), "{} of {} steps ended; something waits forever", steps_ended_,
              scenario_.run.steps);
  const bool ports_alone = scenario_.run.network_model == core::NetworkModel::kIdeal;
  tell_links(network_.loads(), cluster_, *told_.cluster, ports_alone, last_step_end_, sink_);
  write_exchanges();
  if (versions_.any() && steps_ended_ > 0) sink_.note(own_paces_.describe(versions_.behind()));
  if (steps_ended_ > 0) {
    for (const std::string& note : gates_.notes()) sink_.note(note);
  }
  for (const std::string& note : engines_.notes()) sink_.note(note);
  if (exceeded_) return sink_.end(), tl::make_unexpected(*exceeded_);
  if (stuck) return sink_.end(), tl::make_unexpected(stuck_forever(dead));
  if (!cancelled_) write_path();
  if (cancelled_) sink_.note(fmt::format("stopped by request after {} of {} steps", steps_ended_, scenario_.run.steps));
  sink_.end();
  return {};
}

// --- what the timeline is told ---

std::string Run::folding_note() const {
  return fmt::format("simulated {} of {} ranks: one worker stands for all {}, which nothing tells apart",
                     core::show_count(cluster_.replicas()), core::show_count(told_.cluster->replicas()),
                     core::show_count(told_.cluster->workers()));
}

LinkRange Run::binned_links(const core::RecordOptions& record) const {
  if (record.level < core::RecordLevel::kPacks || record.last_worker < record.first_worker) return {};
  const auto first_link = [this](std::int64_t worker) {
    return cluster_.first_link(std::clamp<std::int64_t>(worker, 0, cluster_.workers()));
  };
  // Links between switches come first. Bins take 8 KB for each, so that those of huge networks have none.
  constexpr core::LinkId kMostSwitchLinks = 4096;
  const bool switches = record.first_worker <= 0 && cluster_.switch_links() <= kMostSwitchLinks;
  return {switches ? 0 : first_link(record.first_worker), first_link(record.last_worker + 1)};
}

// --- exchanges ---

void Run::write_exchanges() {
  if (steps_ended_ == 0) return;
  for (std::size_t e = 0; e < exchanged_.size(); ++e) {
    const core::PlannedExchange& planned = scenario_.plan.exchanges[e];
    const auto parts = static_cast<core::Wide>(steps_ended_) * static_cast<core::Wide>(cluster_.replicas());
    const Time mean(static_cast<std::int64_t>(exchanged_[e] / parts));
    sink_.note(fmt::format(
        "{}: a replica's {} {} of a step take {} together, on average",
        scenario_.communicators[static_cast<std::size_t>(planned.communicator)].name,
        scenario_.workload.micro_batches * (std::int64_t{planned.exchange.per_forward} + planned.exchange.per_backward),
        to_string(planned.exchange.collective), core::show(mean)));
  }
}

void Run::write_path() {
  for (core::PathPiece& piece : path_.pieces(last_cause_, last_step_start_, scenario_)) {
    piece.start += remembered_;
    piece.end += remembered_;
    sink_.path(piece);
  }
}

// --- events ---

void Run::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kCompute: return compute_done(event);
    case EventKind::kTimer: return timer_fires(event);
    case EventKind::kCycle: return gates_.handle(event);
    default: return engines_.handle(event);
  }
}

bool Run::keep_going() {
  if (control_.cancel && control_.cancel->load(std::memory_order_relaxed)) cancelled_ = true;
  if (now_ > control_.until) cancelled_ = true;
  if (control_.progress) {
    control_.progress(std::min(1.0, static_cast<double>(engines_.work_done()) / lane_steps_));
  }
  return !cancelled_;
}

core::Error Run::too_long() {
  return core::Error::request(
      "the run takes more than 53 days of virtual time, more than Tutti counts; check the units of latencies, "
      "bandwidths and times");
}

// --- what never ends ---

/// The links that are dead in the end and the workers that are gone, in words; empty if there are none.
std::string Run::what_is_gone() const {
  std::map<core::LinkId, core::LinkChange> last;
  std::string text;
  for (const core::GoneWorker& gone : scenario_.run.conditions.gone) {
    text += fmt::format("{}worker {} {}", text.empty() ? "" : ", ", gone.worker,
                        gone.from == Time() ? "never comes" : "is gone from " + core::show(gone.from) + " on");
  }
  for (const core::LinkChange& change : scenario_.run.conditions.links) last[change.link] = change;
  for (const auto& [link, change] : last) {
    if (change.share_ppm > 0) continue;
    text += fmt::format("{}link {} is dead from {} on", text.empty() ? "" : ", ", cluster_.link_name(link),
                        core::show(change.at));
  }
  return text;
}

core::Error Run::stuck_forever(const std::string& dead) const {
  std::string waiting;
  std::int64_t last = -1;  // a pack that waits in several groups is told once
  for (const auto& [key, instance] : flights_by_number_) {
    const auto [step, number, group] = key;
    if (step != steps_ended_ || number >= static_cast<std::int64_t>(scenario_.plan.packs.size()) ||
        std::exchange(last, number) == number)
      continue;
    waiting += fmt::format("{}{}", waiting.empty() ? "" : ", ", number);
  }
  return core::Error::run(fmt::format(
      "step {} never ends: {}; what waits for that waits forever{}. A real run would hang until its "
      "time-out; say communication_options {{ timeout_seconds: … }} to see when TensorFlow's ends, or give a "
      "dead link a bandwidth_share above 0, or another way",
      steps_ended_, dead, waiting.empty() ? "" : ", and with it pack " + waiting));
}

double steps_of(const Scenario& scenario) {
  double steps = 0;
  const auto groups = static_cast<double>(scenario.plan.partition ? scenario.plan.partition->groups() : 1);
  for (const core::Pack& pack : scenario.plan.packs) steps += work_of(pack.collective, groups);
  return steps * scenario.run.steps;
}

RunEnd run(const Scenario& scenario, const Scenario& told, const core::RecordOptions& record, bool remember,
           const core::RunControl& control, core::TimelineSink& sink) {
  Run one(scenario, told, record, remember, control, sink);
  core::Expected<void> ran = one.run();
  return {std::move(ran), one.came_apart()};
}

}  // namespace tutti::sim
