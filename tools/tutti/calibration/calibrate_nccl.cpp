// The command calibrates from logs (--log), adds logs to an existing calibration (--calibration),
// or suggests measurements (--suggest), which needs no log. In all cases, the measured tables are
// collected first. A Calibration is made from these tables. The report, the suggestions and the
// file are made from the Calibration. The file is created before the computation, so that a path
// that cannot be written is reported immediately. The file stores measurements. The correction
// factors at the beginning of the file are comments for readers. Logs are matched with predictions
// in measured_tables.h, and the factors are computed in core/nccl/calibration.

#include "tools/tutti/calibration/calibrate_nccl.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/base/version.h"
#include "core/nccl/calibration/calibration_file.h"
#include "tools/tutti/calibration/measured_tables.h"
#include "tools/tutti/calibration/suggestions.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/nccl_subject.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;
using core::Report;
namespace nccl = core::nccl;

constexpr std::size_t kSuggestions = 8;
/// 80 % of the values of a normal distribution lie within this number of standard deviations.
constexpr double kEightOfTen = 1.2816;

/// All results that are reported about a calibration.
struct NcclOutcome {
  nccl::Calibration calibration;
  std::vector<std::string> notes;
  std::optional<Suggestions> suggestions;
};

std::string factor(double value) { return fmt::format("{:.2f}", value); }
std::string interval(double log_factor, double sd) {
  return fmt::format("{:.2f} … {:.2f}", std::exp(log_factor - kEightOfTen * sd),
                     std::exp(log_factor + kEightOfTen * sd));
}

/// Reports the factor by which the calibration corrects one group of predictions.
Report part_report(const nccl::TimeProcess& process, std::size_t part, bool several_nodes) {
  const nccl::TimeCorrection known = process.part(part, several_nodes);
  const auto end = [&](double sign) {
    return std::exp(known.log_factor + sign * kEightOfTen * known.sd);
  };
  return {
      {"part", nccl::TimeProcess::kParts[part], "<part"},
      {"between_nodes", several_nodes, "<where", several_nodes ? "between nodes" : "inside a node"},
      {"factor", std::exp(known.log_factor), "factor", factor(std::exp(known.log_factor))},
      {"low", end(-1)},
      {"high", end(1)},
      {"", interval(known.log_factor, known.sd), "<80 % interval"},
      {"", interval(0, known.sd_before), "<before"}};
}

std::vector<Report> parts_report(const nccl::Calibration& calibration) {
  bool near = false, far = false;
  for (const nccl::CalibratedTable& table : calibration.tables())
    (table.nodes > 1 ? far : near) = true;
  std::vector<Report> parts;
  for (const bool several : {false, true}) {
    if (!(several ? far : near)) continue;
    for (std::size_t part = 0; part < nccl::TimeProcess::kParts.size(); ++part)
      parts.push_back(part_report(calibration.process(), part, several));
  }
  return parts;
}

Report table_report(const nccl::CalibratedTable& table) {
  std::int64_t least = table.rows.front().at.bytes, most = least;
  for (const nccl::MeasuredPoint& row : table.rows) {
    least = std::min(least, row.at.bytes);
    most = std::max(most, row.at.bytes);
  }
  return {{"source", table.source, "<measured in"},
          {"collective", to_string(table.kind), "<collective"},
          {"nodes", table.nodes, "nodes"},
          {"gpus", table.gpus, "GPUs"},
          {"nccl_version", to_string(table.version), "NCCL"},
          {"driving", to_string(table.driving), "<driving"},
          {"rows", table.rows.size(), "sizes"},
          {"least_bytes", least, "from", core::show(core::Bytes(least))},
          {"most_bytes", most, "to", core::show(core::Bytes(most))},
          {"set", table.set}};
}

Report suggestion_report(const Suggestion& one) {
  return {{"collective", to_string(one.kind), "<collective"},
          {"nodes", one.nodes, "nodes"},
          {"band_width", one.width, "band after", fmt::format("x {:.2f}", one.width)},
          {"command", fmt::format("{}_perf -b 1K -e 256M -f 64", to_string(one.kind)), "<by"}};
}

std::vector<Suggestion> best_of(const Suggestions& all) {
  return {all.best.begin(), all.best.begin() + std::min(all.best.size(), kSuggestions)};
}

std::string nccl_text_of(const NcclOutcome& outcome, const CalibrateOptions& options) {
  const nccl::Calibration& c = outcome.calibration;
  std::size_t rows = 0;
  for (const nccl::CalibratedTable& table : c.tables()) rows += table.rows.size();
  std::string text = fmt::format("NCCL's times on {}, from {} measured time{} in {} table{}\n\n",
                                 c.system().cluster, rows, rows == 1 ? "" : "s", c.tables().size(),
                                 c.tables().size() == 1 ? "" : "s");
  std::vector<Report> tables;
  for (const nccl::CalibratedTable& table : c.tables()) tables.push_back(table_report(table));
  text += table_text(tables, 2);
  text +=
      "\ncorrection factors for the parts of predicted times\n" + table_text(parts_report(c), 2);
  if (outcome.suggestions) {
    std::vector<Report> next;
    for (const Suggestion& one : best_of(*outcome.suggestions))
      next.push_back(suggestion_report(one));
    text += fmt::format(
        "\nsuggested measurements for {} node{}: the median width of the current error bands is "
        "{:.2f} (ratio of the upper to the lower end)\n",
        options.nccl.nodes, options.nccl.nodes == 1 ? "" : "s", outcome.suggestions->width);
    text += table_text(next, 2);
  }
  for (const std::string& note : outcome.notes) text += "\nnote: " + note;
  if (!outcome.notes.empty()) text += '\n';
  if (options.output.empty()) return text + "\n-o FILE writes the calibration\n";
  return text + fmt::format(
                    "\nwritten: {}; to use it, give --calibration {}, or set this in a scenario:   "
                    "cluster {{ "
                    "nccl_calibration: \"{}\" }}\n",
                    options.output, options.output, options.output);
}

std::string nccl_json_of(const NcclOutcome& outcome, const CalibrateOptions& options) {
  const nccl::Calibration& c = outcome.calibration;
  Report report{{"cluster", c.system().cluster},
                {"tables", core::list_of(c.tables(), table_report)},
                {"parts", parts_report(c)},
                {"notes", outcome.notes},
                {"calibration_file", core::unless_empty(options.output)}};
  if (outcome.suggestions) {
    report.add("nodes", options.nccl.nodes);
    report.add("band_width", outcome.suggestions->width);
    report.add("suggestions", core::list_of(best_of(*outcome.suggestions), suggestion_report));
  }
  return result_json(report);
}

std::string head_of(const NcclOutcome& outcome) {
  std::string text = fmt::format(
      "# Tutti {}. Factors that correct the parts of predicted NCCL times for this cluster:\n"
      "#\n",
      core::version());
  const std::string table = table_text(parts_report(outcome.calibration), 2,
                                       std::numeric_limits<int>::max(), Fit::kWhole);
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    text += "#" + table.substr(at, end - at) + "\n";
    at = end + 1;
  }
  for (const std::string& note : outcome.notes) text += "#\n# note: " + note + "\n";
  return text;
}

Expected<NcclOutcome> nccl_outcome_of(const CalibrateOptions& options,
                                      const Environment& environment) {
  const auto figures = nccl::Parameters::load(environment.library.folder());
  if (!figures) return failed(figures);
  const auto bands = nccl::ErrorBands::load(environment.library.folder());
  if (!bands) return failed(bands);
  const auto spread = nccl::Spread::load(environment.library.folder());
  if (!spread) return failed(spread);
  std::vector<nccl::CalibratedTable> tables;
  std::optional<nccl::CalibratedSystem> system;
  std::vector<std::string> notes;
  if (!options.calibration.empty()) {
    const auto before = nccl::load_calibration(options.calibration, *spread);
    if (!before) return failed(before);
    const auto subject = nccl_subject(options.nccl, options.set, environment);
    if (!subject) return failed(subject);
    if (const std::string why = before->why_not(subject->system, *figures); !why.empty())
      return refused({ProblemCode::kConflict, "--calibration"}, "--calibration {}: {}",
                     options.calibration, why);
    system = before->system();
    tables = before->tables();
  }
  if (!options.logs.empty()) {
    auto measured = measured_tables(options, *figures, *bands, environment);
    if (!measured) return failed(measured);
    if (!system) system = measured->system;
    tables.insert(tables.end(), measured->tables.begin(), measured->tables.end());
    notes = std::move(measured->notes);
  }
  if (!system) {
    // Without measurements, the command suggests what to measure.
    const auto subject = nccl_subject(options.nccl, options.set, environment);
    if (!subject) return failed(subject);
    system = nccl::calibrated_system(options.nccl.cluster, subject->system);
  }
  NcclOutcome made{nccl::Calibration(*system, digest_of(*figures), std::move(tables), *spread),
                   std::move(notes),
                   {}};
  if (!options.suggest) return made;
  auto next = suggestions(made.calibration, options, *figures, *bands, environment);
  if (!next) return failed(next);
  made.suggestions = std::move(*next);
  return made;
}

}  // namespace

int calibrate_nccl(const CalibrateOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  for (const auto& [given, option] : {std::pair(!options.scenario.empty(), "scenario"),
                                      std::pair(!options.timelines.empty(), "--run"),
                                      std::pair(options.lane_steps, "--lane-steps"),
                                      std::pair(!options.keep.empty(), "--keep")}) {
    if (given)
      return refuse({ProblemCode::kConflict, option},
                    "{} does not apply to --cluster, which calibrates NCCL's times from --log "
                    "only; remove this option",
                    option);
  }
  if (options.logs.empty() && options.calibration.empty() && !options.suggest)
    return refuse({ProblemCode::kMissing, "--log"},
                  "no measurements; give --log FILE (the output of all_reduce_perf or another "
                  "program of nccl-tests)");
  if (options.logs.empty() && options.calibration.empty() && !options.output.empty())
    return refuse({ProblemCode::kMissing, "--log"},
                  "-o: without the measurements of a log there is no calibration to write; give "
                  "--log FILE, or remove -o");
  std::optional<OutputFile> file;
  if (!options.output.empty()) {
    std::vector<std::string> inputs = options.logs;
    auto created = OutputFile::create(options.output, inputs, nccl::kCalibrationMagic);
    if (!created) return report(created.error());
    file.emplace(std::move(*created));
  }
  const auto outcome = nccl_outcome_of(options, environment);
  if (!outcome) return report(outcome.error());
  Expected<void> kept;
  if (file) {
    file->stream() << nccl::text_of(outcome->calibration, head_of(*outcome));
    kept = file->keep();
  }
  const int printed = *format == Format::kJson ? print_out(nccl_json_of(*outcome, options))
                                               : print_report(nccl_text_of(*outcome, options));
  return kept ? printed : report(kept.error());
}

}  // namespace tutti::tools
