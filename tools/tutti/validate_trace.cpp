// Measures how well the scenario of a trace predicts steps that it has not seen. The first half of
// the steps gives the layer times, the host gaps and the packs. The other steps are then predicted
// by a simulation, in which no measured duration of a collective is replayed. The first half also
// gives one of two explanations for the durations of packs:
//
// - If packs take about the predicted times, their sizes and times calibrate NCCL's time model, in
//   the same way as a log of nccl-tests. The correction is a function of the size, not of the pack.
// - If packs of the only recorded rank take much longer, this rank is assumed to wait for a late
//   rank, which was not recorded. The durations of packs then say nothing about NCCL, and are
//   explained by gaps in the computation of the late rank.

#include "tools/tutti/validate_trace.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/base/median.h"
#include "core/import/late_ranks.h"
#include "core/import/measurements_of_run.h"
#include "core/nccl/calibration/calibration_file.h"
#include "core/text/report.h"
#include "tools/tutti/calibration/measured_tables.h"
#include "tools/tutti/import_trace.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/scratch_folder.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/predicted_step.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;
using core::Report;
using core::Summary;
namespace nccl = core::nccl;

/// The errors of the predictions of one quantity, |predicted / measured - 1|, in ascending order.
struct Errors {
  std::vector<double> all;

  [[nodiscard]] double median() const { return core::median(all); }
  [[nodiscard]] double share(double of) const {
    return all[static_cast<std::size_t>(of * static_cast<double>(all.size() - 1) + 0.5)];
  }
};

/// The errors of a scenario's predictions for the steps that were not used to make the scenario.
struct Held {
  Errors steps;
  Errors packs;           ///< errors of all executions of packs
  Errors shortest_packs;  ///< errors of the shortest execution of each pack
};

/// The scenario that was made from the first steps, and its predictions.
struct Calibrated {
  ReadTraces half;
  Summary predicted;
  std::string how;  ///< describes what was calibrated
};

class TraceValidation {
 public:
  TraceValidation(const ReadTraces& traces, const ImportTraceOptions& from,
                  const Environment& environment)
      : traces_(traces), from_(from), environment_(environment) {
    for (const core::MeasuredRank& rank : traces.run.ranks)
      steps_ = std::max(steps_, rank.steps.size());
    first_ = (steps_ + 1) / 2;
  }

  [[nodiscard]] std::size_t steps() const { return steps_; }
  [[nodiscard]] std::size_t given() const { return first_; }
  std::vector<std::string> notes;

  Expected<Calibrated> calibrate() {
    auto half = traces_of_run(core::steps_of_run(traces_.run, 0, first_), from_, environment_);
    if (!half) return failed(half);
    half->name = traces_.name;
    std::vector<std::string> ignored;
    auto predicted = predict(*half, ignored);
    if (!predicted) return failed(predicted);
    before_ = *predicted;
    half->facts.late = core::late_layers(half->run, half->model, *predicted);
    std::string how = "the measured times of layers and host gaps";
    if (!half->facts.late.empty()) {
      how += fmt::format(
          ", and the gaps of a late rank (a rank that was not recorded, and for which the recorded "
          "rank waits) before {} layer{}",
          half->facts.late.size(), half->facts.late.size() == 1 ? "" : "s");
    } else if (const auto file = calibration(*half)) {
      half->facts.calibration = *file;
      how += ", and NCCL's times by size";
    } else {
      notes.push_back(fmt::format("NCCL's times are not calibrated: {}", file.error().message()));
    }
    auto after = predict(*half, notes);
    if (!after) return failed(after);
    return Calibrated{std::move(*half), std::move(*after), std::move(how)};
  }
  [[nodiscard]] const Summary& before() const { return before_; }

  /// Compares a prediction with the steps that were not used for calibration.
  [[nodiscard]] Held errors_of(const Summary& predicted, bool late) {
    Held held;
    const double step_us = static_cast<double>(predicted.step_time().count()) / 1e6;
    std::map<std::int32_t, double> expected;
    for (const core::PackRecord& r : predicted.last_packs())
      expected[r.pack] =
          static_cast<double>((r.end - (late ? r.first_start : r.last_start)).count()) / 1e6;
    // For each pack and step number, the shortest of the times on all ranks, because the times on
    // all other ranks include waiting.
    std::map<std::pair<std::int32_t, std::int64_t>, double> measured;
    for (const core::MeasuredRank& rank : traces_.run.ranks) {
      for (std::size_t s = first_; s < rank.steps.size(); ++s) {
        const core::MeasuredStep& step = rank.steps[s];
        add(held.steps, step_us, static_cast<double>(step.end_ns - step.start_ns) / 1e3);
      }
      for (const core::MeasuredCollective& c : rank.collectives) {
        if (c.step < static_cast<std::int32_t>(first_) || c.pack < 0 || c.duration_ns <= 0)
          continue;
        const double us = static_cast<double>(c.duration_ns) / 1e3;
        const auto [known, added] =
            measured.try_emplace({c.pack, rank.steps[static_cast<std::size_t>(c.step)].number}, us);
        known->second = std::min(known->second, us);
      }
    }
    std::map<std::int32_t, double> shortest;
    for (const auto& [which, us] : measured) {
      const auto known = expected.find(which.first);
      if (known == expected.end()) continue;
      add(held.packs, known->second, us);
      const auto [least, added] = shortest.try_emplace(which.first, us);
      least->second = std::min(least->second, us);
    }
    for (const auto& [pack, us] : shortest) add(held.shortest_packs, expected[pack], us);
    for (Errors* const errors : {&held.steps, &held.packs, &held.shortest_packs})
      std::sort(errors->all.begin(), errors->all.end());
    return held;
  }

 private:
  static void add(Errors& to, double predicted, double measured) {
    if (measured > 0) to.all.push_back(std::abs(predicted / measured - 1));
  }

  Expected<Summary> predict(const ReadTraces& half, std::vector<std::string>& to) {
    const auto scenario = scenario_of_traces(half, environment_, to);
    if (!scenario) return failed(scenario);
    return predicted_step(*scenario);
  }

  /// Writes a calibration of NCCL's times to a temporary file, and returns its path.
  Expected<std::string> calibration(const ReadTraces& half) {
    const auto log = core::measurements_of_run(half.run);
    if (!log) return failed(log);
    const auto figures = nccl::Parameters::load(environment_.library.folder());
    if (!figures) return failed(figures);
    const auto bands = nccl::ErrorBands::load(environment_.library.folder());
    if (!bands) return failed(bands);
    const auto spread = nccl::Spread::load(environment_.library.folder());
    if (!spread) return failed(spread);
    CalibrateOptions options;
    options.nccl.cluster = from_.machine.empty()
                               ? core::machine_with_gpu(half.run.gpu, half.run.gpus_per_host)
                               : from_.machine;
    if (!half.run.nccl_version.empty() && !half.run.is_rocm)
      options.nccl.version = half.run.nccl_version;
    const auto tables =
        measured_tables_of(*log, "the trace", options, *figures, *bands, environment_);
    if (!tables) return failed(tables);
    const nccl::Calibration made(tables->system, digest_of(*figures), tables->tables, *spread);
    std::string path = (std::filesystem::path(scratch_.path()) / "trace.calibration").string();
    if (auto written =
            write_file(path, {}, nccl::text_of(made, std::string(nccl::kCalibrationMagic) + "\n"));
        !written)
      return failed(written);
    return path;
  }

  const ReadTraces& traces_;
  const ImportTraceOptions& from_;
  const Environment& environment_;
  ScratchFolder scratch_;
  std::size_t steps_ = 0, first_ = 0;
  Summary before_;
};

std::string error_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::vector<std::string> cells(const std::string& name, const Errors& before, const Errors& after) {
  if (after.all.empty()) return {name, "0", "", "", "", ""};
  return {name,
          std::to_string(after.all.size()),
          error_percent(before.median()),
          error_percent(after.median()),
          error_percent(after.share(0.9)),
          error_percent(after.all.back())};
}

Report errors_report(const Errors& before, const Errors& after) {
  if (after.all.empty()) return {{"measured", 0}};
  return {{"measured", after.all.size()},
          {"median_error_before", before.median()},
          {"median_error", after.median()},
          {"p90_error", after.share(0.9)},
          {"worst_error", after.all.back()}};
}

ImportTraceOptions import_of(const ValidateOptions& options) {
  ImportTraceOptions from;
  from.files = options.traces;
  from.machine = options.machine;
  from.nodes = options.nodes;
  from.link = options.link;
  from.model = options.model;
  return from;
}

}  // namespace

int validate_trace(const ValidateOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  const ImportTraceOptions from = import_of(options);
  const auto traces = read_traces(from, environment);
  if (!traces) return report(traces.error());
  TraceValidation validation(*traces, from, environment);
  if (validation.steps() < 2)
    return refuse(
        {ProblemCode::kMissing, "--trace"},
        "--trace: the trace has {} steps; at least 2 are needed, one to calibrate and one "
        "to predict",
        validation.steps());
  const auto calibrated = validation.calibrate();
  if (!calibrated) return report(calibrated.error());
  const Held before = validation.errors_of(validation.before(), false);
  const Held after =
      validation.errors_of(calibrated->predicted, !calibrated->half.facts.late.empty());
  std::vector<std::string> notes = traces->notes;
  notes.insert(notes.end(), validation.notes.begin(), validation.notes.end());
  if (*format == Format::kJson)
    return print_out(result_json(
        Report{{"run", traces->name},
               {"steps", validation.steps()},
               {"calibrated_on", validation.given()},
               {"calibrated", calibrated->how},
               {"predicted_step_us", calibrated->predicted.step_time()},
               {"predicted_step_us_before", validation.before().step_time()},
               {"step_time", errors_report(before.steps, after.steps)},
               {"packs", errors_report(before.packs, after.packs)},
               {"shortest_packs", errors_report(before.shortest_packs, after.shortest_packs)},
               {"notes", notes}}));
  for (const std::string& note : notes) print_note(fmt::format("note: {}\n", note));
  Table table({"<error of", "measured", "median before", "median", "90th", "worst"});
  table.row(cells("step time", before.steps, after.steps));
  table.row(cells("packs", before.packs, after.packs));
  table.row(cells("packs, shortest time of each", before.shortest_packs, after.shortest_packs));
  return print_report(
      fmt::format("{}: calibrated with {} of {} steps; the other steps are predicted\n"
                  "  calibrated: {}\n"
                  "  predicted step time: {} ({} before)\n\n"
                  "{}\n"
                  "median before: the median error before calibration, when NCCL's times are the "
                  "shipped ones, and no rank is assumed to be late\n",
                  traces->name, validation.given(), validation.steps(), calibrated->how,
                  core::show(calibrated->predicted.step_time()),
                  core::show(validation.before().step_time()), table.text(0)));
}

}  // namespace tutti::tools
