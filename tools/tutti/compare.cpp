#include "tools/tutti/compare.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/compare.h"
#include "core/timeline/step_parts.h"
#include "tools/tutti/compare_promise.h"
#include "tools/tutti/import_trace.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Comparison;
using core::Pair;
using core::Report;
using core::show;
using core::Time;

std::string signed_time(Time t) {
  return (t < Time() ? "-" : "+") + show(t < Time() ? Time() - t : t);
}

std::string signed_share(const Pair& pair) {
  const auto share = pair.share();
  return share ? fmt::format("{:+.1f} %", 100 * *share) : "";
}

std::string who(const core::RunInfo& run) {
  return fmt::format("{} ({}), {}", run.scenario, run.executor, run.strategy);
}

Report compared_pair(const Pair& pair) {
  return {{"first_us", pair.a},
          {"second_us", pair.b},
          {"difference_us", pair.difference()},
          {"share", pair.share()}};
}

Report compared_pack(const core::PackComparison& p) {
  return {{"pack", p.pack, "pack"},          {"pack_in_second", p.pack_b},
          {"bytes", p.bytes, "bytes"},       {"ready", compared_pair(p.ready)},
          {"start", compared_pair(p.start)}, {"", p.start.a, "start 1"},
          {"", p.start.b, "start 2"},        {"end", compared_pair(p.end)},
          {"took", compared_pair(p.took)},   {"", p.took.a, "time 1"},
          {"", p.took.b, "time 2"},          {"", signed_time(p.took.difference()), "difference"},
          {"", signed_share(p.took), ">"},   {"", p.last_gradient, "<last gradient"}};
}

Report compared_kind(const core::KindComparison& k) {
  Report report{{"step", core::span_name(k.kind), "<schedule step",
                 core::span_name(k.kind) + (k.together ? "s, together" : "")}};
  if (k.together) report.add("together", true);
  report.add({{"number", k.steps, "count"},
              {"time", compared_pair(k.time)},
              {"", k.time.a, "first"},
              {"", k.time.b, "second"},
              {"", signed_time(k.time.difference()), "difference"},
              {"", signed_share(k.time), ">"},
              {"mean_error_us", k.mean_error, "mean |error|"}});
  return report;
}

std::string text_of(const Comparison& c, int rows) {
  std::string text = fmt::format("first   {}\nsecond  {}\n\n", who(c.a), who(c.b));
  Table parts({"<", "first", "second", "difference", ""});
  const auto row = [&parts](const std::string& name, const Pair& pair) {
    parts.row(
        {name, show(pair.a), show(pair.b), signed_time(pair.difference()), signed_share(pair)});
  };
  row("step time", c.steady.time);
  for (const auto& part : core::parts_that_add_up(c.steady))
    row("  " + std::string(part.title), part.value);
  if (is_any(c.steady.slowed)) row("slowed by communication", c.steady.slowed);
  row("communication", c.steady.communication);
  text += parts.text(0);
  text += c.basis_a == c.basis_b ? fmt::format("({})\n\n", c.basis_a)
                                 : fmt::format("(first: {}; second: {})\n\n", c.basis_a, c.basis_b);
  for (const std::string& sentence : c.in_words()) text += sentence + '\n';
  if (!c.last.packs.empty() && rows > 0) {
    text += "\npacks of the last step, largest difference first\n";
    text += table_text(compared_packs(c), 2, rows);
  }
  if (!c.kinds.empty()) {
    text += fmt::format("\nschedule steps in both timelines: {} (times without waiting)\n",
                        c.steps_joined);
    text += table_text(compared_kinds(c), 2);
  }
  return text;
}

}  // namespace

std::vector<Report> compared_packs(const Comparison& c) {
  std::vector<core::PackComparison> packs = c.last.packs;
  std::stable_sort(packs.begin(), packs.end(), [](const auto& x, const auto& y) {
    return std::abs(x.took.difference().count()) > std::abs(y.took.difference().count());
  });
  std::vector<Report> rows;
  for (const core::PackComparison& pack : packs) rows.push_back(compared_pack(pack));
  return rows;
}

std::vector<Report> compared_kinds(const Comparison& c) {
  std::vector<Report> rows;
  for (const core::KindComparison& kind : c.kinds) rows.push_back(compared_kind(kind));
  return rows;
}

Report comparison_report(const Comparison& c) {
  Report report{{"first", c.a.scenario},
                {"first_executor", c.a.executor},
                {"second", c.b.scenario},
                {"second_executor", c.b.executor},
                {"step_time", compared_pair(c.steady.time)}};
  for (const auto& part : named_step_parts(c.steady))
    report.add(part.name, compared_pair(part.value));
  report.add({{"packs", core::list_of(c.last.packs, compared_pack)},
              {"packs_of_first_only", c.last.packs_only_a},
              {"packs_of_second_only", c.last.packs_only_b},
              {"steps", core::list_of(c.kinds, compared_kind)},
              {"steps_of_first_only", c.steps_only_a},
              {"steps_of_second_only", c.steps_only_b}});
  if (c.together > 0)
    report.add("channels_differ", Report{{"packs_on_devices", c.together},
                                         {"most_in_first", c.max_channels_a},
                                         {"most_in_second", c.max_channels_b}});
  return report.add("in_words", c.in_words());
}

core::Expected<core::TimelineReader> open_timeline_or_trace(const std::string& path,
                                                            const core::RunInfo* like,
                                                            const Environment& environment) {
  if (!is_trace(path)) return core::TimelineReader::open(path);
  ImportTraceOptions from;
  from.files = {path};
  const auto traces = read_traces(from, environment);
  if (!traces) return tl::make_unexpected(traces.error());
  for (const std::string& note : traces->notes)
    print_note(fmt::format("note: {}: {}\n", path, note));
  auto bytes = timeline_of_traces(*traces, like);
  if (!bytes) return tl::make_unexpected(bytes.error());
  return core::TimelineReader::from_bytes(std::move(*bytes), path);
}

int compare(const CompareOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.rows < 0)
    return refuse({core::ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  if (options.within && !(*options.within >= 0))
    return refuse({core::ProblemCode::kTooSmall, "--within"},
                  "--within {}: expected a percentage of at least 0", *options.within);
  if (options.within && !options.promise.empty())
    return refuse({core::ProblemCode::kConflict, "--within"},
                  "--within compares two step times, but --promise compares collectives with their "
                  "error bands; remove one of the two options");
  if (!options.promise.empty()) return compare_promise(options);
  if (options.files.size() != 2)
    return refuse({core::ProblemCode::kMissing, "files"},
                  "compare needs two timelines, or --promise with measurements");
  const std::string &first = options.files[0], &second = options.files[1];
  const auto a = open_timeline_or_trace(first, nullptr, environment);
  if (!a) return report(a.error());
  const auto b = open_timeline_or_trace(second, &a->run(), environment);
  if (!b) return report(b.error());
  for (const auto& [path, timeline] : {std::pair(&first, &*a), std::pair(&second, &*b)}) {
    if (!timeline->complete())
      print_note(
          fmt::format("{}: the file {}; comparing the readable part\n", *path, timeline->damage()));
  }
  const auto comparison = core::compare(*a, *b);
  if (!comparison) return report(comparison.error());
  const int status = *format == Format::kJson
                         ? print_out(result_json(comparison_report(*comparison)))
                         : print_report(text_of(*comparison, options.rows));
  const Pair& step = comparison->steady.time;
  if (!options.within || status != kDone) return status;
  const double allowed = *options.within / 100 * static_cast<double>(step.a.count());
  const auto difference = static_cast<double>(std::abs(step.difference().count()));
  if (difference <= allowed) return status;
  return report(core::Error::run(fmt::format(
      "the step times {} and {} differ by {:.3g} %, which is more than --within {}", show(step.a),
      show(step.b), 100 * difference / static_cast<double>(step.a.count()), *options.within)));
}

}  // namespace tutti::tools
