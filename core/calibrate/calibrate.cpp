// Calibration changes the parameters of a cluster until the simulator predicts the measured times.
// The fit works with logarithms of parameters, so that no parameter can become negative. A residual
// is log(predicted / measured), so that an error of 10 % has the same weight at 5 µs and at 5 s.
// The first step is a search for outliers: links and devices that are slower or faster than others.
// If there are any, each of them gets its own parameters. All timelines are then read again with
// separate times for each device, because only these show the effect of a single link or device.
// Every evaluation of the fit simulates all experiments once, and most fits need fewer than 600
// evaluations. Two errors are reported: with the scenario's own values, and with the fitted values,
// rounded to five digits as in the cluster file. The minimiser is in fit.cpp. experiment.cpp makes
// and simulates the experiments.

#include "core/calibrate/calibrate.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "core/base/median.h"
#include "core/base/version.h"
#include "core/calibrate/run_times.h"
#include "core/timeline/reader.h"

namespace tutti::core {
namespace {

/// Rounds a fitted value to five digits. The measurements do not determine further digits.
double rounded(double value) { return std::stod(fmt::format("{:.5g}", value)); }

/// The predictions of all experiments for one set of parameters.
struct Predictions {
  std::vector<double> us;  ///< predicted times, in the order of the measurements
  std::vector<double> steps_us;
};

class Calibrator {
 public:
  Calibrator(const ClusterFigures& figures, const Experiments& experiments, Executor& simulator,
             const Library& library, const RunControl& control)
      : figures_(figures),
        experiments_(experiments),
        simulator_(simulator),
        library_(library),
        control_(control) {}

  Expected<Predictions> predictions(const std::vector<double>& values) {
    Predictions all;
    RunControl quiet;
    quiet.cancel = control_.cancel;
    for (const Experiment& experiment : experiments_.list) {
      const auto one = predict(experiment, figures_, values, simulator_, library_, quiet);
      if (!one) return tl::make_unexpected(one.error());
      all.us.insert(all.us.end(), one->us.begin(), one->us.end());
      if (experiment.step_us) all.steps_us.push_back(one->step_us.value_or(0));
    }
    return all;
  }

  Fit run(const std::vector<bool>& kept) {
    FitProblem problem;
    for (std::size_t f = 0; f < figures_.list().size(); ++f) {
      const ClusterFigure& figure = figures_.list()[f];
      const int family = figure.kind == ClusterFigure::Kind::kRate ? 1 : 0;
      problem.unknowns.push_back({std::log(figure.before),
                                  std::log(figure.least),
                                  std::log(figure.most),
                                  family,
                                  kept[f],
                                  {}});
      if (figure.guess > 0) problem.unknowns.back().guess = std::log(figure.guess);
    }
    std::vector<double> measured;
    for (const Experiment& experiment : experiments_.list) {
      for (const Measurement& measurement : experiment.measurements)
        measured.push_back(measurement.us);
    }
    problem.residuals = measured.size();
    problem.cancelled = [this] { return control_.cancel != nullptr && control_.cancel->load(); };
    int evaluations = 0;
    problem.evaluate = [&](const std::vector<double>& logs) -> std::optional<std::vector<double>> {
      // Report an estimate of the progress. The number of evaluations is not known in advance, but
      // most fits need fewer than 600.
      if (control_.progress) control_.progress(1 - std::exp(-++evaluations / 300.0));
      std::vector<double> values;
      for (const double log : logs) values.push_back(std::exp(log));
      auto predicted = predictions(values);
      if (!predicted) return std::nullopt;
      for (std::size_t i = 0; i < measured.size(); ++i)
        predicted->us[i] = std::log(predicted->us[i] / measured[i]);
      return std::move(predicted->us);
    };
    return fit(problem);
  }

 private:
  const ClusterFigures& figures_;
  const Experiments& experiments_;
  Executor& simulator_;
  const Library& library_;
  const RunControl& control_;
};

Expected<std::vector<bool>> kept_figures(const ClusterFigures& figures,
                                         const std::vector<std::string>& names) {
  std::vector<bool> kept(figures.list().size(), false);
  Problems problems;
  for (const std::string& name : names) {
    bool found = false;
    std::vector<std::string> known;
    for (std::size_t f = 0; f < kept.size(); ++f) {
      const std::string& figure = figures.list()[f].name;
      known.push_back(figure);
      if (figure != name && !figure.starts_with(name + ".") && !figure.starts_with(name + ":"))
        continue;
      kept[f] = true;
      found = true;
    }
    if (found) continue;
    std::string list;
    for (const std::string& figure : known) list += (list.empty() ? "" : ", ") + figure;
    problems.add({ProblemCode::kUnknownName, "--keep"}, {},
                 "--keep {}: the cluster has no such parameter; expected one of {}", name, list);
  }
  if (!problems.empty()) return problems.take();
  return kept;
}

CalibratedFigure calibrated(const ClusterFigures& figures, const FittedUnknown& fitted,
                            std::size_t f) {
  CalibratedFigure result;
  result.figure = figures.list()[f];
  result.determination = fitted.determination;
  const bool moved = fitted.determination == Determination::kDetermined ||
                     fitted.determination == Determination::kBounded;
  result.value = moved ? rounded(std::exp(fitted.value)) : result.figure.before;
  if (fitted.determination == Determination::kDetermined) {
    result.low = std::exp(fitted.value - fitted.half_width);
    result.high = std::exp(fitted.value + fitted.half_width);
  }
  if (fitted.confounded_with >= 0)
    result.confounded_with = figures.list()[fitted.confounded_with].name;
  return result;
}

FigureSource source_of(const CalibratedFigure& figure) {
  FigureSource source{figure.value, ""};
  const std::string field = figure.figure.name.substr(figure.figure.name.find('.') + 1);
  const std::string name = field.substr(0, field.find(':'));
  if (figure.determination == Determination::kDetermined) {
    source.text = fmt::format(
        "{} fitted by tutti calibrate {}: 95 % interval {:.4g} to {:.4g}, previous value {:.6g}",
        name, version(), figure.low, figure.high, figure.figure.before);
  } else if (figure.determination == Determination::kBounded) {
    source.text = fmt::format("{} {} by tutti calibrate {}: previous value {:.6g}", name,
                              figure.value > figure.figure.before ? "raised" : "lowered", version(),
                              figure.figure.before);
  }
  return source;
}

FittedTo sizes_of(const Experiments& experiments) {
  FittedTo sizes;
  for (const Experiment& experiment : experiments.list) {
    for (const Measurement& measurement : experiment.measurements) {
      const bool first = sizes.most == Bytes(0);
      sizes.least = first ? measurement.bytes : std::min(sizes.least, measurement.bytes);
      sizes.most = std::max(sizes.most, measurement.bytes);
    }
  }
  return sizes;
}

void compare(const Experiments& experiments, const Predictions& before, const Predictions& after,
             Calibration& result) {
  std::size_t i = 0, s = 0;
  for (const Experiment& experiment : experiments.list) {
    for (const Measurement& measurement : experiment.measurements) {
      result.times.push_back(
          {measurement.source, measurement.what, measurement.us, before.us[i], after.us[i]});
      ++i;
    }
    if (!experiment.step_us) continue;
    result.steps.push_back(
        {experiment.source, "step", *experiment.step_us, before.steps_us[s], after.steps_us[s]});
    ++s;
  }
  result.before = error_of(result.times, &CalibratedTime::before_us);
  result.after = error_of(result.times, &CalibratedTime::after_us);
}

}  // namespace

CalibrationError error_of(const std::vector<CalibratedTime>& times,
                          double CalibratedTime::*predicted) {
  std::vector<double> errors;
  for (const CalibratedTime& time : times)
    errors.push_back(std::exp(std::abs(std::log(time.*predicted / time.measured_us))) - 1);
  if (errors.empty()) return {};
  return {median(errors), *std::max_element(errors.begin(), errors.end())};
}

std::string CalibratedFigure::why() const {
  switch (determination) {
    case Determination::kKept: return "kept, as requested with --keep";
    case Determination::kDetermined: return "";
    case Determination::kBounded:
      return fmt::format("this value is {} bound, because every {} value fits equally well",
                         value > figure.before ? "a lower" : "an upper",
                         value > figure.before ? "higher" : "lower");
    case Determination::kInsensitive:
      return "left unchanged, because the measured times hardly depend on this parameter";
    case Determination::kConfounded:
      return fmt::format("left unchanged, because {} explains these measurements equally well",
                         confounded_with);
  }
  return "";
}

namespace {

/// True if all timelines were emulated. In an emulated run, messages cost what the scenario
/// specifies, not what they cost on this machine.
bool all_emulated(const std::vector<std::string>& timelines) {
  return !timelines.empty() &&
         std::all_of(timelines.begin(), timelines.end(), [](const std::string& path) {
           const auto timeline = TimelineReader::open(path);
           return timeline && timeline->run().executor.starts_with("emulated");
         });
}

}  // namespace

Expected<Calibration> calibrate(const Scenario& scenario, const CalibrationRequest& request,
                                Executor& simulator, const Library& library,
                                const RunControl& control) {
  auto of_kinds = ClusterFigures::of(scenario.text, scenario.file, library);
  if (!of_kinds) return tl::make_unexpected(of_kinds.error());
  if (!all_emulated(request.timelines)) of_kinds->leave_out_hosts();
  Experiments experiments;
  Problems problems;
  const RunTimes::Detail detail =
      request.lane_steps ? RunTimes::Detail::kLaneSteps : RunTimes::Detail::kPacks;
  if (const auto done = add_timelines(request.timelines, detail, *of_kinds, library, experiments);
      !done)
    problems.add(done.error());
  std::optional<ClusterFigures> with_outliers;
  if (problems.empty()) {
    const auto outlier = find_outliers(scenario, request.timelines, library);
    if (!outlier) return tl::make_unexpected(outlier.error());
    if (!outlier->list.empty()) {
      // Read the timelines again, with separate times for each device, because only these show the
      // effect of a single outlier.
      experiments = {};
      if (const auto done = add_timelines(request.timelines, RunTimes::Detail::kDevices, *of_kinds,
                                          library, experiments);
          !done)
        problems.add(done.error());
      with_outliers = of_kinds->with_outliers(outlier->list);
    }
    experiments.notes.insert(experiments.notes.end(), outlier->notes.begin(), outlier->notes.end());
  }
  const ClusterFigures* const figures = with_outliers ? &*with_outliers : &*of_kinds;
  const auto kept = kept_figures(*figures, request.keep);
  if (!kept) problems.add(kept.error());
  if (const auto done = add_logs(request.logs, scenario, experiments); !done)
    problems.add(done.error());
  if (!problems.empty()) return problems.take();
  std::size_t measurements = 0;
  for (const Experiment& experiment : experiments.list)
    measurements += experiment.measurements.size();
  if (measurements < 2) {
    return tl::make_unexpected(
        Error::request({ProblemCode::kMissing},
                       fmt::format("{}, but the fit needs at least two different packs or sizes "
                                   "(better ten or more); give more timelines or logs",
                                   measurements == 0 ? "there is no measured time"
                                                     : "there is only one measured time")));
  }

  Calibrator calibrator(*figures, experiments, simulator, library, control);
  std::vector<double> values;
  for (const ClusterFigure& figure : figures->list()) values.push_back(figure.before);
  const auto before = calibrator.predictions(values);
  if (!before) return tl::make_unexpected(before.error());
  const Fit fitted = calibrator.run(*kept);

  Calibration result;
  result.cancelled = fitted.cancelled;
  std::vector<FigureSource> sources;
  for (std::size_t f = 0; f < values.size(); ++f) {
    result.figures.push_back(calibrated(*figures, fitted.unknowns[f], f));
    sources.push_back(source_of(result.figures.back()));
    values[f] = result.figures.back().value;
  }
  if (result.cancelled) return result;
  const auto after = calibrator.predictions(values);
  if (!after) return tl::make_unexpected(after.error());
  compare(experiments, *before, *after, result);
  result.notes = figures->notes();
  result.notes.insert(result.notes.end(), experiments.notes.begin(), experiments.notes.end());
  constexpr double kPoorFit = 0.5;
  if (result.after.median > kPoorFit) {
    result.notes.push_back(fmt::format(
        "the fitted cluster does not describe the measurements: half of the predicted times are "
        "wrong by more than {:.0f} %; before you use this cluster, measure again on idle machines, "
        "with more sizes and iterations",
        100 * result.after.median));
  }
  result.cluster_text = figures->text(sources, sizes_of(experiments));
  return result;
}

}  // namespace tutti::core
