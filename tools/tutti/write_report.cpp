// Writes the page of `tutti report`. All figures come from the structs that `tutti simulate` and
// `tutti compare` print: Summary, Comparison and their reports. The picture of a training step is
// that of `tutti export --to svg`.

#include "tools/tutti/write_report.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "core/base/format.h"
#include "core/text/shown.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/step_parts.h"
#include "core/timeline/summary.h"
#include "tools/tutti/compare.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/write_report_html.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::Report;
using core::show;
using core::show_share;
using core::StepParts;
using core::Summary;
using core::Time;
using core::TimelineReader;

/// Collects the records of a timeline, without reading its spans.
Summary summary_of(const TimelineReader& timeline) {
  Summary summary;
  summary.begin(timeline.run());
  for (const auto& step : timeline.steps()) summary.step(step);
  for (const auto& pack : timeline.packs()) summary.pack(pack);
  for (const auto& link : timeline.links()) summary.link(link);
  for (const auto& piece : timeline.path()) summary.path(piece);
  if (timeline.steady()) summary.steady(*timeline.steady());
  return summary;
}

std::string signed_share(const core::Pair& pair) {
  const auto share = pair.share();
  return share ? fmt::format("{:+.1f} %", 100 * *share) : "";
}

StackedTime bar_of(const std::string& name, const StepParts& parts) {
  StackedTime bar{name, {}};
  for (const auto& part : core::parts_that_add_up(parts))
    bar.parts.emplace_back(part.title, part.value);
  return bar;
}

std::vector<HeadlineFigure> headline(const Summary& summary) {
  const core::RunInfo& info = summary.info();
  const auto parts = summary.steady_parts();
  std::vector<HeadlineFigure> figures;
  if (!parts) return figures;
  figures.push_back({"Step time", show(parts->time), summary.steady_basis()});
  figures.push_back({"Exposed communication", show(parts->exposed),
                     show_share(share(parts->exposed, parts->time)) + " of the step time"});
  figures.push_back(
      {"Communication", show(parts->communication), "time with a pack or an exchange in flight"});
  if (info.step_bound > Time())
    figures.push_back(
        {"Lower bound", show(info.step_bound),
         fmt::format("the step time is {} above this bound",
                     show_share(std::max(0.0, share(parts->time, info.step_bound) - 1)))});
  if (info.replicas > 0)
    figures.push_back(
        {"Replicas", core::show_count(info.replicas), show(info.gradient_bytes) + " of gradients"});
  return figures;
}

std::string about(const Summary& summary, const TimelineReader& timeline) {
  const core::RunInfo& info = summary.info();
  return facts_html({{"scenario", info.scenario},
                     {"file of the scenario", info.scenario_file},
                     {"result", info.executor},
                     {"network model", info.network_model},
                     {"cluster", info.cluster},
                     {"workload", info.workload},
                     {"strategy", info.strategy},
                     {"times of computation", info.timing},
                     {"training steps", core::show_count(info.steps)},
                     {"seed", fmt::format("{}", info.seed)},
                     {"version of Tutti", info.version},
                     {"damage", timeline.complete() ? "" : "The file " + timeline.damage() + "."}});
}

std::vector<Report> step_rows(const TimelineReader& timeline) {
  std::vector<Report> rows;
  for (const core::StepRecord& step : timeline.steps()) {
    Report row{{"", step.step, "step"},
               {"", step.start, "start"},
               {"", step.end - step.start, "step time"}};
    for (const auto& part : named_step_parts(step)) row.add("", part.value, part.title);
    rows.push_back(row.add("", step.slowest, "<slowest replica"));
  }
  return rows;
}

std::vector<Report> path_rows(const Summary& summary) {
  std::vector<Report> rows;
  const Time start = summary.steps().empty() ? Time() : summary.steps().back().start;
  for (const core::PathPiece& piece : summary.path()) {
    rows.push_back({{"", core::span_name(piece.kind), "<what"},
                    {"", piece.device, "?<device"},
                    {"", piece.pack < 0 ? "" : fmt::format("{}", piece.pack), "?pack"},
                    {"", piece.layer, "?<layer"},
                    {"", piece.start - start, "start"},
                    {"", piece.end - piece.start, "time"},
                    {"", piece.slowest_link, "?<slowest link"},
                    {"", piece.queued_at, "?<longest wait at"}});
  }
  return rows;
}

/// Returns the picture of the last training step, or the reason why there is none.
std::string picture(const TimelineReader& timeline) {
  const auto svg = core::export_svg(timeline);
  if (!svg)
    return "<p class=\"more\">There is no picture: " + core::as_xml(svg.error().message()) +
           ".</p>\n";
  return "<figure>\n" + *svg + "</figure>\n";
}

std::string run_page(const TimelineReader& timeline, int rows) {
  const Summary summary = summary_of(timeline);
  const core::RunInfo& info = summary.info();
  std::string body = headline_html(headline(summary));
  if (const auto parts = summary.steady_parts())
    body +=
        section_html("Parts of the training step",
                     "<figure>\n" + stacked_times_svg({bar_of("step", *parts)}) + "</figure>\n");
  body += section_html("The last training step", picture(timeline));
  body += section_html("Critical path of the last step",
                       list_html(summary.path_in_words()) + table_html(path_rows(summary), rows));
  body += section_html("Packs of the last step", table_html(pack_reports(summary), rows));
  body += section_html("Links",
                       table_html(grouped_links(summary.busiest_links(), summary.length()), rows));
  body += section_html("Training steps", table_html(step_rows(timeline), rows));
  body += section_html("Notes", list_html(info.notes));
  body += section_html("About this run", about(summary, timeline));
  if (!info.scenario_text.empty())
    body += "<details><summary>Text of the scenario</summary><pre>" +
            core::as_xml(info.scenario_text) + "</pre></details>\n";
  return page_html(fmt::format("{} ({})", info.scenario, info.executor), body);
}

/// Returns a name for the first or the second run, which differs from the name of the other run.
std::string name_of_run(const core::RunInfo& a, const core::RunInfo& b, bool first) {
  const core::RunInfo& run = first ? a : b;
  if (a.executor != b.executor) return run.executor;
  if (a.scenario != b.scenario) return run.scenario;
  return first ? "first" : "second";
}

Expected<std::string> comparison_page(const TimelineReader& a, const TimelineReader& b, int rows) {
  const auto comparison = core::compare(a, b);
  if (!comparison) return failed(comparison);
  const core::Comparison& c = *comparison;
  const std::string first = name_of_run(c.a, c.b, true), second = name_of_run(c.a, c.b, false);
  std::string body = headline_html(
      {{"Step time, " + first, show(c.steady.time.a), c.basis_a},
       {"Step time, " + second, show(c.steady.time.b), c.basis_b},
       {"Difference", signed_share(c.steady.time),
        show(Time(std::abs(c.steady.time.difference().count())))},
       {"Exposed communication, " + first, show(c.steady.exposed.a),
        show_share(share(c.steady.exposed.a, c.steady.time.a)) + " of the step time"},
       {"Exposed communication, " + second, show(c.steady.exposed.b),
        show_share(share(c.steady.exposed.b, c.steady.time.b)) + " of the step time"}});
  body += list_html(c.in_words());
  StackedTime bar_a{first, {}}, bar_b{second, {}};
  std::vector<Report> parts;
  for (const auto& part : core::parts_that_add_up(c.steady)) {
    bar_a.parts.emplace_back(part.title, part.value.a);
    bar_b.parts.emplace_back(part.title, part.value.b);
  }
  for (const auto& part : named_step_parts(c.steady)) {
    parts.push_back({{"", part.title, "<part"},
                     {"", part.value.a, first},
                     {"", part.value.b, second},
                     {"", signed_share(part.value), "difference"}});
  }
  body +=
      section_html("Parts of the training step", "<figure>\n" + stacked_times_svg({bar_a, bar_b}) +
                                                     "</figure>\n" + table_html(parts, rows));
  body += section_html("Packs of the last step, largest difference first",
                       table_html(compared_packs(c), rows));
  body += section_html("Schedule steps in both timelines (times without waiting)",
                       table_html(compared_kinds(c), rows));
  body += section_html("The last training step, " + first, picture(a));
  body += section_html("The last training step, " + second, picture(b));
  body += section_html("About the first run, " + first, about(summary_of(a), a));
  body += section_html("About the second run, " + second, about(summary_of(b), b));
  const bool same = c.a.scenario == c.b.scenario;
  const std::string title =
      same ? fmt::format("{}: {} compared with {}", c.a.scenario, first, second)
           : fmt::format("{} compared with {}", c.a.scenario, c.b.scenario);
  return page_html(title, body);
}

}  // namespace

int write_report(const ReportOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.rows < 0)
    return refuse({core::ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  if (options.files.empty() || options.files.size() > 2)
    return refuse({core::ProblemCode::kMissing, "files"},
                  "report needs one timeline, or two timelines to compare");
  const std::string ending = std::filesystem::path(options.output).extension().string();
  const bool input = std::find(options.files.begin(), options.files.end(), options.output) !=
                     options.files.end();  // write_file() refuses to replace an input
  if (!input && !ending.empty() && ending != ".html" && ending != ".htm")
    return refuse({core::ProblemCode::kUnsupported, "-o"},
                  "-o {}: the report is an HTML page, not a {} file; use a name that ends in .html",
                  options.output, ending);
  std::vector<TimelineReader> timelines;
  for (const std::string& file : options.files) {
    auto timeline = open_timeline_or_trace(
        file, timelines.empty() ? nullptr : &timelines.front().run(), environment);
    if (!timeline) return report(timeline.error());
    if (!timeline->complete())
      print_note(
          fmt::format("{}: the file {}; reporting the readable part\n", file, timeline->damage()));
    timelines.push_back(std::move(*timeline));
  }
  const Expected<std::string> page =
      timelines.size() == 1 ? Expected<std::string>(run_page(timelines.front(), options.rows))
                            : comparison_page(timelines[0], timelines[1], options.rows);
  if (!page) return report(page.error());
  if (options.output == "-") return print_out(*page);
  const std::string path =
      !options.output.empty()
          ? options.output
          : std::filesystem::path(options.files.front()).replace_extension(".html").string();
  if (const auto written = write_file(path, options.files, *page); !written)
    return report(written.error());
  if (*format == Format::kText) {
    print_note(fmt::format("written: {}\n", path));
    return kDone;
  }
  const bool complete =
      std::all_of(timelines.begin(), timelines.end(), [](const auto& t) { return t.complete(); });
  return print_out(
      result_json(Report{{"timelines", options.files}, {"complete", complete}, {"written", path}}));
}

}  // namespace tutti::tools
