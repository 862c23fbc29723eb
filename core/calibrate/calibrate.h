#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/cluster_figures.h"
#include "core/calibrate/experiment.h"
#include "core/calibrate/fit.h"

namespace tutti::core {

struct CalibrationRequest {
  std::vector<std::string> timelines;  ///< paths of timelines
  /// True if the fit also uses the times of lane steps (the sends, receives, reductions and copies
  /// of collectives) in timelines, averaged for each pack and kind of step. If outliers are found,
  /// the value of `lane_steps` has no effect: the fit then uses the times of lane steps on each
  /// device.
  bool lane_steps = false;
  std::vector<std::string> logs;  ///< paths of logs of nccl-tests or tutti perf
  /// The names of parameters that are not fitted. The part of a name before a dot selects all
  /// parameters that begin with it: "pcie" selects "pcie.latency" and "pcie.bandwidth".
  std::vector<std::string> keep;
};

struct CalibratedFigure {
  ClusterFigure figure;
  Determination determination = Determination::kInsensitive;
  double value = 0;  ///< calibrated value, in µs or GB/s
  double low = 0;    ///< lower end of the 95 % interval; 0 if the parameter is not kDetermined
  double high = 0;
  std::string confounded_with;  ///< only for kConfounded: name of another parameter that explains
                                ///< the times equally well

  /// Returns the reason why the parameter has no confidence interval; empty if the parameter has a
  /// confidence interval.
  [[nodiscard]] std::string why() const;
};

struct CalibratedTime {
  std::string source;
  std::string what;
  double measured_us = 0;
  double before_us = 0;  ///< time predicted with the scenario's own parameters
  double after_us = 0;   ///< time predicted with the calibrated parameters
};

/// The median and the largest error of predictions. The error of a prediction is max(p, m) / min(p,
/// m) - 1 for the predicted time p and the measured time m.
struct CalibrationError {
  double median = 0;
  double worst = 0;
};

struct Calibration {
  std::vector<CalibratedFigure> figures;
  std::vector<CalibratedTime> times;
  CalibrationError before, after;
  /// The times of whole training steps. The fit does not use the times of training steps, so these
  /// times show how well the calibrated cluster predicts training steps.
  std::vector<CalibratedTime> steps;
  std::vector<std::string> notes;
  std::string cluster_text;  ///< the calibrated cluster, as the content of a cluster file
  bool cancelled = false;
};

/// Fits the parameters of a scenario's cluster so that `simulator` predicts the measured times. The
/// fit minimises the differences between the logarithms of predicted and measured times. The result
/// does not depend on the order or the names of the files.
/// ERRORS: a file does not match the scenario (see add_timelines() and add_logs() in experiment.h);
/// there are fewer than two measured times; `keep` contains an unknown name; the simulation fails
/// with the scenario's own parameters.
Expected<Calibration> calibrate(const Scenario& scenario, const CalibrationRequest& request,
                                Executor& simulator, const Library& library,
                                const RunControl& control);

CalibrationError error_of(const std::vector<CalibratedTime>& times,
                          double CalibratedTime::*predicted);

}  // namespace tutti::core
