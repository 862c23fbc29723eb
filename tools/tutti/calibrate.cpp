// Implements `tutti calibrate` with core::calibrate(): checks the options, runs the fit with the
// simulator, and prints the result. Each parameter and each time is stored in a Report, from which
// the tables and the JSON are made. Comments at the top of the written cluster file state how to
// use the file, the measurements to which it was fitted, and its accuracy.
//
// The output file is created before the fit, which may take minutes, so that an unwritable path is
// reported immediately. The file gets its final name only when it is complete, and replaces only
// files that Tutti has written. With --cluster, the command calibrates NCCL's times instead, in
// calibration/calibrate_nccl.cpp.

#include "tools/tutti/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <optional>

#include "core/base/format.h"
#include "core/base/version.h"
#include "core/calibrate/calibrate.h"
#include "sim/simulator.h"
#include "tools/tutti/calibration/calibrate_nccl.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {
namespace {

using core::CalibratedFigure;
using core::CalibratedTime;
using core::Calibration;
using core::ClusterFigure;
using core::Determination;
using core::Report;

/// The first line of cluster files that Tutti writes. The command overwrites only files that begin
/// with this line.
constexpr const char* kFileMagic = "# The cluster of ";

std::string show_figure(const ClusterFigure& figure, double value) {
  if (figure.kind == ClusterFigure::Kind::kRate)
    return core::show(core::bandwidth_from_gb_per_s(value));
  return core::show(core::time_from_us(value));
}

std::string interval(const CalibratedFigure& figure) {
  if (figure.determination != Determination::kDetermined) return "";
  return show_figure(figure.figure, figure.low) + " … " + show_figure(figure.figure, figure.high);
}

std::string percent(double error) {
  return fmt::format("{:.{}f} %", 100 * error, error < 0.0995 ? 1 : 0);
}

/// Returns the prediction's deviation from the measurement, such as "+12.3 %".
std::string off(double predicted_us, double measured_us) {
  return fmt::format("{:+.1f} %", 100 * (predicted_us / measured_us - 1));
}

std::string show_us(double us) { return core::show(core::time_from_us(us)); }

Report time_report(const CalibratedTime& t) {
  return {{"source", t.source},
          {"what", t.what, "<"},
          {"measured_us", t.measured_us, "measured", show_us(t.measured_us)},
          {"before_us", t.before_us, "before", show_us(t.before_us)},
          {"", off(t.before_us, t.measured_us), ">"},
          {"after_us", t.after_us, "after", show_us(t.after_us)},
          {"", off(t.after_us, t.measured_us), ">"},
          {"", t.source, "<"}};
}

std::string name_of(Determination determination) {
  switch (determination) {
    case Determination::kKept: return "kept";
    case Determination::kDetermined: return "determined";
    case Determination::kBounded: return "bounded";
    case Determination::kInsensitive: return "insensitive";
    case Determination::kConfounded: return "confounded";
  }
  return "";
}

Report figure_report(const CalibratedFigure& fitted) {
  const ClusterFigure& figure = fitted.figure;
  const std::string why = fitted.why();
  Report report{{"name", figure.name, "<figure"},
                {"unit", figure.unit()},
                {"before", figure.before, "before", show_figure(figure, figure.before)},
                {"fitted", fitted.value, "fitted", show_figure(figure, fitted.value)},
                {"determination", name_of(fitted.determination)},
                {"", interval(fitted), "<95 % interval"},
                {"", why.empty() ? figure.about : why, "<"}};
  if (fitted.determination == Determination::kDetermined)
    report.add("low", fitted.low).add("high", fitted.high);
  return report.add("confounded_with", core::unless_empty(fitted.confounded_with));
}

std::string figures_table(const Calibration& calibration, int indent) {
  std::vector<Report> figures;
  for (const CalibratedFigure& figure : calibration.figures)
    figures.push_back(figure_report(figure));
  return table_text(figures, indent);
}

std::string errors_text(const Calibration& c) {
  return fmt::format(
      "over {} measured times: median {} before the fit, {} after; maximum {} before, {} after",
      c.times.size(), percent(c.before.median), percent(c.after.median), percent(c.before.worst),
      percent(c.after.worst));
}

const CalibratedFigure* launch_of(const Calibration& calibration) {
  for (const CalibratedFigure& figure : calibration.figures) {
    if (figure.figure.kind == ClusterFigure::Kind::kLaunch && figure.value != figure.figure.before)
      return &figure;
  }
  return nullptr;
}

/// Returns the line with which a scenario uses the written cluster file. The path in this line is
/// relative to the scenario's folder.
std::string how_to_use(const Calibration& calibration, const CalibrateOptions& options) {
  namespace fs = std::filesystem;
  std::error_code status;
  const fs::path folder = fs::absolute(options.scenario, status).parent_path();
  const fs::path file = fs::absolute(options.output, status).lexically_proximate(folder);
  std::string text = fmt::format("cluster {{ file: \"{}\" }}", file.string());
  if (const CalibratedFigure* launch = launch_of(calibration))
    text += fmt::format("   and in its strategy:   launch_us: {:g}", launch->value);
  return text;
}

std::string times_table(const std::vector<CalibratedTime>& times, int rows) {
  std::vector<CalibratedTime> sorted = times;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) {
    return std::abs(std::log(x.after_us / x.measured_us)) >
           std::abs(std::log(y.after_us / y.measured_us));
  });
  std::vector<Report> reports;
  for (const CalibratedTime& time : sorted) reports.push_back(time_report(time));
  return table_text(reports, 2, rows);
}

std::string text_of(const core::Scenario& scenario, const Calibration& c,
                    const CalibrateOptions& options) {
  std::string text = fmt::format("{}, {}\n\n", scenario.name, core::describe(*scenario.cluster));
  text += figures_table(c, 0);
  text += fmt::format("\nerror of predicted times, {}\n", errors_text(c));
  if (options.rows > 0) text += times_table(c.times, options.rows);
  if (!c.steps.empty()) {
    text += "\nwhole training steps, including computation (not used for the fit)\n";
    text += times_table(c.steps, std::max(options.rows, 1));
  }
  for (const std::string& note : c.notes) text += "\nnote: " + note;
  if (!c.notes.empty()) text += '\n';
  if (options.output.empty()) {
    text += "\nto write the cluster with these parameters, give -o FILE\n";
  } else {
    text += fmt::format("\nuse the fitted cluster instead of the cluster in {}:   {}\n",
                        options.scenario, how_to_use(c, options));
  }
  return text;
}

std::string json_of(const core::Scenario& scenario, const Calibration& c,
                    const CalibrateOptions& options) {
  const auto errors = [](const core::CalibrationError& error) {
    return Report{{"median", error.median}, {"worst", error.worst}};
  };
  return result_json(Report{{"scenario", scenario.name},
                            {"cluster", core::describe(*scenario.cluster)},
                            {"figures", core::list_of(c.figures, figure_report)},
                            {"error_before", errors(c.before)},
                            {"error_after", errors(c.after)},
                            {"times", core::list_of(c.times, time_report)},
                            {"steps", core::list_of(c.steps, time_report)},
                            {"notes", c.notes},
                            {"cluster_file", core::unless_empty(options.output)}});
}

/// Returns `text` with every line converted to a comment.
std::string remarks(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += end == at ? "#\n" : "# " + text.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return result;
}

std::string file_of(const core::Scenario& scenario, const Calibration& c,
                    const CalibrateOptions& options) {
  std::string head = fmt::format("{}{}, with parameters fitted by tutti calibrate {}.\n",
                                 kFileMagic + 2, options.scenario, core::version());
  head += fmt::format("{}: {}\n", scenario.name, core::describe(*scenario.cluster));
  head +=
      "\nTo use these values, replace the cluster of a scenario in the folder of this file by:   " +
      how_to_use(c, options) + "\n\nFitted to:\n";
  std::string last;
  for (const CalibratedTime& time : c.times) {
    if (time.source != last) head += "  " + time.source + '\n';
    last = time.source;
  }
  head += fmt::format("Error of predicted times, {}.\n\n", errors_text(c));
  return remarks(head + figures_table(c, 2)) + '\n' + c.cluster_text;
}

std::vector<std::string> inputs_of(const CalibrateOptions& options) {
  std::vector<std::string> inputs = options.timelines;
  inputs.insert(inputs.end(), options.logs.begin(), options.logs.end());
  inputs.push_back(options.scenario);
  return inputs;
}

/// Returns the first of the given options that requires --cluster.
const char* first_of_cluster(const CalibrateOptions& options) {
  if (const char* const given = options.nccl.first_given()) return given;
  if (!options.set.empty()) return "--set";
  if (!options.calibration.empty()) return "--calibration";
  return options.suggest ? "--suggest" : nullptr;
}

}  // namespace

int calibrate(const CalibrateOptions& options, const Environment& environment) {
  if (!options.nccl.cluster.empty()) return calibrate_nccl(options, environment);
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (const char* const given = first_of_cluster(options))
    return refuse(
        {core::ProblemCode::kUnused, given},
        "{} applies only to the calibration of NCCL's times; name the machines with --cluster",
        given);
  if (options.scenario.empty())
    return refuse({core::ProblemCode::kMissing, "--cluster"},
                  "calibrate: name a scenario, or a machine on which NCCL's times are calibrated "
                  "(--cluster hgx-h100)");
  if (options.rows < 0)
    return refuse({core::ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  if (options.timelines.empty() && options.logs.empty()) {
    return refuse({core::ProblemCode::kMissing, "--run"},
                  "no measurements; give --run TIMELINE (tutti run --timeline) or --log FILE "
                  "(nccl-tests, tutti perf)");
  }
  const auto text = read_scenario_file(options.scenario);
  if (!text) return report(text.error());
  warn_of_old_form(*text, options.scenario);
  const auto scenario = core::read_scenario(*text, options.scenario, environment.library);
  if (scenario && scenario->plan.graph)
    return refuse({core::ProblemCode::kUnsupported, "Workload.execution_trace"},
                  "{}: a scenario with an execution trace cannot be used for calibration; name a "
                  "scenario that has the same cluster and a model as its workload",
                  options.scenario);
  if (!scenario) return report(scenario.error());
  std::optional<OutputFile> file;
  if (!options.output.empty()) {
    auto created = OutputFile::create(options.output, inputs_of(options), kFileMagic);
    if (!created) return report(created.error());
    file.emplace(std::move(*created));
  }

  sim::Simulator simulator;
  Interrupt interrupt;
  Progress progress("fitting");
  std::atomic<bool> stop{false};
  core::RunControl control;
  control.cancel = &stop;
  control.progress = [&](double share) {
    progress.update(share);
    if (interrupt.happened()) stop.store(true);
  };
  const auto calibration = core::calibrate(
      *scenario, {options.timelines, options.lane_steps, options.logs, options.keep}, simulator,
      environment.library, control);
  if (!calibration) return report(calibration.error());
  if (calibration->cancelled)
    return report(
        core::Error::run({core::ProblemCode::kStopped}, "interrupted; nothing was written"));
  core::Expected<void> kept;
  if (file) {
    file->stream() << file_of(*scenario, *calibration, options);
    kept = file->keep();
  }
  const int printed = *format == Format::kJson
                          ? print_out(json_of(*scenario, *calibration, options))
                          : print_report(text_of(*scenario, *calibration, options));
  return kept ? printed : report(kept.error());
}

}  // namespace tutti::tools
