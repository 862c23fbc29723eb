// This file prints a plan without executing it. If a column has the same value for all packs, the
// value is printed once above the table, so that plans with hundreds of packs remain readable. The
// function start_rule() describes in words when a pack starts, so it must consider every field of
// Pack that can delay a launch. For packs that NCCL executes, --schedule prints NCCL's own steps if
// its choice is known and can be lowered, and the steps that Tutti executes otherwise. The file
// plan_proofs.cpp proves schedules and task graphs, and plan_graph.cpp draws the task graph.

#include "tools/tutti/plan.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "core/lowering/reduction_scope.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"
#include "core/scenario/run_info.h"
#include "core/scenario/scenario.h"
#include "core/schedule/print.h"
#include "core/strategy/collective_parts.h"
#include "sim/simulator.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/plan_graph.h"
#include "tools/tutti/plan_proofs.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Collective;
using core::Error;
using core::Expected;
using core::Lane;
using core::Member;
using core::Pack;
using core::Rank;
using core::Report;
using core::Scenario;
using core::Schedule;
using core::show;

/// The maximum number of schedule steps that are printed. Longer schedules are not printed.
constexpr std::int64_t kMaxPrintedSteps = 20'000;
/// The maximum widths, in characters, of a pack's gradient names: in the table, and in a line that
/// contains only names.
constexpr std::size_t kNamesWidth = 70;
constexpr std::size_t kLineWidth = 110;
std::string name_of(const Scenario& scenario, const Member& member) {
  return scenario.workload.gradients[member.variable].name;
}

bool is_whole(const Scenario& scenario, const Pack& pack, const Member& member) {
  return scenario.plan.collective(pack).kind == core::CollectiveKind::kAllGather ||
         pack.payload.content != core::PackContent::kValues ||
         member.count == scenario.workload.gradients[member.variable].elements;
}

std::string start_rule(const Scenario& scenario, const Pack& pack) {
  if (scenario.plan.graph) return "when the dependencies in the trace have ended";
  const char* of_entry = scenario.strategy.spec ? " of its entry" : "";
  if (pack.phase == core::PackPhase::kRead)
    return "when the step begins" +
           (pack.after >= 0 ? fmt::format(", after pack {}", pack.after) : "");
  if (pack.phase == core::PackPhase::kCheckpoint)
    return fmt::format("after every {} training steps", scenario.plan.checkpoint_every);
  if (pack.answers >= 0)
    return fmt::format("after pack {}, when its sum is available", pack.answers);
  std::string text = scenario.plan.passes_gate(pack) ? scenario.plan.gate->starts_when()
                     : pack.needs_all_gradients
                         ? fmt::format("when all gradients{} are ready", of_entry)
                         : "when ready";
  if (pack.copied_in.count() > 0) text += " and copied in";
  if (pack.converted_in.count() > 0) text += " and converted";
  if (scenario.plan.collective(pack).nccl && pack.divided_before.count() > 0)
    text += " and divided";
  if (pack.also_needs >= 0) text += ", and the next bucket has its first gradient";
  if (pack.after >= 0) text += fmt::format(", after pack {}", pack.after);
  return text;
}

std::string rank_name(const Collective& collective, Rank rank) {
  return collective.group.cluster().part_name(collective.group.device(rank));
}

/// Returns the collective whose schedule steps the user wants to see.
const Collective& chosen(const Scenario& scenario, const PlanOptions& options) {
  return options.exchange ? scenario.plan.collective(scenario.plan.exchanges[*options.exchange])
                          : scenario.plan.collective(scenario.plan.packs[options.pack]);
}

// --- text ---

/// Returns the names of the pack's gradients: "conv1.weight", or "fc.weight[0..100)" for a gradient
/// that several packs share.
std::vector<std::string> member_texts(const Scenario& scenario, const Pack& pack) {
  std::vector<std::string> names = core::names_of(scenario.workload, pack);
  for (std::size_t i = 0; i < pack.payload.members.size(); ++i) {
    const Member& member = pack.payload.members[i];
    if (!is_whole(scenario, pack, member))
      names[i] += fmt::format("[{}..{})", member.first, member.first + member.count);
  }
  return names;
}

/// Returns the names that fit into a line, followed by the number of names that do not fit.
std::string some_names(const Scenario& scenario, const Pack& pack) {
  std::string text;
  const std::vector<std::string> names = member_texts(scenario, pack);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && text.size() + names[i].size() > kNamesWidth)
      return text + fmt::format(", … {} more", names.size() - i);
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

std::string all_names(const Scenario& scenario, const Pack& pack) {
  std::string text;
  std::string line = "     ";
  const std::vector<std::string> names = member_texts(scenario, pack);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i] + (i + 1 < names.size() ? "," : "");
    if (line.size() + name.size() > kLineWidth) {
      text += line + '\n';
      line = "     ";
    }
    line += ' ' + name;
  }
  return text + line + '\n';
}

/// Returns a text that says how many ranks take part in a pack, such as "16 ranks". If workers are
/// asynchronous, the text also names the group, because groups do not wait for each other.
std::string taking_part(const Scenario& scenario, const Pack& pack) {
  const std::int32_t ranks = scenario.plan.collective(pack).schedule->ranks();
  if (core::reduction_scope(scenario.strategy, scenario.plan) !=
      core::ReductionScope::kAsyncServers)
    return fmt::format("{} ranks", ranks);
  return fmt::format("the {} replicas of each worker, separately for {} workers",
                     scenario.plan.collective(pack).contributors,
                     scenario.plan.partition->groups());
}

/// If the strategy has several algorithms, describes the algorithm of a pack, such as "pscpu, 2
/// shards".
std::string way_of(const Scenario& scenario, const Pack& pack) {
  const core::Strategy strategy = strategy_of(scenario.strategy, pack);
  const std::string& name = scenario.strategy.spec->entries[pack.entry].name;
  return strategy.shards == 1 ? name : fmt::format("{}, {} shards", name, strategy.shards);
}

/// Returns the name of the collective's root, such as "w4/cpu0": the rank that holds a variable, or
/// that sums the gradients. If workers are asynchronous, returns the root of the first worker's
/// collective.
std::string root_name(const Collective& collective) {
  return rank_name(collective, collective.root);
}

/// Returns NCCL's choice, and the time without other traffic, such as "Ring LL128, 24 channels ×
/// 640 threads, 312 us".
std::string by_nccl(const Collective& collective) {
  std::string text = core::describe_nccl(collective);
  std::string took;
  for (const auto& time : core::nccl_times(collective))
    took += fmt::format("{}{}", took.empty() ? ", " : " and ", show(time->whole()));
  const std::string capped = core::capped_at(collective);
  return text + took + (capped.empty() ? "" : ", capped at " + capped);
}

/// Prints a line per pack. Values that all packs have in common are printed once, above the table.
std::string packs_table(const Scenario& scenario) {
  struct Column {
    std::string heading;
    std::function<std::string(const Pack&)> cell;
  };
  std::vector<Column> columns{
      {"<type",
       [&](const Pack& p) { return std::string(to_string(scenario.plan.collective(p).type)); }},
      {"<participants", [&](const Pack& p) { return taking_part(scenario, p); }},
      {"<starts", [&](const Pack& p) { return start_rule(scenario, p); }},
  };
  if (scenario.strategy.spec)
    columns.insert(columns.begin(),
                   {"<algorithm", [&](const Pack& p) { return way_of(scenario, p); }});
  if (std::any_of(scenario.plan.packs.begin(), scenario.plan.packs.end(),
                  [&](const Pack& p) { return !by_nccl(scenario.plan.collective(p)).empty(); }))
    columns.push_back(
        {"<by NCCL", [&](const Pack& p) { return by_nccl(scenario.plan.collective(p)); }});
  if (core::on_servers(core::reduction_scope(scenario.strategy, scenario.plan)))
    columns.insert(columns.begin(), {"<server", [&](const Pack& p) {
                                       return root_name(scenario.plan.collective(p));
                                     }});
  const std::vector<Pack>& packs = scenario.plan.packs;
  std::vector<const Column*> differing;
  std::vector<std::string> common;
  for (const Column& column : columns) {
    const std::string first = column.cell(packs.front());
    if (std::all_of(packs.begin(), packs.end(),
                    [&](const Pack& p) { return column.cell(p) == first; }))
      common.push_back(column.heading == "<starts" ? "starts " + first : first);
    else
      differing.push_back(&column);
  }
  std::vector<std::string> headings{"pack", "bytes", "gradients"};
  for (const Column* column : differing) headings.push_back(column->heading);
  headings.emplace_back("<names");
  Table table(std::move(headings));
  for (std::size_t p = 0; p < packs.size(); ++p) {
    std::vector<std::string> row{std::to_string(p),
                                 show(scenario.plan.collective(packs[p]).bytes()),
                                 std::to_string(packs[p].payload.members.size())};
    for (const Column* column : differing) row.push_back(column->cell(packs[p]));
    row.push_back(some_names(scenario, packs[p]));
    table.row(std::move(row));
  }
  return fmt::format("each pack: {}\n\n{}", fmt::join(common, ", "), table.text(2));
}

std::vector<std::string> notes_of(const Scenario& scenario) {
  std::vector<std::string> notes = scenario.plan.notes.texts();
  for (std::string& note : core::nccl_notes(scenario)) notes.push_back(std::move(note));
  return notes;
}

std::string packs_with_all_names(const Scenario& scenario) {
  std::string text = "\n";
  for (std::size_t p = 0; p < scenario.plan.packs.size(); ++p) {
    const Pack& pack = scenario.plan.packs[p];
    const std::string nccl = by_nccl(scenario.plan.collective(pack));
    text += fmt::format("pack {}: {} of {}, {} gradient{}, {}{}{}, starts {}\n", p,
                        show(scenario.plan.collective(pack).bytes()),
                        to_string(scenario.plan.collective(pack).type), pack.payload.members.size(),
                        pack.payload.members.size() == 1 ? "" : "s",
                        scenario.strategy.spec ? way_of(scenario, pack) + ", " : "",
                        nccl.empty() ? "" : nccl + ", ", taking_part(scenario, pack),
                        start_rule(scenario, pack));
    text += all_names(scenario, pack);
  }
  return text;
}

std::string plan_text(const Scenario& scenario, bool every_name) {
  const std::size_t packs = scenario.plan.packs.size();
  const std::size_t gradients = scenario.workload.gradients.size();
  if (const auto& graph = scenario.plan.graph) {
    std::string trace = fmt::format(
        "{}: {} tasks, {} messages and {} collectives of a trace ({}), over {}\n", scenario.name,
        graph->tasks(), graph->sends(), packs, graph->source, core::describe(*scenario.cluster));
    if (packs > 0)
      trace += fmt::format("strategy: {}\n", core::describe(scenario.strategy)) +
               (every_name ? packs_with_all_names(scenario) : packs_table(scenario));
    for (const std::string& note : notes_of(scenario)) trace += "\nnote: " + note + "\n";
    return trace;
  }
  std::string text =
      fmt::format("{}: {} pack{} of {} gradient{}, {}, over {}\n", scenario.name, packs,
                  packs == 1 ? "" : "s", gradients, gradients == 1 ? "" : "s",
                  show(scenario.workload.bytes()), core::describe(*scenario.cluster));
  text += fmt::format("strategy: {}\n", core::describe(scenario.strategy));
  text += every_name ? packs_with_all_names(scenario) : packs_table(scenario);
  const std::vector<std::string> notes = notes_of(scenario);
  for (const std::string& note : notes) text += "\nnote: " + note;
  if (!notes.empty()) text += '\n';
  return text;
}

// --- JSON ---

Report member_report(const Scenario& scenario, const Member& member) {
  return {{"name", name_of(scenario, member)},
          {"first_element", member.first},
          {"elements", member.count},
          {"offset_in_pack", member.offset}};
}

Report nccl_report(const core::nccl::CollectiveTime& nccl) {
  Report report{{"version", to_string(nccl.version)}};
  if (const auto& choice = nccl.choice)
    report.add("algorithm", to_string(choice->algorithm))
        .add("protocol", to_string(choice->protocol))
        .add("threads", choice->threads);
  report.add({{"channels", nccl.channels},
              {"time_us", nccl.whole()},
              {"capped_at_bound", core::unless_empty(nccl.time.capped_at)},
              {"error_band", band_report(nccl.band.low, nccl.band.high)}});
  return report;
}

Report lane_report(const Schedule& schedule, Rank rank, Lane lane) {
  Report report{{"lane", lane}, {"engine", to_string(schedule.engine(rank, lane))}};
  if (schedule.credits(rank, lane) != core::kUnlimitedCredits)
    report.add("slots", schedule.credits(rank, lane));
  std::vector<std::string> steps;
  for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i)
    steps.push_back(core::to_string(schedule.step(rank, lane, i), rank, schedule.ranks()));
  return report.add("steps", steps);
}

std::vector<Report> schedule_reports(const Collective& collective) {
  const Schedule& schedule = *collective.schedule;
  std::vector<Report> ranks;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    std::vector<Report> lanes;
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane)
      lanes.push_back(lane_report(schedule, rank, lane));
    if (lanes.empty()) continue;
    ranks.push_back({{"rank", rank},
                     {"device", rank_name(collective, rank)},
                     {"scratch_elements", schedule.scratch(rank)},
                     {"lanes", lanes}});
  }
  return ranks;
}

Report planned_pack(const Scenario& scenario, const Pack& pack, std::int32_t number) {
  const Collective& collective = scenario.plan.collective(pack);
  Report report{{"pack", number}};
  if (scenario.strategy.spec) {
    const core::Strategy strategy = strategy_of(scenario.strategy, pack);
    report.add("entry", pack.entry)
        .add("algorithm", to_string(strategy.algorithm))
        .add("shards", strategy.shards);
  }
  report.add({{"bytes", collective.bytes()},
              {"elements", collective.elements},
              {"type", to_string(collective.type)},
              {"ranks", collective.schedule->ranks()}});
  if (scenario.strategy.servers) report.add("lies_on", root_name(collective));
  report.add("starts", start_rule(scenario, pack));
  if (collective.nccl) report.add("nccl", nccl_report(*collective.nccl));
  if (const core::CollectiveParts* const parts = core::timed_parts(collective)) {
    std::vector<Report> inside;
    for (const core::CollectivePart& part : parts->all) {
      if (!part.inside_workers) continue;
      inside.push_back({{"collective", to_string(part.collective.kind)}});
      inside.back().add(nccl_report(*part.collective.nccl));
    }
    report.add("nccl_inside_workers", inside);
  }
  if (pack.after >= 0) report.add("after_pack", pack.after);
  if (pack.payload.instance_key > 0) report.add("instance_key", pack.payload.instance_key);
  report.add("copied_in_bytes", pack.copied_in).add("copied_out_bytes", pack.copied_out);
  if (scenario.plan.compression)
    report.add("converted_in_bytes", pack.converted_in)
        .add("converted_out_bytes", pack.converted_out);
  return report.add("gradients", core::list_of(pack.payload.members, [&](const Member& member) {
                      return member_report(scenario, member);
                    }));
}

std::string plan_json(const Scenario& scenario, const PlanOptions& options) {
  Report report{{"scenario", scenario.name},
                {"cluster", core::describe(*scenario.cluster)},
                {"workload", scenario.workload.name}};
  if (scenario.strategy.spec) {
    report.add("all_reduce_spec", to_text(*scenario.strategy.spec));
  } else {
    report.add("algorithm", to_string(scenario.strategy.algorithm))
        .add("shards", scenario.strategy.shards);
  }
  report.add("gradient_bytes", scenario.workload.bytes());
  std::vector<Report> packs;
  for (const Pack& pack : scenario.plan.packs) {
    const auto number = static_cast<std::int32_t>(packs.size());
    packs.push_back(planned_pack(scenario, pack, number));
    if (options.schedule && !options.exchange && number == options.pack)
      packs.back().add("schedule",
                       schedule_reports(shown_steps(scenario.plan.collective(pack)).collective));
  }
  report.add("packs", packs);
  if (options.schedule && options.exchange)
    report.add("exchange_schedule",
               schedule_reports(shown_steps(chosen(scenario, options)).collective));
  return result_json(report.add("notes", notes_of(scenario)));
}

/// Checks the options. ERRORS: two options contradict each other.
Expected<void> check_graph_options(const PlanOptions& options) {
  if (options.graph.empty()) {
    if (!options.simulate)
      return refused({core::ProblemCode::kUnused, "--no-simulation"},
                     "--no-simulation selects the times that --graph shows; give --graph FILE");
    return {};
  }
  if (auto known = check_graph(options.graph); !known) return known;
  if (options.schedule || options.exchange)
    return refused({core::ProblemCode::kConflict, "--graph"},
                   "--graph draws a training step, and --schedule prints the steps of one "
                   "collective; remove one of the two options");
  if (options.format == "json")
    return refused({core::ProblemCode::kConflict, "--graph"},
                   "--graph draws a picture, and --format json prints the plan; remove one of the "
                   "two options");
  return {};
}

}  // namespace

int plan(const PlanOptions& options, const Environment& environment) {
  if (options.format != "text" && options.format != "json") {
    return refuse({core::ProblemCode::kUnknownName, "--format"},
                  "--format {}: expected one of text, json", options.format);
  }
  if (auto fits = check_graph_options(options); !fits) return report(fits.error());
  const auto scenario = load_scenario(options.scenario, environment);
  if (!scenario) return report(scenario.error());
  const auto packs = static_cast<std::int32_t>(scenario->plan.packs.size());
  const auto exchanges = static_cast<std::int32_t>(scenario->plan.exchanges.size());
  if (options.exchange && (*options.exchange < 0 || *options.exchange >= exchanges))
    return report(Error::request(
        out_of_range("--exchange", *options.exchange, exchanges - 1),
        exchanges == 0
            ? fmt::format("--exchange {}: the scenario has no exchanges", *options.exchange)
            : fmt::format("--exchange {}: expected a number from 0 to {}", *options.exchange,
                          exchanges - 1)));
  if (options.exchange && !options.schedule)
    return refuse({core::ProblemCode::kUnused, "--exchange"},
                  "--exchange selects the exchange whose steps --schedule prints; add --schedule");
  // If a trace has only messages and no packs, only its graph and its proof can be shown.
  if (packs == 0 && (options.pack != 0 || (options.schedule && !options.exchange)))
    return refuse(out_of_range("--pack", options.pack, -1),
                  "--pack {}: this scenario has no packs; leave out --pack and --schedule",
                  options.pack);
  if (packs > 0 && (options.pack < 0 || options.pack >= packs))
    return refuse(out_of_range("--pack", options.pack, packs - 1),
                  "--pack {}: expected a number from 0 to {}", options.pack, packs - 1);
  std::optional<ShownSteps> steps_shown;
  if (options.schedule) steps_shown = shown_steps(chosen(*scenario, options));
  const std::string shown = options.exchange ? fmt::format("exchange {}", *options.exchange)
                                             : fmt::format("pack {}", options.pack);
  if (options.schedule) {
    const Collective& collective = steps_shown->collective;
    const std::int64_t steps = steps_of(*collective.schedule);
    if (steps > kMaxPrintedSteps) {
      return refuse({core::ProblemCode::kTooLarge, "--schedule"},
                    "--schedule: {} has {} steps on {} ranks, more than the limit of {}; "
                    "use fewer workers or channels",
                    shown, steps, collective.schedule->ranks(), kMaxPrintedSteps);
    }
  }
  std::string checked;
  if (options.check) {
    auto proof = prove_schedules(*scenario);
    if (!proof) return report(proof.error());
    auto graphs = check_task_graphs(*scenario);
    if (!graphs) return report(graphs.error());
    checked = std::move(*proof) + *graphs;
  }
  if (!options.graph.empty()) {
    sim::Simulator simulator;
    auto drawn = write_graph(*scenario, options.simulate ? &simulator : nullptr, options.graph);
    if (!drawn) return report(drawn.error());
    return print_out(*drawn + checked);
  }
  if (options.format == "json") return print_out(plan_json(*scenario, options));
  std::string text = plan_text(*scenario, options.variables);
  if (options.schedule) {
    const Collective& collective = steps_shown->collective;
    const std::string& why = steps_shown->why_not_nccls;
    text += fmt::format("\nsteps of {} ({} elements{}):\n", shown, collective.elements,
                        why.empty() ? "" : fmt::format("; not NCCL's own schedule: {}", why));
    text +=
        core::print(*collective.schedule, [&](Rank rank) { return rank_name(collective, rank); });
  }
  if (options.check) text += "\n" + checked;
  return print_report(text);
}

}  // namespace tutti::tools
