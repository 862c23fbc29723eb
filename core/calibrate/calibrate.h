#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/calibrate/cluster_figures.h"
#include "core/calibrate/experiment.h"
#include "core/calibrate/fit.h"

namespace tutti::core {

struct CalibrationRequest {
  std::vector<std::string> timelines;  ///< files
  bool lane_steps =
      false;  ///< of timelines, also the mean times of lane steps, pack by pack and kind by kind
  std::vector<std::string> logs;  ///< files
  /// Figures that stay as they are, by name; "pcie" means all that begin with it.
  std::vector<std::string> keep;
};

struct CalibratedFigure {
  ClusterFigure figure;
  Determination determination = Determination::kInsensitive;
  double value = 0;  ///< microseconds or GB/s
  double low = 0;    ///< of the 95 % interval; kDetermined
  double high = 0;
  std::string confounded_with;  ///< name of another figure; kConfounded

  /// Why it is as it is, in words; empty for one that was fitted.
  [[nodiscard]] std::string why() const;
};

struct CalibratedTime {
  std::string source;
  std::string what;
  double measured_us = 0;
  double before_us = 0;  ///< predicted with the figures of the scenario
  double after_us = 0;   ///< and with the calibrated ones
};

/// How far predictions are from measurements: the larger over the smaller, less one.
struct CalibrationError {
  double median = 0;
  double worst = 0;
};

struct Calibration {
  std::vector<CalibratedFigure> figures;
  std::vector<CalibratedTime> times;
  CalibrationError before, after;
  std::vector<CalibratedTime>
      steps;  ///< whole training steps: not fitted, but what all this is for
  std::vector<std::string> notes;
  std::string cluster_text;  ///< the calibrated cluster, for a cluster file
  bool cancelled = false;
};

/// Fits the figures of a scenario's cluster so that `simulator` predicts what was measured:
/// logarithms of figures against logarithms of times. Deterministic; the order and the names of the
/// files do not matter. ERRORS: files that do not fit the scenario (add_timelines, add_logs), fewer
/// than two times, unknown names to keep, a simulation that fails with the scenario's own figures.
Expected<Calibration> calibrate(const Scenario& scenario, const CalibrationRequest& request,
                                Executor& simulator, const Library& library,
                                const RunControl& control);

CalibrationError error_of(const std::vector<CalibratedTime>& times,
                          double CalibratedTime::*predicted);

}  // namespace tutti::core
