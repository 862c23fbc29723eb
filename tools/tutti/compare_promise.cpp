// Measurements are logs of nccl-tests, or traces in any format that Tutti can import. Traces are
// first converted to the table of nccl-tests, so that sizes, kinds and times are counted in the
// same way. The table of nccl-tests lacks NCCL's choice and the number of nodes. NCCL's choice and
// the number of nodes are added from the trace, if the trace has these facts. The file
// core/advice/promise.cpp compares each measurement with the prediction and its error band, which
// should contain 80 % of the measurements. This file prints the results of these comparisons.
// Timelines of Tutti are rejected, because they have training steps instead of single collectives.

#include "tools/tutti/compare_promise.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/advice/promise.h"
#include "core/base/file.h"
#include "core/base/format.h"
#include "core/formats/byte_input.h"
#include "core/formats/recognise.h"
#include "core/import/import.h"
#include "core/import/measurements_of_run.h"
#include "core/measured/nccl_tests.h"
#include "core/text/report.h"
#include "core/timeline/writer.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::Grade;
using core::MeasuredPoint;
using core::ProblemCode;
using core::Report;
using core::show;

/// Returns the files in the arguments, and the files in folders in the arguments, sorted by name.
Expected<std::vector<std::string>> files_of(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  for (const std::string& one : named) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(one, ignored)) {
      files.push_back(one);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(one, ignored))
      if (entry.is_regular_file(ignored)) inside.push_back(entry.path().string());
    if (inside.empty())
      return tl::make_unexpected(
          Error::request({ProblemCode::kMissing}, "this folder has no files", {one, 0, 0}));
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// Adds the rows of nccl-tests' tables, with out-of-place times if the tables have them.
Expected<void> add_tables(const std::vector<core::NcclTestsTable>& tables,
                          std::vector<MeasuredPoint>& points) {
  for (const core::NcclTestsTable& table : tables) {
    if (table.is_osu)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kUnsupported},
          "the output of the OSU micro-benchmarks does not state the number of ranks, which this "
          "comparison needs; use tutti perf --against to compare this output with a prediction",
          table.where));
    if (!table.ranks)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing},
          "this table does not list its ranks; keep the lines of nccl-tests that list the ranks",
          table.where));
    const auto kind = core::check_collective(table, *table.ranks);
    if (!kind) return failed(kind);
    for (const core::NcclTestsRow& row : table.rows) {
      const auto& timing = row.out_of_place ? row.out_of_place : row.in_place;
      if (timing)
        points.push_back({*kind, row.bytes, *table.ranks, table.run.hosts, timing->us, ""});
    }
  }
  return {};
}

/// Facts that the traces report about all collectives with the same kind, size and number of ranks.
struct Reported {
  std::set<std::string> choices;  ///< NCCL's choices, such as "ring/ll128, 8 channels"
  std::set<std::int64_t> nodes;   ///< 0: unknown
};
/// The reported facts, indexed by kind, bytes and number of ranks of the collective.
using ReportedByCall = std::map<std::tuple<std::string, std::int64_t, std::int64_t>, Reported>;

ReportedByCall reported_by(const core::MeasuredRun& run) {
  ReportedByCall reported;
  for (const core::MeasuredRank& rank : run.ranks) {
    for (const core::MeasuredCollective& c : rank.collectives) {
      const core::MeasuredGroup* const group = c.group >= 0 ? &run.groups[c.group] : nullptr;
      const std::int64_t ranks = group ? group->size : run.world_size;
      Reported& one = reported[{std::string(to_string(c.kind)), c.bytes, ranks}];
      one.nodes.insert(group ? group->nodes : 0);
      if (c.algorithm.empty() || c.protocol.empty()) continue;
      std::string text = fmt::format("{}/{}", c.algorithm, c.protocol);
      if (c.channels > 0) text += fmt::format(", {} channels", c.channels);
      one.choices.insert(std::move(text));
    }
  }
  return reported;
}

/// Returns all measurements in the files. Traces belong to one run, so they are read together.
Expected<std::vector<MeasuredPoint>> measured(const std::vector<std::string>& files) {
  std::vector<MeasuredPoint> points;
  core::MeasuredRun run;
  Progress progress("reading");
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.update(static_cast<double>(i) / static_cast<double>(files.size()));
    const auto begin = core::first_bytes(files[i], core::kBytesToRecognise);
    if (!begin) return failed(begin);
    if (const auto format = core::recognise(*begin)) {
      if (const auto read = core::import_file(*format, files[i], run); !read) return failed(read);
      continue;
    }
    if (begin->starts_with(core::kTimelineMagic))
      return tl::make_unexpected(
          Error::request({ProblemCode::kWrongType},
                         "--promise does not read timelines of Tutti; give the traces from which "
                         "this timeline was imported, or omit --promise to compare two timelines",
                         {files[i], 0, 0}));
    const auto tables = core::load_nccl_tests(files[i]);
    if (!tables) return failed(tables);
    if (const auto added = add_tables(*tables, points); !added) return failed(added);
  }
  if (run.ranks.empty()) return points;
  core::finish_import(run);
  const auto text = core::measurements_of_run(run);
  if (!text) return failed(text);
  const auto tables = core::parse_nccl_tests(*text, files.front());
  if (!tables) return failed(tables);
  std::vector<MeasuredPoint> of_run;
  if (const auto added = add_tables(*tables, of_run); !added) return failed(added);
  const ReportedByCall reported = reported_by(run);
  for (MeasuredPoint& point : of_run) {
    // Take the number of nodes from the trace, because the table that was made from the trace does
    // not have it.
    point.nodes = 0;
    const auto found =
        reported.find({std::string(to_string(point.kind)), point.bytes, point.ranks});
    if (found != reported.end()) {
      const Reported& one = found->second;
      point.choice = fmt::format("{}", fmt::join(one.choices, "; "));
      if (one.nodes.size() == 1) point.nodes = *one.nodes.begin();
    }
    points.push_back(std::move(point));
  }
  return points;
}

std::string promised_choice(const Grade& grade) {
  if (!grade.promised || grade.promised->choice.empty()) return "";
  if (grade.promised->channels == 0) return grade.promised->choice;
  return fmt::format("{}, {} channels", grade.promised->choice, grade.promised->channels);
}

/// Returns true if NCCL made the predicted choice; nullopt if NCCL's choice or the predicted choice
/// is unknown.
std::optional<bool> same_choice(const Grade& grade) {
  const std::string promised = promised_choice(grade);
  if (promised.empty() || grade.measured.choice.empty()) return std::nullopt;
  // If a trace does not report the number of channels, only algorithm and protocol are compared.
  return grade.measured.choice == promised || grade.measured.choice == grade.promised->choice;
}

Report row_of(const Grade& grade) {
  const MeasuredPoint& m = grade.measured;
  const core::Time time = core::time_from_us(m.us);
  Report row{{"collective", to_string(m.kind), "<collective"},
             {"bytes", core::Bytes(m.bytes), "bytes"},
             {"ranks", m.ranks, "ranks"},
             {"nodes", m.nodes > 0 ? std::optional(m.nodes) : std::nullopt},
             {"measured_us", time, "measured"}};
  if (!grade.promised) {
    row.add("", "", "promised").add("", "", "band").add("", "", "error");
  } else {
    const core::PromisedCollective& p = *grade.promised;
    const double error = (m.us - p.us) / p.us;
    const double percent = std::round(100 * error);
    row.add({{"promised_us", core::time_from_us(p.us), "promised"},
             {"low_us", core::time_from_us(p.low_us)},
             {"high_us", core::time_from_us(p.high_us)},
             {"",
              fmt::format("{} to {}", show(core::time_from_us(p.low_us)),
                          show(core::time_from_us(p.high_us))),
              "band"},
             {"error", error, "error", percent == 0 ? "0 %" : fmt::format("{:+.0f} %", percent)},
             {"between_sizes", grade.between}});
  }
  row.add("verdict", to_string(grade.verdict), "<verdict");
  if (!grade.promised) row.add("promised_are", to_string(grade.missing));
  const auto same = same_choice(grade);
  if (same)
    row.add("as_promised", *same)
        .add("measured_choice", m.choice)
        .add("promised_choice", promised_choice(grade));
  std::string choice = m.choice;
  if (same && !*same) choice += ", promised " + promised_choice(grade);
  row.add("", choice, "<NCCL's choice");
  return row;
}

std::string reasons(const std::set<Grade::Missing>& missing) {
  std::vector<std::string_view> words;
  for (const Grade::Missing one : missing) words.push_back(to_string(one));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

int compare_promise(const CompareOptions& options) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.files.empty())
    return refuse({ProblemCode::kMissing, "files"},
                  "--promise needs measurements: dumps of NCCL's Inspector or other traces, their "
                  "folder, or logs of nccl-tests");
  const auto text = core::read_text_file(options.promise, core::TextSource::kAnything);
  if (!text) return report(about("--promise", text.error()));
  const auto promise = core::read_promise(*text, options.promise);
  if (!promise) return report(about("--promise", promise.error()));
  const auto files = files_of(options.files);
  if (!files) return report(files.error());
  const auto points = measured(*files);
  if (!points) return report(points.error());
  const std::vector<Grade> grades = core::grade(*promise, *points);

  std::map<Grade::Verdict, int> counts;
  int other_choices = 0;
  std::set<Grade::Missing> missing;
  std::vector<Report> rows;
  for (const Grade& one : grades) {
    ++counts[one.verdict];
    if (one.verdict == Grade::Verdict::kNotPromised) missing.insert(one.missing);
    other_choices += same_choice(one) == false;
    rows.push_back(row_of(one));
  }
  const int inside = counts[Grade::Verdict::kInside], slower = counts[Grade::Verdict::kSlower],
            faster = counts[Grade::Verdict::kFaster];
  const int graded = inside + slower + faster;
  if (*format == Format::kJson) {
    return print_out(result_json(
        Report{{"scenario", promise->scenario},
               {"graded", graded},
               {"inside", inside},
               {"faster", faster},
               {"slower", slower},
               {"not_promised", counts[Grade::Verdict::kNotPromised]},
               {"other_choices", other_choices},
               {"collectives", core::list_of(rows, [](const Report& r) { return r; })}}));
  }
  std::string out = fmt::format("predictions in {} ({}, NCCL {})\n\n", options.promise,
                                promise->scenario, promise->nccl);
  out += table_text(rows, 0);
  out += fmt::format(
      "\n"
      "{} of {} collectives are inside their error bands, {} are faster, and {} are slower; an "
      "error band should contain 80 % of the measurements\n",
      inside, graded, faster, slower);
  if (other_choices > 0)
    out += fmt::format(
        "for {} of these collectives, NCCL did not choose the promised algorithm and protocol; "
        "check that NCCL's tuner has loaded its table (NCCL_DEBUG=INFO, TUTTI_TUNER_LOG=1)\n",
        other_choices);
  if (const int none = counts[Grade::Verdict::kNotPromised]; none > 0)
    out += fmt::format(
        "{} collectives could not be compared, because the report of tutti tune predicts only {}\n",
        none, reasons(missing));
  return print_report(out);
}

}  // namespace tutti::tools
