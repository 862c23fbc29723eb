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
  /// Also use the mean times of lane steps in timelines, by pack and kind of step.
  bool lane_steps = false;
  std::vector<std::string> logs;  ///< paths of logs
  /// The names of parameters that are not fitted; "pcie" selects all that begin with it.
  std::vector<std::string> keep;
};

struct CalibratedFigure {
  ClusterFigure figure;
  Determination determination = Determination::kInsensitive;
  double value = 0;  ///< calibrated value in microseconds or GB/s
  double low = 0;    ///< lower end of the 95 % interval; kDetermined
  double high = 0;
  std::string confounded_with;  ///< name of another figure; kConfounded

  /// Returns the reason why the parameter was not fitted; empty if it was.
  [[nodiscard]] std::string why() const;
};

struct CalibratedTime {
  std::string source;
  std::string what;
  double measured_us = 0;
  double before_us = 0;  ///< predicted with the figures of the scenario
  double after_us = 0;   ///< predicted with the calibrated figures
};

/// The error of predictions: the larger of prediction and measurement divided by the smaller, minus
/// one.
struct CalibrationError {
  double median = 0;
  double worst = 0;
};

struct Calibration {
  std::vector<CalibratedFigure> figures;
  std::vector<CalibratedTime> times;
  CalibrationError before, after;
  /// Whole training steps: they are not fitted, but are what a calibration is meant to predict.
  std::vector<CalibratedTime> steps;
  std::vector<std::string> notes;
  std::string cluster_text;  ///< text of the calibrated cluster, for a cluster file
  bool cancelled = false;
};

/// Fits the parameters of a scenario's cluster so that `simulator` predicts the measured times:
/// logarithms of parameters against logarithms of times. The result is deterministic and does not
/// depend on the order or the names of the files. ERRORS: files that do not match the scenario
/// (add_timelines, add_logs); fewer than two times; unknown names in `keep`; a failed simulation
/// with the scenario's own parameters.
Expected<Calibration> calibrate(const Scenario& scenario, const CalibrationRequest& request,
                                Executor& simulator, const Library& library,
                                const RunControl& control);

CalibrationError error_of(const std::vector<CalibratedTime>& times,
                          double CalibratedTime::*predicted);

}  // namespace tutti::core
