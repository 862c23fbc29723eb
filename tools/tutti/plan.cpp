#include "tools/tutti/plan.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "core/lowering/who_reduces.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"
#include "core/scenario/run_info.h"
#include "core/scenario/scenario.h"
#include "core/schedule/print.h"
#include "core/strategy/collective_parts.h"
#include "sim/simulator.h"
#include "tools/tutti/json.h"
#include "tools/tutti/plan_graph.h"
#include "tools/tutti/plan_proofs.h"
#include "tools/tutti/table.h"

namespace tutti::tools {
namespace {

using core::Collective;
using core::Error;
using core::Expected;
using core::Lane;
using core::Member;
using core::Pack;
using core::Rank;
using core::Scenario;
using core::Schedule;
using core::show;

/// Nobody reads more steps than this.
constexpr std::int64_t kMostPrintedSteps = 20'000;
/// Characters of a pack's names in the table, and of a line that names them all.
constexpr std::size_t kNamesWidth = 70;
constexpr std::size_t kLineWidth = 110;
std::string name_of(const Scenario& scenario, const Member& member) {
  return scenario.workload.gradients[static_cast<std::size_t>(member.variable)].name;
}

bool is_whole(const Scenario& scenario, const Pack& pack, const Member& member) {
  return scenario.plan.collective(pack).kind == core::CollectiveKind::kAllGather ||
         pack.payload.content != core::PackContent::kValues ||
         member.count == scenario.workload.gradients[static_cast<std::size_t>(member.variable)].elements;
}

std::string start_rule(const Scenario& scenario, const Pack& pack) {
  const char* of_entry = scenario.strategy.spec ? " of its entry" : "";
  if (pack.phase == core::PackPhase::kRead)
    return "when the step begins" + (pack.after >= 0 ? fmt::format(", after pack {}", pack.after) : "");
  if (pack.phase == core::PackPhase::kCheckpoint)
    return fmt::format("when the step is over, every {} steps", scenario.plan.checkpoint_every);
  if (pack.answers >= 0) return fmt::format("after pack {}, when its sum is there", pack.answers);
  std::string text = scenario.plan.passes_gate(pack) ? scenario.plan.gate->starts_when()
                     : pack.needs_all_gradients      ? fmt::format("when all gradients{} are ready", of_entry)
                                                     : "when ready";
  if (pack.also_needs >= 0) text += ", when the next bucket has its first gradient";
  if (pack.copied_in.count() > 0) text += " and copied in";
  if (pack.converted_in.count() > 0) text += " and converted";
  if (pack.after >= 0) text += fmt::format(", after pack {}", pack.after);
  return text;
}

std::string rank_name(const Collective& collective, Rank rank) {
  return collective.group.cluster().part_name(collective.group.device(rank));
}

/// The collective whose steps are asked for.
const Collective& chosen(const Scenario& scenario, const PlanOptions& options) {
  return options.exchange
             ? scenario.plan.collective(scenario.plan.exchanges[static_cast<std::size_t>(*options.exchange)])
             : scenario.plan.collective(scenario.plan.packs[static_cast<std::size_t>(options.pack)]);
}

// --- text ---

/// "conv1.weight", or "fc.weight[0..100)" of a gradient that several packs share.
std::vector<std::string> member_texts(const Scenario& scenario, const Pack& pack) {
  std::vector<std::string> names = core::names_of(scenario.workload, pack);
  for (std::size_t i = 0; i < pack.payload.members.size(); ++i) {
    const Member& member = pack.payload.members[i];
    if (!is_whole(scenario, pack, member))
      names[i] += fmt::format("[{}..{})", member.first, member.first + member.count);
  }
  return names;
}

/// As many names as a line holds, and how many are left.
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

/// "16 ranks"; of groups that do not wait for each other, whose own these are.
std::string taking_part(const Scenario& scenario, const Pack& pack) {
  const std::int32_t ranks = scenario.plan.collective(pack).schedule->ranks();
  if (core::who_reduces(scenario.strategy, scenario.plan) != core::WhoReduces::kServersAtOwnPace)
    return fmt::format("{} ranks", ranks);
  return fmt::format("the {} replicas of a worker, separately in each of {} workers",
                     scenario.plan.collective(pack).contributors, scenario.plan.partition->groups());
}

/// "pscpu, 2 shards": how a pack of a strategy with several algorithms travels.
std::string way_of(const Scenario& scenario, const Pack& pack) {
  const core::Strategy strategy = strategy_of(scenario.strategy, pack);
  const std::string& name = scenario.strategy.spec->entries[static_cast<std::size_t>(pack.entry)].name;
  return strategy.shards == 1 ? name : fmt::format("{}, {} shards", name, strategy.shards);
}

/// "w4/cpu0": where a variable lies, or where its gradients are added up. Of workers that do not wait: for the first of them.
std::string where_it_lies(const Collective& collective) { return rank_name(collective, collective.root); }

/// "Ring LL128, 24 channels × 640 threads, 312 us": its choice, and what that takes alone.
std::string by_nccl(const Collective& collective) {
  std::string text = core::describe_nccl(collective);
  std::string took;
  for (const auto& time : core::nccl_times(collective))
    took += fmt::format("{}{}", took.empty() ? ", " : " and ", show(time->whole()));
  const std::string capped = core::capped_at(collective);
  return text + took + (capped.empty() ? "" : ", capped at " + capped);
}

/// A line per pack. What is the same for all of them is told once, above.
std::string packs_table(const Scenario& scenario) {
  struct Column {
    std::string heading;
    std::function<std::string(const Pack&)> cell;
  };
  std::vector<Column> columns{
      {"<type", [&](const Pack& p) { return std::string(to_string(scenario.plan.collective(p).type)); }},
      {"<participants", [&](const Pack& p) { return taking_part(scenario, p); }},
      {"<starts", [&](const Pack& p) { return start_rule(scenario, p); }},
  };
  if (scenario.strategy.spec)
    columns.insert(columns.begin(), {"<algorithm", [&](const Pack& p) { return way_of(scenario, p); }});
  if (std::any_of(scenario.plan.packs.begin(), scenario.plan.packs.end(),
                  [&](const Pack& p) { return !by_nccl(scenario.plan.collective(p)).empty(); }))
    columns.push_back({"<by NCCL", [&](const Pack& p) { return by_nccl(scenario.plan.collective(p)); }});
  if (core::on_servers(core::who_reduces(scenario.strategy, scenario.plan)))
    columns.insert(columns.begin(),
                   {"<server", [&](const Pack& p) { return where_it_lies(scenario.plan.collective(p)); }});
  const std::vector<Pack>& packs = scenario.plan.packs;
  std::vector<const Column*> differing;
  std::vector<std::string> common;
  for (const Column& column : columns) {
    const std::string first = column.cell(packs.front());
    if (std::all_of(packs.begin(), packs.end(), [&](const Pack& p) { return column.cell(p) == first; }))
      common.push_back(column.heading == "<starts" ? "starts " + first : first);
    else
      differing.push_back(&column);
  }
  std::vector<std::string> headings{"pack", "bytes", "gradients"};
  for (const Column* column : differing) headings.push_back(column->heading);
  headings.emplace_back("<names");
  Table table(std::move(headings));
  for (std::size_t p = 0; p < packs.size(); ++p) {
    std::vector<std::string> row{std::to_string(p), show(scenario.plan.collective(packs[p]).bytes()),
                                 std::to_string(packs[p].payload.members.size())};
    for (const Column* column : differing) row.push_back(column->cell(packs[p]));
    row.push_back(some_names(scenario, packs[p]));
    table.row(std::move(row));
  }
  return fmt::format("each pack: {}\n\n{}", fmt::join(common, ", "), table.text(2));
}

std::vector<std::string> notes_of(const Scenario& scenario) {
  std::vector<std::string> notes = scenario.plan.notes;
  for (std::string& note : core::nccl_notes(scenario)) notes.push_back(std::move(note));
  return notes;
}

std::string packs_with_all_names(const Scenario& scenario) {
  std::string text = "\n";
  for (std::size_t p = 0; p < scenario.plan.packs.size(); ++p) {
    const Pack& pack = scenario.plan.packs[p];
    const std::string nccl = by_nccl(scenario.plan.collective(pack));
    text += fmt::format("pack {}: {} of {}, {} gradient{}, {}{}{}, starts {}\n", p,
                        show(scenario.plan.collective(pack).bytes()), to_string(scenario.plan.collective(pack).type),
                        pack.payload.members.size(), pack.payload.members.size() == 1 ? "" : "s",
                        scenario.strategy.spec ? way_of(scenario, pack) + ", " : "", nccl.empty() ? "" : nccl + ", ",
                        taking_part(scenario, pack), start_rule(scenario, pack));
    text += all_names(scenario, pack);
  }
  return text;
}

std::string plan_text(const Scenario& scenario, bool every_name) {
  const std::size_t packs = scenario.plan.packs.size();
  const std::size_t gradients = scenario.workload.gradients.size();
  std::string text = fmt::format("{}: {} pack{} of {} gradient{}, {}, over {}\n", scenario.name, packs,
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

void write_member(Json& json, const Scenario& scenario, const Member& member) {
  json.object([&] {
    json.field("name", std::string_view(name_of(scenario, member)));
    json.field("first_element", member.first);
    json.field("elements", member.count);
    json.field("offset_in_pack", member.offset);
  });
}

/// `kind`: of a part inside workers.
void write_nccl(Json& json, const core::nccl::CollectiveTime& nccl, std::optional<core::CollectiveKind> kind) {
  json.object([&] {
    if (kind) json.field("collective", to_string(*kind));
    json.field("version", std::string_view(to_string(nccl.version)));
    if (const auto& choice = nccl.choice) {
      json.field("algorithm", to_string(choice->algorithm));
      json.field("protocol", to_string(choice->protocol));
      json.field("threads", choice->threads);
    }
    json.field("channels", nccl.channels);
    json.field("time_us", nccl.whole());
    if (!nccl.time.capped_at.empty()) json.field("capped_at_bound", std::string_view(nccl.time.capped_at));
    json.key("error_band").object([&] {
      json.field("low", nccl.band.low);
      json.field("high", nccl.band.high);
    });
  });
}

void write_schedule(Json& json, const Collective& collective) {
  const Schedule& schedule = *collective.schedule;
  std::vector<Rank> ranks;
  for (Rank r = 0; r < schedule.ranks(); ++r) {
    if (schedule.lanes(r) > 0) ranks.push_back(r);
  }
  json.array(ranks, [&](Rank rank) {
    json.object([&] {
      json.field("rank", rank);
      json.field("device", std::string_view(rank_name(collective, rank)));
      json.field("scratch_elements", schedule.scratch(rank));
      std::vector<Lane> lanes;
      for (Lane l = 0; l < schedule.lanes(rank); ++l) lanes.push_back(l);
      json.key("lanes").array(lanes, [&](Lane lane) {
        json.object([&] {
          json.field("lane", lane);
          json.field("engine", to_string(schedule.engine(rank, lane)));
          if (schedule.credits(rank, lane) != core::kUnlimitedCredits)
            json.field("slots", schedule.credits(rank, lane));
          std::vector<std::int64_t> indices;
          for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) indices.push_back(i);
          json.key("steps").array(indices, [&](std::int64_t i) {
            json.value(std::string_view(core::to_string(schedule.step(rank, lane, i), rank, schedule.ranks())));
          });
        });
      });
    });
  });
}

std::string plan_json(const Scenario& scenario, const PlanOptions& options) {
  Json json;
  json.object([&] {
    json.field("scenario", std::string_view(scenario.name));
    json.field("cluster", std::string_view(core::describe(*scenario.cluster)));
    json.field("workload", std::string_view(scenario.workload.name));
    if (scenario.strategy.spec) {
      json.field("all_reduce_spec", std::string_view(to_text(*scenario.strategy.spec)));
    } else {
      json.field("algorithm", to_string(scenario.strategy.algorithm));
      json.field("shards", scenario.strategy.shards);
    }
    json.field("gradient_bytes", scenario.workload.bytes());
    std::int32_t number = 0;
    json.key("packs").array(scenario.plan.packs, [&](const Pack& pack) {
      json.object([&] {
        json.field("pack", number);
        if (scenario.strategy.spec) {
          const core::Strategy strategy = strategy_of(scenario.strategy, pack);
          json.field("entry", pack.entry);
          json.field("algorithm", to_string(strategy.algorithm));
          json.field("shards", strategy.shards);
        }
        json.field("bytes", scenario.plan.collective(pack).bytes());
        json.field("elements", scenario.plan.collective(pack).elements);
        json.field("type", to_string(scenario.plan.collective(pack).type));
        json.field("ranks", scenario.plan.collective(pack).schedule->ranks());
        if (scenario.strategy.servers)
          json.field("lies_on", std::string_view(where_it_lies(scenario.plan.collective(pack))));
        json.field("starts", std::string_view(start_rule(scenario, pack)));
        if (const auto& nccl = scenario.plan.collective(pack).nccl) {
          json.key("nccl");
          write_nccl(json, *nccl, std::nullopt);
        }
        if (const core::CollectiveParts* const parts = core::timed_parts(scenario.plan.collective(pack))) {
          std::vector<const Collective*> inside;
          for (const core::CollectivePart& part : parts->all) {
            if (part.inside_workers) inside.push_back(&part.collective);
          }
          json.key("nccl_inside_workers").array(inside, [&](const Collective* part) {
            write_nccl(json, *part->nccl, part->kind);
          });
        }
        if (pack.after >= 0) json.field("after_pack", pack.after);
        if (pack.payload.instance_key > 0) json.field("instance_key", pack.payload.instance_key);
        json.field("copied_in_bytes", pack.copied_in);
        json.field("copied_out_bytes", pack.copied_out);
        if (scenario.plan.compression) {
          json.field("converted_in_bytes", pack.converted_in);
          json.field("converted_out_bytes", pack.converted_out);
        }
        json.key("gradients").array(pack.payload.members, [&](const Member& member) {
          write_member(json, scenario, member);
        });
        if (options.schedule && !options.exchange && number == options.pack) {
          json.key("schedule");
          write_schedule(json, shown_steps(scenario.plan.collective(pack)).collective);
        }
      });
      ++number;
    });
    if (options.schedule && options.exchange) {
      json.key("exchange_schedule");
      write_schedule(json, shown_steps(chosen(scenario, options)).collective);
    }
    json.key("notes").array(notes_of(scenario), [&](const std::string& note) { json.value(std::string_view(note)); });
  });
  return json.text();
}

/// ERRORS: options that say two things at once.
Expected<void> check_graph_options(const PlanOptions& options) {
  const auto refuse = [](core::ProblemCode code, const char* option, const char* text) {
    return tl::make_unexpected(Error::request({code, option}, text));
  };
  if (options.graph.empty()) {
    if (!options.simulate)
      return refuse(core::ProblemCode::kUnused, "--no-simulation",
                    "--no-simulation says where the times of --graph come from; name its FILE");
    return {};
  }
  if (auto known = check_graph(options.graph); !known) return known;
  if (options.schedule || options.exchange)
    return refuse(core::ProblemCode::kConflict, "--graph",
                  "--graph draws a training step, --schedule prints the steps of one collective; give one of them");
  if (options.format == "json")
    return refuse(core::ProblemCode::kConflict, "--graph",
                  "--graph draws a picture, --format json prints the plan; give one of them");
  return {};
}

}  // namespace

int plan(const PlanOptions& options, const Environment& environment) {
  if (options.format != "text" && options.format != "json") {
    return report(Error::request({core::ProblemCode::kUnknownName, "--format"},
                                 fmt::format("--format {}: expected one of text, json", options.format)));
  }
  if (auto fits = check_graph_options(options); !fits) return report(fits.error());
  const auto scenario = load_scenario(options.scenario, environment);
  if (!scenario) return report(scenario.error());
  const auto packs = static_cast<std::int32_t>(scenario->plan.packs.size());
  const auto exchanges = static_cast<std::int32_t>(scenario->plan.exchanges.size());
  if (options.exchange && (*options.exchange < 0 || *options.exchange >= exchanges))
    return report(Error::request(
        out_of_range("--exchange", *options.exchange, exchanges - 1),
        exchanges == 0 ? fmt::format("--exchange {}: the scenario has no exchanges", *options.exchange)
                       : fmt::format("--exchange {}: the exchanges are 0 to {}", *options.exchange, exchanges - 1)));
  if (options.exchange && !options.schedule && !options.check)
    return report(Error::request({core::ProblemCode::kUnused, "--exchange"},
                                 "--exchange selects the exchange for --schedule or --check; add one of them"));
  if (options.pack < 0 || options.pack >= packs)
    return report(Error::request(out_of_range("--pack", options.pack, packs - 1),
                                 fmt::format("--pack {}: the packs are 0 to {}", options.pack, packs - 1)));
  const ShownSteps steps_shown = shown_steps(chosen(*scenario, options));
  const Collective& collective = steps_shown.collective;
  const std::string shown =
      options.exchange ? fmt::format("exchange {}", *options.exchange) : fmt::format("pack {}", options.pack);
  if (options.schedule) {
    const std::int64_t steps = steps_of(*collective.schedule);
    if (steps > kMostPrintedSteps) {
      return report(Error::request({core::ProblemCode::kTooLarge, "--schedule"},
                                   fmt::format("--schedule: {} has {} steps on {} ranks, more than the limit of {}; "
                                               "use fewer workers or channels",
                                               shown, steps, collective.schedule->ranks(), kMostPrintedSteps)));
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
    const std::string& why = steps_shown.why_not_nccls;
    text += fmt::format("\nsteps of {} ({} elements{}):\n", shown, collective.elements,
                        why.empty() ? "" : fmt::format("; not NCCL's own schedule: {}", why));
    text += core::print(*collective.schedule, [&](Rank rank) { return rank_name(collective, rank); });
  }
  if (options.check) text += "\n" + checked;
  return print_out(text);
}

}  // namespace tutti::tools
