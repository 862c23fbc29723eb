// The text begins with the decision: step times, the recommendation and its reason. The decision
// has three cases: no comparable setting was found, the best setting is not recommended, or the
// best setting is recommended. The evidence follows: changes on the critical path, the range of
// values within 1 % of the best time, and the gain on clusters with faster or slower links.
// Settings whose advantage is doubtful are listed separately, each with the reason. The last
// sections have settings to paste, and commands that verify the prediction on the cluster. JSON has
// the same data under names that do not change. The file tuning.cpp has the search and all
// decisions. This file only writes reports.

#include "tools/tutti/explore/tune_report.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/explore/seed_groups.h"
#include "core/explore/shown_values.h"
#include "tools/tutti/command.h"
#include "tools/tutti/explore/sweep_output.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {

using core::Breakdown;
using core::list_of;
using core::Outcome;
using core::Report;
using core::show;
using core::show_share;
using core::shown_value;
using core::Time;

namespace {

/// Two costs on a curve that differ by less than this fraction are reported as equal.
constexpr double kFlat = 0.01;

/// Returns the time that packs take on the critical path of the last step, as one time for each
/// cause.
std::vector<std::pair<std::string, Time>> path_parts(const core::Summary& summary) {
  Breakdown parts;
  for (const core::PathPiece& piece : summary.path()) {
    if (piece.kind == core::SpanKind::kPackInFlight) parts += piece.parts;
  }
  return core::named_parts(parts);
}

/// Returns lines such as "critical path: 31.2 ms less in transfer over socket links", largest
/// change first.
std::vector<std::string> path_changes(const SimulatedScenario& now, const SimulatedScenario& best) {
  std::vector<std::pair<Time, std::string>> changes;
  const auto before = path_parts(now.summary), after = path_parts(best.summary);
  for (std::size_t i = 0; i < before.size(); ++i)
    changes.emplace_back(after[i].second - before[i].second, before[i].first);
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::abs(a.first.count()) > std::abs(b.first.count());
  });
  std::vector<std::string> lines;
  for (const auto& [change, name] : changes) {
    if (share(Time(std::abs(change.count())), now.outcome.step) < 0.002) break;
    lines.push_back(fmt::format("critical path: {} {} in {}", show(Time(std::abs(change.count()))),
                                change < Time() ? "less" : "more", name));
  }
  return lines;
}

std::vector<std::string> why(const TuneResult& r) {
  const Outcome& now = r.now.outcome;
  const Outcome& best = r.best->outcome;
  if (!r.algorithms.empty() && now == best)
    return {"the best settings that were found give the same times as the current settings"};
  std::vector<std::string> lines{
      fmt::format("exposed communication {} → {}", show(now.exposed), show(best.exposed)),
      fmt::format("packs {} → {}", now.packs, best.packs)};
  if (now.slowed != best.slowed)
    lines.push_back(fmt::format("computation slowed by communication {} → {}", show(now.slowed),
                                show(best.slowed)));
  if (now.other_compute != best.other_compute)
    lines.push_back(fmt::format("copies and updates {} → {}", show(now.other_compute),
                                show(best.other_compute)));
  for (std::string& line : path_changes(r.now, *r.best)) lines.push_back(std::move(line));
  return lines;
}

/// Returns a sentence about the simulated values whose costs differ from the best cost by at most
/// the fraction kFlat.
std::string flat_part(const AxisCurve& curve) {
  const Time least = curve.values[curve.best].second.step;
  const auto is_flat = [&](std::size_t i) {
    const Outcome& o = curve.values[i].second;
    return o.status == Outcome::Status::kDone && share(o.step - least, least) <= kFlat;
  };
  std::size_t from = curve.best, to = curve.best, flat = 0;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    if (!is_flat(i)) continue;
    from = std::min(from, i);
    to = std::max(to, i);
    ++flat;
  }
  if (flat == 1)
    return fmt::format("{}: no other simulated value is within {} of the best step time",
                       curve.field, show_share(kFlat));
  // The step time may be longer for some of the values between `from` and `to`.
  if (flat < to - from + 1)
    return fmt::format("{}: {} of {} simulated values are within {} of the best step time",
                       curve.field, flat, curve.values.size(), show_share(kFlat));
  return fmt::format("{}: every simulated value from {} to {} is within {} of the best step time",
                     curve.field, shown_value(curve.field, curve.values[from].first),
                     shown_value(curve.field, curve.values[to].first), show_share(kFlat));
}

/// Returns the number of seeds with which the best setting is faster than the current setting.
std::int64_t faster_seeds(const TuneResult& r) {
  std::int64_t faster = 0;
  for (std::size_t s = 0; s < r.best_by_seed.size(); ++s)
    faster += r.best_by_seed[s] < r.now_by_seed[s] ? 1 : 0;
  return faster;
}

/// The order statistics of step times over seeds: median, quartiles, minimum and maximum.
struct SeedStatistics {
  explicit SeedStatistics(std::vector<Time> times) {
    std::sort(times.begin(), times.end());
    for (int q = 0; q <= 4; ++q) quartiles[q] = core::quantile(times, q);
  }
  std::array<Time, 5> quartiles;  ///< minimum, lower quartile, median, upper quartile, maximum
};

/// Returns a table with the distribution of step times over the seeds.
std::string seed_part(const TuneResult& r) {
  if (r.now_by_seed.empty()) return "";
  Table table({"<settings", "median", "q1", "q3", "min", "max"});
  const auto row = [&](const char* name, const std::vector<Time>& times) {
    const auto q = SeedStatistics(times).quartiles;
    table.row({name, show(q[2]), show(q[1]), show(q[3]), show(q[0]), show(q[4])});
  };
  row("current", r.now_by_seed);
  if (!r.best_by_seed.empty()) row("best", r.best_by_seed);
  std::string text = fmt::format("step time over {} seeds\n", r.now_by_seed.size()) + table.text(2);
  if (!r.best_by_seed.empty())
    text += fmt::format("  the best settings are faster with {} of {} seeds\n", faster_seeds(r),
                        r.best_by_seed.size());
  return text + '\n';
}

std::string algorithm_part(const TuneResult& r) {
  if (r.algorithms.empty()) return "";
  Table table({"<algorithm", "best step time", "of the current"});
  for (const AlgorithmTime& one : r.algorithms)
    table.row({one.algorithm, (one.stopped ? "> " : "") + show(one.step),
               (one.stopped ? "> " : "") + show_share(share(one.step, r.now.outcome.step))});
  return "algorithms\n" + table.text(2) + '\n';
}

std::string curve_part(const TuneResult& r) {
  if (r.curves.empty()) return "";
  std::string text = "step time near the best settings\n";
  for (const AxisCurve& curve : r.curves) {
    text += "  " + flat_part(curve) + '\n';
    Table table({"<value", "step time", "exposed"});
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      const auto& [value, o] = curve.values[i];
      const bool done = o.status == Outcome::Status::kDone;
      table.row({shown_value(curve.field, value) + (i == curve.best ? "  ←" : ""),
                 done ? show(o.step) : "invalid", done ? show(o.exposed) : ""});
    }
    text += table.text(4);
  }
  return text + '\n';
}

std::string sensitivity_part(const TuneResult& r) {
  if (r.sensitivity.empty()) return "";
  Table table({"<with", "now", "best", "gain"});
  bool holds = true;
  for (const Sensitivity& s : r.sensitivity) {
    table.row({s.what, show(s.now), show(s.best),
               s.best <= s.now ? show_share(share(s.now - s.best, s.now)) : "worse"});
    holds = holds && s.best <= s.now;
  }
  return "sensitivity to the parameters of the cluster\n" + table.text(2) +
         (holds ? "  the best settings are no slower than the current settings in any of these "
                  "cases\n\n"
                : "  the best settings are slower than the current settings in some cases: "
                  "calibrate the "
                  "cluster first (tutti calibrate)\n\n");
}

/// Returns a name as one word for a shell command, in quotes if necessary.
std::string shell_word(const std::string& name) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=:,@%";
  if (!name.empty() && name.find_first_not_of(kPlain) == std::string::npos) return name;
  std::string word = "'";
  for (const char c : name) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string indented(const std::string& text) {
  std::string lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t to = text.find('\n', from);
    lines += "    " + text.substr(from, to - from) + '\n';
    from = to == std::string::npos ? text.size() : to + 1;
  }
  return lines;
}

/// Returns the variables that make NCCL load the plugin with a table.
std::string tuner_environment(const std::string& table) {
  // Use the absolute path, because ranks may start in other working directories.
  return fmt::format(
      "export NCCL_TUNER_PLUGIN=libnccl-tuner-tutti.so TUTTI_TUNER_TABLE={}{}  # TUTTI_TUNER_LOG=1 "
      "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING log each choice once",
      table.starts_with('/') ? "" : "\"$PWD\"/", shell_word(table));
}

/// Returns the commands that compare a run on the cluster with the predictions. NCCL 2.28 and later
/// releases contain the Inspector.
std::vector<std::string> verifying_commands(const TuneResult& r) {
  const std::string& file = r.now.summary.info().scenario_file;
  const std::string scenario = file.empty() ? "SCENARIO" : shell_word(file);
  std::string set;
  for (std::size_t f = 0; r.advice.change && f < r.fields.size(); ++f)
    set += " --set " + shell_word(fmt::format("{}={}", r.fields[f], r.values[f]));
  return {fmt::format("tutti tune {} --format json > tune.json  # store the predictions", scenario),
          "export NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1 "
          "NCCL_INSPECTOR_DUMP_DIR=DIR NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=1000000",
          "tutti compare --promise tune.json DIR  # compare each collective with its error band",
          fmt::format("tutti simulate {}{} --timeline predicted.tutti", scenario, set),
          "tutti import DIR/* -o real.tutti && tutti compare predicted.tutti real.tutti  # compare "
          "the whole step (needs NCCL_INSPECTOR_DUMP_VERBOSE=1)"};
}

std::string snippet_part(const TuneResult& r) {
  std::string paste, others;
  for (const PromisedSnippet& one : r.snippets) {
    const core::Snippet& snippet = one.snippet;
    // If no change is recommended, a snippet expresses the current settings, even if the framework
    // packs slightly differently.
    const Time now = r.now.outcome.step;
    const double longer = share(one.outcome.step - now, now);
    const bool expresses_current = !r.advice.change &&
                                   one.outcome.status == Outcome::Status::kDone &&
                                   longer <= core::kDifferenceError;
    if (!one.why_not.empty() && !expresses_current) {
      others += fmt::format("  {}: {}\n", snippet.framework, one.why_not);
      continue;
    }
    paste += fmt::format(
        "{}{}{}: step time {}{}\n", snippet.framework,
        snippet.as_simulated ? "" : ", nearest setting that this framework supports",
        snippet.remark.empty() ? "" : fmt::format(" ({})", snippet.remark), show(one.outcome.step),
        longer > 0 ? fmt::format(", {:.2g} % longer than with the current settings", 100 * longer)
                   : "");
    paste += indented(snippet.text);
  }
  if (!paste.empty())
    paste =
        (r.advice.change ? "settings to paste\n" : "settings to paste (the current settings)\n") +
        paste + '\n';
  if (!others.empty()) others = "not recommended\n" + others + '\n';
  if (r.snippets.empty() && r.recommended().scenario.strategy.custom)
    return "settings to paste\n"
           "  the recommended algorithm is defined in a file, and no framework has a setting for "
           "it; tutti export --to msccl or --to mscclpp writes the algorithm for the runtimes of "
           "MSCCL and MSCCL++\n\n";
  if (r.snippets.empty()) {
    paste =
        "settings to paste\n"
        "  no supported framework can apply these settings; to search only settings that "
        "frameworks support, use --over strategy.algorithm=ring,nccl\n"
        "\n";
  }
  return paste + others;
}

/// Returns instructions for two tasks: using the table, and comparing a run with the predictions.
std::string verify_part(const TuneResult& r) {
  std::string text;
  if (!r.table.empty())
    text += fmt::format("to use {}\n    {}\n\n", r.table, tuner_environment(r.table));
  if (r.promise.collectives.empty()) return text;
  text += "to verify on the cluster\n";
  for (const std::string& line : verifying_commands(r)) text += "    " + line + '\n';
  return text + '\n';
}

std::string settings(const TuneResult& r, const std::vector<std::string>& values,
                     const std::string& between) {
  std::string text;
  for (std::size_t f = 0; f < r.fields.size(); ++f)
    text += fmt::format("{}{} = {}", text.empty() ? "" : between, r.fields[f],
                        shown_value(r.fields[f], values[f]));
  return text;
}

/// Reports settings that are faster on the cluster of the scenario, but not on clusters with better
/// or worse links.
std::string lost_part(const TuneResult& r) {
  std::string text;
  for (const Lost& one : r.lost) {
    text += fmt::format(
        "    {}\n"
        "  step time {}; on a cluster with {}, these settings would take {} per step, and the "
        "current settings {}\n",
        settings(r, one.values, "\n    "), show(one.outcome.step), one.on.what, show(one.on.best),
        show(one.on.now));
  }
  return text.empty() ? text
                      : "not recommended, because these settings are slower than the current "
                        "settings if the real links are faster or slower than the scenario states "
                        "(tutti calibrate fits the scenario to measurements)\n" +
                            text + '\n';
}

/// Reports a setting whose simulated time is lower, and the reason why this time is not comparable
/// with the current time.
std::string incomparable_part(const TuneResult& r) {
  if (!r.incomparable) return "";
  const Time recommended = r.recommended().outcome.step;
  return fmt::format(
      "settings that cannot be distinguished from {1}\n"
      "    {0}\n"
      "  The predicted step time is {2} instead of {3}, but the two predictions cannot be "
      "compared: {4}.\n"
      "  Measure both settings on the cluster; tutti calibrate can then fit links to the runs.\n"
      "  tutti perf --against compares predictions of NCCL with logs of nccl-tests.\n\n",
      settings(r, r.incomparable->values, "\n    "),
      r.advice.change ? "the recommended settings" : "the current settings",
      show(r.incomparable->outcome.step), show(recommended), r.incomparable->why);
}

}  // namespace

std::string tune_text(const TuneResult& r) {
  const core::RunInfo& info = r.now.summary.info();
  std::string text = fmt::format("{} (Tutti {}, network model {}, seed {})\n", info.scenario,
                                 info.version, info.network_model, r.seed);
  text += fmt::format("  {}; {}\n  now: {}\n\n", info.cluster, info.workload, info.strategy);
  const Outcome& now = r.now.outcome;
  text += fmt::format(
      "simulated {} of {} settings{}{}{}{}; simulated {} more settings around the best settings\n",
      r.tried - r.left_out, r.in_all,
      r.now_by_seed.empty() ? "" : fmt::format(" with {} seeds each", r.now_by_seed.size()),
      r.left_out > 0
          ? fmt::format("; skipped {} settings that would take long to simulate", r.left_out)
          : "",
      r.refused > 0 ? fmt::format("; {} are invalid", r.refused) : "",
      r.stopped > 0 ? fmt::format("; stopped {} settings early, because they are clearly slower "
                                  "than the best settings",
                                  r.stopped)
                    : "",
      r.beside);
  if (r.not_comparable > 0)
    text += fmt::format("{} of these settings cannot be compared with the current settings\n",
                        r.not_comparable);
  if (!r.best) {
    text += '\n' + seed_part(r);
    text += r.is_advice() ? fmt::format("recommended: change nothing\n  {}\n\n", r.advice.why)
                          : r.advice.why + '\n';
    if (r.is_advice()) text += incomparable_part(r) + snippet_part(r) + verify_part(r);
    if (!r.is_advice() && !r.refusal.empty()) text += "  for example: " + r.refusal + '\n';
    return text + note_lines(r.notes);
  }
  const Outcome& best = r.best->outcome;
  const bool bounded = best.step_bound > Time();  // there is no bound if variables are on servers
  const bool slower = best.step > now.step;
  text += fmt::format(
      "{} now {}, best {}{} ({} {}); lower bound {}\n",
      r.now_by_seed.empty() ? "step time" : "median step time", show(now.step),
      slower ? "of all tried " : "", show(best.step),
      show_share(slower ? share(best.step - now.step, now.step) : std::max(0.0, r.advice.gain)),
      slower ? "more" : "less", bounded ? show(best.step_bound) : "not known");
  if (r.max_expected_improvement < 1)
    text += fmt::format("settings that were not tried are expected to gain at most {} more\n",
                        show_share(r.max_expected_improvement));
  text += '\n';
  text += r.advice.change ? "recommended: change\n    " + settings(r, r.values, "\n    ") + '\n'
                          : "recommended: change nothing\n";
  text += "  " + r.advice.why + "\n\n";
  if (!r.advice.change && r.advice.gain > 0)
    text += "best settings found\n    " + settings(r, r.values, "\n    ") + "\n\n";
  text += seed_part(r) + lost_part(r) + incomparable_part(r);
  text += "why\n";
  for (const std::string& line : why(r)) text += "  " + line + '\n';
  text += '\n' + algorithm_part(r) + curve_part(r) + sensitivity_part(r);
  return text + snippet_part(r) + verify_part(r) + note_lines(r.notes);
}

namespace {

Report sensitivity_report(const Sensitivity& s) {
  return {{"if", s.what}, {"now_step_time_us", s.now}, {"best_step_time_us", s.best}};
}

Report seeds_report(const std::vector<Time>& times) {
  const auto q = SeedStatistics(times).quartiles;
  return {{"median_us", q[2]},
          {"lower_quartile_us", q[1]},
          {"upper_quartile_us", q[3]},
          {"min_us", q[0]},
          {"max_us", q[4]},
          {"step_times_us", list_of(times, [](Time time) { return core::ReportValue(time); })}};
}

Report snippet_report(const PromisedSnippet& one) {
  const core::Snippet& snippet = one.snippet;
  Report report{{"framework", snippet.framework}, {"language", to_string(snippet.language)},
                {"text", snippet.text},           {"as_simulated", snippet.as_simulated},
                {"remark", snippet.remark},       {"recommended", one.why_not.empty()}};
  if (one.outcome.status == Outcome::Status::kDone) report.add("step_time_us", one.outcome.step);
  return report.add("why_not", core::unless_empty(one.why_not));
}

Report curve_report(const AxisCurve& curve) {
  return {{"field", curve.field},
          {"best", curve.best},
          {"values", list_of(curve.values, [](const auto& one) {
             return Report{{"value", one.first}, {"outcome", outcome_report(one.second)}};
           })}};
}

}  // namespace

std::string tune_json(const TuneResult& r) {
  const core::RunInfo& info = r.now.summary.info();
  Report report = scenario_report(info);
  report.add({{"network_model", info.network_model},
              {"seed", r.seed},
              {"settings_in_all", r.in_all},
              {"tried", r.tried - r.left_out},
              {"beside", r.beside},
              {"left_out", r.left_out},
              {"refused", r.refused},
              {"stopped_early", r.stopped},
              {"now", outcome_report(r.now.outcome)}});
  Report advice{{"change", r.advice.change}};
  if (r.best) advice.add("gain_share", r.advice.gain).add("least_gain_share", r.advice.min_gain);
  report.add("advice", advice.add("why", r.advice.why));
  report.add("refusal", core::unless_empty(r.refusal));
  report.add("not_comparable", r.not_comparable);
  report.add("recommended_step_time_us", r.recommended().outcome.step);
  report.add("not_recommended", list_of(r.lost, [&](const Lost& one) {
               return Report{{"settings", settings_report(r.fields, one.values)},
                             {"outcome", outcome_report(one.outcome)},
                             {"if", sensitivity_report(one.on)}};
             }));
  if (r.incomparable)
    report.add("cannot_tell",
               Report{{"settings", settings_report(r.fields, r.incomparable->values)},
                      {"outcome", outcome_report(r.incomparable->outcome)},
                      {"why", r.incomparable->why}});
  if (!r.now_by_seed.empty()) {
    Report over_seeds{{"seeds", r.now_by_seed.size()}, {"now", seeds_report(r.now_by_seed)}};
    if (!r.best_by_seed.empty())
      over_seeds.add("best", seeds_report(r.best_by_seed)).add("best_is_faster", faster_seeds(r));
    report.add("over_seeds", over_seeds);
  }
  report.add("snippets", list_of(r.snippets, snippet_report));
  if (!r.algorithms.empty())
    report.add("algorithms", list_of(r.algorithms, [](const AlgorithmTime& one) {
                 return Report{{"algorithm", one.algorithm},
                               {"step_time_us", one.step},
                               {"stopped_early", one.stopped}};
               }));
  if (r.best)
    report.add({{"best", outcome_report(r.best->outcome)},
                {"best_settings", settings_report(r.fields, r.values)},
                {"promised_share", r.max_expected_improvement},
                {"why", why(r)},
                {"curves", list_of(r.curves, curve_report)},
                {"sensitivity", list_of(r.sensitivity, sensitivity_report)}});
  if (!r.promise.collectives.empty()) report.add("promise", core::report_of(r.promise));
  if (!r.table.empty())
    report.add("nccl_tuner", Report{{"table", r.table},
                                    {"environment", tuner_environment(r.table)},
                                    {"verify", verifying_commands(r)}});
  return result_json(report.add("notes", r.notes));
}

}  // namespace tutti::tools
