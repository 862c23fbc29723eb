#include "sim/simulator.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/scenario/custom.h"
#include "core/strategy/collective_parts.h"
#include "sim/folding/folding.h"
#include "sim/folding/held_timeline.h"
#include "sim/interpreter/interpreter.h"
#include "sim/run/run.h"

namespace tutti::sim {
namespace {

using core::Rank;
using core::Scenario;

// The number of schedule steps up to which a run counts as short. Their simulation takes some
// hundredths of a second.
constexpr double kFewSteps = 100e3;

/// Returns the largest number of lanes of any collective. A collective with more than
/// Interpreter::kMaxLanes lanes cannot be simulated. For each algorithm, only the largest pack is
/// examined, because larger packs have at least as many lanes.
std::int64_t lanes_of(const Scenario& scenario) {
  // The largest collective for each entry of the strategy's all_reduce_spec.
  std::map<int, const core::Collective*> largest;
  for (const core::Pack& pack : scenario.plan.packs) {
    const core::Collective& collective = scenario.plan.collective(pack);
    if (collective.nccl) continue;
    const core::Collective*& most = largest[pack.entry];
    if (most == nullptr || collective.elements > most->elements) most = &collective;
  }
  const auto lanes_in = [](const core::Schedule& schedule) {
    std::int64_t lanes = 0;
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) lanes += schedule.lanes(rank);
    return lanes;
  };
  std::int64_t most = 0;
  const auto lanes_of_parts = [&](const core::CollectiveParts& parts) {
    std::int64_t of_any = 0;
    for (const core::CollectivePart& part : parts.all) {
      if (!part.inside_workers) of_any = std::max(of_any, lanes_in(*part.collective.schedule));
    }
    return of_any;
  };
  for (const auto& [entry, collective] : largest) {
    const core::CollectiveParts* const parts = core::timed_parts(*collective);
    most = std::max(most, parts ? lanes_of_parts(*parts) : lanes_in(*collective->schedule));
  }
  if (scenario.plan.graph) {
    for (const core::PlannedCollective& planned : scenario.plan.collectives)
      if (!planned.first.nccl) most = std::max(most, lanes_in(*planned.first.schedule));
  }
  for (const core::PlannedExchange& e : scenario.plan.exchanges) {
    const core::Collective& collective = scenario.plan.collective(e);
    if (!collective.nccl) most = std::max(most, lanes_in(*collective.schedule));
  }
  return most;
}

constexpr std::string_view kCannotStandForAll = "one worker cannot represent all: ";

core::Error too_many_lanes(const Scenario& scenario, const std::string& why_not_folded) {
  return core::Error::request(
      {core::ProblemCode::kTooLarge, "Strategy"},
      fmt::format(
          "a collective of this strategy has {} lanes on its {} ranks, which exceeds the limit of "
          "{} lanes; use fewer shards, channels or workers{}",
          lanes_of(scenario), scenario.plan.widest().schedule->ranks(), Interpreter::kMaxLanes,
          why_not_folded.empty() ? ""
                                 : fmt::format(", or make workers identical, so that one worker is "
                                               "simulated on behalf of all ({})",
                                               why_not_folded)),
      {scenario.file, 0, 0});
}

/// Returns the cost of looking up links for NCCL collectives with predicted times, in schedule
/// steps. Such a collective causes few events, regardless of its number of ranks. However, each
/// route of each rank must be looked up, which takes about as long as 15 schedule steps.
double steps_to_look_up(const Scenario& scenario) {
  double ways = 0;
  for (const core::Pack& pack : scenario.plan.packs) {
    const core::Collective& collective = scenario.plan.collective(pack);
    const core::Schedule& schedule = *collective.schedule;
    if (collective.nccl) ways += static_cast<double>(schedule.ranks()) * schedule.lanes(0);
    // All workers have the same routes, so the routes are looked up once; but they are announced
    // for each worker.
    if (const core::CollectiveParts* const parts = core::timed_parts(collective))
      ways += parts->layout.replicas();
  }
  constexpr double kStepsPerWay = 15;
  return kStepsPerWay * ways;
}

/// True if folding (simulating one worker on behalf of all) saves enough time. Short runs are not
/// folded. A run with a timeline is folded only if it would otherwise take too long, because the
/// timeline of a folded run has only one worker.
bool is_worth_folding(const Scenario& scenario, const core::RecordOptions& record) {
  // The simulation of this number of schedule steps takes some ten seconds.
  constexpr double kStepsWithTimeline = 50e6;
  return steps_of(scenario) + steps_to_look_up(scenario) >
         (record.level == core::RecordLevel::kNone ? kFewSteps : kStepsWithTimeline);
}

bool skip_repeats(SkipRepeats how, const Scenario& scenario) {
  return how == SkipRepeats::kAlways ||
         (how == SkipRepeats::kAutomatic && steps_of(scenario) > kFewSteps);
}

/// True if the timeline is to begin with a worker other than the first. A folded run cannot record
/// such a timeline, because it simulates only the first worker.
bool records_others(const core::RecordOptions& record) {
  return record.level != core::RecordLevel::kNone && record.first_worker > 0;
}

}  // namespace

core::Expected<void> Simulator::run(const Scenario& scenario, const core::RecordOptions& record,
                                    const core::RunControl& control, core::TimelineSink& sink) {
  const core::Conditions& conditions = scenario.run.conditions;
  if (scenario.run.network_model == core::NetworkModel::kIdeal &&
      !(conditions.links.empty() && conditions.background.empty())) {
    return tl::make_unexpected(core::Error::request(
        {core::ProblemCode::kConflict, "Run.network_model"},
        "conditions: changing links and background traffic need network model "
        "fifo or fair, because model ideal has only the ports at both ends of a message",
        {scenario.file, 0, 0}));
  }
  if (proof_ == Proof::kQuick) {
    if (auto proved = core::prove_custom(scenario, core::CustomProof::kQuick); !proved)
      return proved;
  }
  const bool remember = skip_repeats(skip_repeats_, scenario);
  std::string why_not;
  if (folds_ == Folds::kAlways ||
      (folds_ == Folds::kAutomatic && is_worth_folding(scenario, record))) {
    Folding folding = fold(scenario);
    why_not = folding.why_not;
    if (records_others(record)) why_not = "workers other than the first are recorded";
    if (why_not.empty()) {
      core::RecordOptions of_one = record;
      of_one.last_worker = 0;
      HeldTimeline held;
      RunEnd one = sim::run(*folding.scenario, scenario, of_one, remember, control, held);
      if (!one.symmetry_broken) return held.tell(sink), std::move(one.ran);
      why_not =
          "messages of several workers arrive at the same time, and their order depends on the "
          "index of the worker";
    }
    if (folds_ == Folds::kAlways)
      return tl::make_unexpected(core::Error::request(
          {core::ProblemCode::kConflict, "Cluster"},
          fmt::format("{}{}", kCannotStandForAll, why_not), {scenario.file, 0, 0}));
  }
  if (lanes_of(scenario) > Interpreter::kMaxLanes)
    return tl::make_unexpected(too_many_lanes(scenario, why_not));
  return sim::run(scenario, scenario, record, remember, control, sink).ran;
}

bool cannot_fold(const core::Error& refusal) {
  return refusal.kind() == core::ErrorKind::kRequest && refusal.problems().size() == 1 &&
         refusal.problems().front().text.starts_with(kCannotStandForAll);
}

double work_of(const Scenario& scenario, Folds folds) {
  const double whole = steps_of(scenario) + steps_to_look_up(scenario);
  if (folds == Folds::kNever || (folds == Folds::kAutomatic && whole <= kFewSteps)) return whole;
  const Folding folding = fold(scenario);
  return folding.scenario ? steps_of(*folding.scenario) + steps_to_look_up(*folding.scenario)
                          : whole;
}

}  // namespace tutti::sim
