// The collective is simulated twice without other traffic: with its own size, and with one element
// per chunk, where latency dominates. Bounds from the cuts of the fabric limit the time of any
// algorithm. losses_of() divides the time of the first run into parts, in this order: the bound,
// the additional bound if the switches could reduce but the algorithm only sends messages, the
// additional bytes on the busiest link, the latency (the time of the second run minus the bound for
// its size), and the rest, which is waiting. Each part is limited to the remaining time, so the sum
// of the parts is the simulated time. Collectives whose times come from NCCL's model are rejected,
// since the model has no messages. core/strategy/collective_bound.cpp computes the bounds, and
// sim::run_alone() the times.

#include "tools/tutti/explain_algorithm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/lowering/plan.h"
#include "core/lowering/reduction_scope.h"
#include "core/scenario/custom.h"
#include "core/schedule/rounds.h"
#include "core/strategy/collective.h"
#include "core/strategy/collective_bound.h"
#include "sim/collectives/collective_run.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Bytes;
using core::Collective;
using core::Error;
using core::Expected;
using core::ProblemCode;
using core::Report;
using core::show;
using core::Time;

constexpr std::int64_t kMaxExplainedSteps = 20'000'000;

struct LinkLine {
  core::LinkId link = 0;
  Bytes bytes;
  core::Bandwidth bandwidth;
  Time busy;
};

/// A part of the collective's time, and its cause.
struct Loss {
  std::string what;
  Time time;
};

struct AlgorithmCosts {
  std::string algorithm;
  std::string cluster;
  std::string collective;
  std::int64_t ranks = 0;
  Bytes bytes;
  core::Rounds rounds;
  std::int64_t min_rounds = 0;
  Time time;       ///< simulated time without other traffic
  Time of_little;  ///< simulated time without other traffic, with one element per chunk
  Bytes little;
  core::Bound bound;
  core::Bound little_bound;
  /// The bound for algorithms that only send messages, if the cluster's switches can reduce.
  std::optional<core::Bound> message_bound;
  bool sums_in_switches = false;        ///< true if the algorithm lets switches reduce
  bool multicasts_in_switches = false;  ///< true if the algorithm lets switches multicast data
  std::vector<LinkLine> links;          ///< busiest link first
  std::vector<Loss> losses;
};

std::int64_t total_steps(const core::Schedule& schedule) {
  std::int64_t steps = 0;
  for (core::Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (core::Lane lane = 0; lane < schedule.lanes(rank); ++lane)
      steps += schedule.steps(rank, lane);
    if (steps > kMaxExplainedSteps) break;
  }
  return steps;
}

/// True if every worker's machine has a switch that reduces and multicasts.
bool switches_reduce(const core::Cluster& cluster) {
  for (const core::WorkerGroup& group : cluster.groups()) {
    const auto& parts = group.machine->parts();
    if (std::none_of(parts.begin(), parts.end(),
                     [](const core::Part& part) { return part.in_switch_reduction; }))
      return false;
  }
  return cluster.replicas_per_worker() > 1;
}

/// Upper bounds on the numbers of workers and ranks that the data of one rank has reached after
/// some rounds, if switches multicast inside workers. In each round, every rank that has the data
/// sends it to another worker, and in every worker, one multicast reaches all ranks.
struct Spread {
  std::int64_t workers = 1;
  std::int64_t ranks = 1;

  [[nodiscard]] Spread next(const core::Cluster& cluster) const {
    const std::int64_t reached = std::min(cluster.workers(), workers + ranks);
    return {reached, workers * cluster.replicas_per_worker() + reached - workers};
  }
};

/// Returns the minimum number of rounds if each rank sends and receives one message at a time. In
/// each round, the number of ranks whose data a rank has can at most double, unless switches
/// multicast.
std::int64_t min_rounds(core::CollectiveKind kind, const core::Cluster& cluster) {
  const std::int64_t ranks = cluster.replicas();
  if (ranks == 1) return 0;
  switch (kind) {
    case core::CollectiveKind::kSendReceive: return 1;
    case core::CollectiveKind::kScatter:
    case core::CollectiveKind::kGather:
    case core::CollectiveKind::kAllToAll:
    case core::CollectiveKind::kAllReduce:
    case core::CollectiveKind::kReduceScatter:
    case core::CollectiveKind::kAllGather:
    case core::CollectiveKind::kBroadcast:
    case core::CollectiveKind::kReduce: break;
  }
  std::int64_t rounds = 0;
  if (switches_reduce(cluster)) {
    for (Spread spread; spread.ranks < ranks; spread = spread.next(cluster)) ++rounds;
    return rounds;
  }
  while ((std::int64_t{1} << rounds) < ranks) ++rounds;
  return rounds;
}

/// True if some step of the schedule is of this kind, and handles data. Signals have no data.
bool has_step(const core::Schedule& schedule, core::StepKind kind) {
  bool found = false;
  for (core::Rank rank = 0; rank < schedule.ranks() && !found; ++rank) {
    for (core::Lane lane = 0; lane < schedule.lanes(rank) && !found; ++lane)
      schedule.visit_ways(rank, lane, [&](const core::Step& step) {
        found = found || (step.kind == kind && step.source.count > 0);
      });
  }
  return found;
}

std::vector<LinkLine> link_lines(const core::Cluster& cluster, const sim::LinkLoads& loads) {
  std::vector<LinkLine> lines;
  for (core::LinkId id = 0; id < loads.links(); ++id) {
    const Bytes bytes = loads.total(id);
    if (bytes == Bytes()) continue;
    const core::Bandwidth bandwidth = cluster.link(id).bandwidth;
    lines.push_back({id, bytes, bandwidth, core::transfer_time(bytes, bandwidth)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LinkLine& a, const LinkLine& b) { return a.busy > b.busy; });
  return lines;
}

/// Divides the time into parts: the lower bound of any algorithm, the additional time of any
/// algorithm without reductions in switches, the additional bytes on the busiest link, the
/// latencies of the rounds, and the rest, in which messages wait for each other or for reductions.
std::vector<Loss> losses_of(const AlgorithmCosts& costs) {
  std::vector<Loss> losses{
      {"lower bound for any algorithm: " + costs.bound.reason, costs.bound.time}};
  Time left = costs.time - std::min(costs.time, costs.bound.time);
  const Time busiest = costs.links.empty() ? Time() : costs.links.front().busy;
  Time of_cut = costs.bound.time - costs.bound.latency;
  if (costs.message_bound && !costs.sums_in_switches && !costs.multicasts_in_switches) {
    const Time without = std::min(left, costs.message_bound->time - costs.bound.time);
    losses.push_back(
        {"the switches could reduce and multicast, but the algorithm only sends "
         "messages: " +
             costs.message_bound->reason,
         without});
    left -= without;
    of_cut += without;
  }
  const Time more = std::min(left, busiest - std::min(busiest, of_cut));
  losses.push_back(
      {"the busiest link carries more bytes than the lower bound requires, or links are not used "
       "in parallel",
       more});
  left -= more;
  const Time latency =
      std::min(left, costs.of_little - std::min(costs.of_little, costs.little_bound.time));
  losses.push_back({fmt::format("latency of {} consecutive rounds", costs.rounds.chain), latency});
  left -= latency;
  losses.push_back({"messages wait for other messages, reductions and copies", left});
  return losses;
}

Expected<AlgorithmCosts> costs_of(const core::Scenario& scenario) {
  const auto wrong = [&](ProblemCode code, const std::string& why) {
    return tl::make_unexpected(Error::request({code, "--algorithm"}, why, {scenario.file, 0, 0}));
  };
  if (scenario.plan.packs.empty())
    return wrong(ProblemCode::kMissing, "--algorithm: the scenario has no collective");
  const core::ReductionScope who = core::reduction_scope(scenario.strategy, scenario.plan);
  const core::Pack* largest = nullptr;
  for (const core::Pack& pack : scenario.plan.packs) {
    const Collective& planned = scenario.plan.collective(pack);
    if (largest == nullptr || planned.bytes() > scenario.plan.collective(*largest).bytes())
      largest = &pack;
  }
  const Collective& planned = scenario.plan.collective(*largest);
  if (who != core::ReductionScope::kAllReplicas || largest->payload.reduction.has_value())
    return wrong(ProblemCode::kUnsupported,
                 "--algorithm: only collectives of all replicas can be explained");
  if (planned.nccl)
    return wrong(ProblemCode::kUnsupported,
                 "--algorithm: NCCL's times come from a model without messages, so they cannot be "
                 "explained; tutti perf --cluster … --explain shows NCCL's choice");
  if (total_steps(*planned.schedule) > kMaxExplainedSteps)
    return wrong(ProblemCode::kTooLarge,
                 fmt::format("--algorithm: the algorithm has more than {} schedule steps, which is "
                             "the limit of this option; use fewer workers",
                             kMaxExplainedSteps));
  const core::Cluster& cluster = *scenario.cluster;
  const core::NetworkModel model = scenario.run.network_model;
  const bool adds = core::network_adds(scenario.plan);
  AlgorithmCosts costs;
  costs.cluster = describe(cluster);
  costs.collective = std::string(to_string(planned.kind));
  costs.ranks = cluster.replicas();
  costs.bytes = planned.bytes();
  costs.algorithm = core::describe(strategy_of(scenario.strategy, *largest));
  costs.rounds = core::rounds_of(*planned.schedule);
  costs.min_rounds = min_rounds(planned.kind, cluster);
  const sim::CollectiveRun run = sim::run_alone(planned, model, {}, false);
  costs.time = run.end;
  costs.links = link_lines(cluster, run.loads);
  costs.bound =
      core::collective_bound(cluster, planned.kind, planned.root, costs.bytes, model, adds);
  if (planned.kind == core::CollectiveKind::kAllReduce && switches_reduce(cluster)) {
    costs.message_bound = core::all_reduce_bound_of_messages(cluster, costs.bytes, model);
    costs.sums_in_switches = has_step(*planned.schedule, core::StepKind::kSwitchReduce);
    costs.multicasts_in_switches = has_step(*planned.schedule, core::StepKind::kMulticast);
  }
  const Collective little = core::make_collective(cluster, strategy_of(scenario.strategy, *largest),
                                                  planned.type, costs.ranks, largest->turn);
  costs.little = little.bytes();
  costs.of_little = sim::run_alone(little, model, {}, false).end;
  costs.little_bound =
      core::collective_bound(cluster, planned.kind, planned.root, costs.little, model, adds);
  costs.losses = losses_of(costs);
  return costs;
}

std::string bandwidth_text(Bytes bytes, Time time) {
  if (time <= Time()) return "–";
  return fmt::format("{:.2f} GB/s", static_cast<double>(bytes.count()) / core::to_us(time) / 1e3);
}

std::string link_table(const AlgorithmCosts& costs, const core::Cluster& cluster, int rows) {
  Table table({"<link", "bytes", "of the buffer", "bandwidth", "busy", "of the time"});
  int shown = 0;
  for (const LinkLine& line : costs.links) {
    if (shown++ == rows) break;
    table.row({cluster.link_name(line.link), fmt::format("{}", line.bytes.count()),
               fmt::format("{:.3f}", static_cast<double>(line.bytes.count()) /
                                         static_cast<double>(costs.bytes.count())),
               fmt::format("{:.1f} GB/s", static_cast<double>(line.bandwidth.count()) / 1e9),
               show(line.busy), core::show_share(share(line.busy, costs.time))});
  }
  std::string text = table.text(2);
  if (costs.links.size() > static_cast<std::size_t>(rows))
    text += fmt::format("  … and {} more (use --rows to see them)\n",
                        costs.links.size() - static_cast<std::size_t>(rows));
  return text;
}

std::string text_of(const AlgorithmCosts& costs, const core::Cluster& cluster, int rows) {
  std::string text =
      fmt::format("{} of {} bytes by {}, {}: {}\n\n", costs.collective, costs.bytes.count(),
                  costs.algorithm, costs.cluster, show(costs.time));
  text += fmt::format(
      "rounds     {} messages in the longest chain of dependent messages (lower bound if a rank "
      "sends one message at a time: {}); {} messages in total\n",
      costs.rounds.chain, costs.min_rounds, costs.rounds.messages);
  text += fmt::format("latency    {} for {} bytes; lower bound for any algorithm: {}\n",
                      show(costs.of_little), costs.little.count(), show(costs.little_bound.time));
  text += fmt::format(
      "bandwidth  {}; upper bound for any algorithm: {}, of which this algorithm reaches {} "
      "(reason for the bound: {})\n",
      bandwidth_text(costs.bytes, costs.time), bandwidth_text(costs.bytes, costs.bound.time),
      costs.time > Time() ? core::show_share(share(costs.bound.time, costs.time)) : "–",
      costs.bound.reason);
  if (costs.message_bound)
    text += fmt::format(
        "switches   this algorithm {}; upper bound for any algorithm that only sends messages: {} "
        "(reason for the bound: {})\n",
        costs.sums_in_switches         ? "lets switches reduce"
        : costs.multicasts_in_switches ? "lets switches multicast, but not reduce"
                                       : "does not let switches reduce or multicast",
        bandwidth_text(costs.bytes, costs.message_bound->time), costs.message_bound->reason);
  text += fmt::format("\nlinks, busiest first ({} links carry data)\n", costs.links.size());
  text += link_table(costs, cluster, rows);
  text += "\nwhere the time goes\n";
  Table losses({"time", "", "<what"});
  for (const Loss& loss : costs.losses)
    losses.row({show(loss.time),
                costs.time > Time() ? core::show_share(share(loss.time, costs.time)) : "–",
                loss.what});
  return text + losses.text(2);
}

Report report_of(const AlgorithmCosts& costs, const core::Cluster& cluster) {
  Report report{{"collective", costs.collective},
                {"algorithm", costs.algorithm},
                {"cluster", costs.cluster},
                {"ranks", costs.ranks},
                {"bytes", costs.bytes},
                {"time_us", costs.time},
                {"rounds", costs.rounds.chain},
                {"min_rounds", costs.min_rounds},
                {"messages", costs.rounds.messages},
                {"small_bytes", costs.little},
                {"small_time_us", costs.of_little},
                {"small_lower_bound_us", costs.little_bound.time},
                {"lower_bound_us", costs.bound.time},
                {"lower_bound_reason", costs.bound.reason}};
  if (costs.message_bound)
    report.add({{"message_bound_us", costs.message_bound->time},
                {"message_bound_reason", costs.message_bound->reason},
                {"sums_in_switches", costs.sums_in_switches},
                {"multicasts_in_switches", costs.multicasts_in_switches}});
  report.add("links", core::list_of(costs.links, [&](const LinkLine& line) {
               return Report{{"link", cluster.link_name(line.link)},
                             {"bytes", line.bytes},
                             {"bandwidth_bytes_per_s", line.bandwidth.count()},
                             {"busy_us", line.busy}};
             }));
  return report.add("losses", core::list_of(costs.losses, [](const Loss& loss) {
                      return Report{{"what", loss.what}, {"time_us", loss.time}};
                    }));
}

}  // namespace

int explain_algorithm(const ExplainOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.rows < 0)
    return refuse({ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  const auto scenario = load_scenario(options.scenario, environment);
  if (!scenario) return report(scenario.error());
  if (const auto proved = core::prove_custom(*scenario, core::CustomProof::kQuick); !proved)
    return report(proved.error());
  const auto costs = costs_of(*scenario);
  if (!costs) return report(costs.error());
  return *format == Format::kJson ? print_out(result_json(report_of(*costs, *scenario->cluster)))
                                  : print_report(text_of(*costs, *scenario->cluster, options.rows));
}

}  // namespace tutti::tools
