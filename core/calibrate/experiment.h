#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/calibrate/cluster_figures.h"
#include "core/calibrate/run_times.h"
#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"

namespace tutti::core {

/// A measured time.
struct Measurement {
  std::string source;  ///< names of the files that contain the time
  std::string what;    ///< description of what was measured: the pack or the size of the buffer
                       ///< ("pack 3, 17.3 MB", "65536 bytes")
  TimeKey key;
  double us = 0;     ///< median of the repetitions
  Bytes bytes = {};  ///< size of the pack, or of the collective's buffer
};

/// A scenario whose times were measured: the input of the simulator, and the times that the
/// simulator should predict.
struct Experiment {
  std::string file;    ///< path of the scenario; relative paths in the scenario are relative to the
                       ///< folder of this path
  std::string source;  ///< for reports: "mine.textproto, run over tcp"
  std::unique_ptr<proto::Scenario> scenario;
  std::vector<Measurement> measurements;
  RunTimes::Detail detail = RunTimes::Detail::kPacks;
  /// The measured time of a training step. The step time is reported but not fitted, because most
  /// of it may be computation.
  std::optional<double> step_us;

  Experiment();
  Experiment(Experiment&&) noexcept;
  Experiment& operator=(Experiment&&) noexcept;
  ~Experiment();
};

/// The experiments of a calibration, and notes for the user.
struct Experiments {
  std::vector<Experiment> list;
  std::vector<std::string> notes;
};

/// Adds the timelines of runs on the same cluster as `figures`. Runs with the same scenario text
/// count as repetitions of one experiment. The scenario in each timeline supplies the workload and
/// the strategy.
/// ERRORS: a timeline is unreadable, truncated or of another cluster; no training step ended in a
/// timeline; lane steps are requested, but a timeline has none; this version of Tutti rejects the
/// scenario in a timeline.
Expected<void> add_timelines(const std::vector<std::string>& paths, RunTimes::Detail detail,
                             const ClusterFigures& figures, const Library& library,
                             Experiments& experiments);

/// Adds logs of nccl-tests or `tutti perf`. The logged runs must have used the scenario's algorithm
/// on its whole cluster. The time for a size is the median over all tables of the logs. For a
/// collective whose out-of-place form moves the same data as its in-place form, the times of both
/// forms are used. Otherwise, the out-of-place form includes a copy, and its times are used only if
/// there are no in-place times.
/// ERRORS: a log is unreadable or inconsistent, has another number of ranks, or has data types that
/// Tutti does not reduce.
Expected<void> add_logs(const std::vector<std::string>& paths, const Scenario& scenario,
                        Experiments& experiments);

/// The simulated times of an experiment.
struct Prediction {
  std::vector<double> us;  ///< predicted time of each measurement
  std::optional<double> step_us;
};
/// Simulates an experiment with the given values of the parameters.
/// ERRORS: a value is out of range and makes the scenario invalid; the simulation fails.
Expected<Prediction> predict(const Experiment& experiment, const ClusterFigures& figures,
                             const std::vector<double>& values, Executor& simulator,
                             const Library& library, const RunControl& control);

}  // namespace tutti::core
