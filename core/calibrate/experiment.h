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
  std::string source;  ///< names of the files with the measurement
  std::string what;    ///< the measured object: "pack 3, 17.3 MB", "65536 bytes"
  TimeKey key;
  double us = 0;     ///< median of the repetitions
  Bytes bytes = {};  ///< size of the pack, or of the collective's buffer
};

/// A measured scenario: the input of the simulator, and the expected times.
struct Experiment {
  std::string file;    ///< path of the scenario, to which its relative paths refer
  std::string source;  ///< for reports: "mine.textproto, run over tcp"
  std::unique_ptr<proto::Scenario> scenario;
  std::vector<Measurement> measurements;
  RunTimes::Detail detail = RunTimes::Detail::kPacks;
  /// Shown next to its prediction but not fitted, because most of it may be computation.
  std::optional<double> step_us;

  Experiment();
  Experiment(Experiment&&) noexcept;
  Experiment& operator=(Experiment&&) noexcept;
  ~Experiment();
};

/// All experiments, and notes for the user.
struct Experiments {
  std::vector<Experiment> list;
  std::vector<std::string> notes;
};

/// Adds timelines of runs on the scenario's cluster; runs of the same scenario count as
/// repetitions. The workload and the strategy are those of each timeline, not those of `scenario`.
/// ERRORS: a timeline is unreadable, truncated or of another cluster; no step ended; lane steps are
/// requested but not recorded; the scenario in it can no longer be read.
Expected<void> add_timelines(const std::vector<std::string>& paths, RunTimes::Detail detail,
                             const ClusterFigures& figures, const Library& library,
                             Experiments& experiments);

/// Adds logs of nccl-tests or tutti perf, which ran the scenario's algorithm on its whole cluster.
/// The time of a size is the median over all tables, in place and, if it moves the same data, out
/// of place; out-of-place times that include a copy are used only if there are no others. ERRORS: a
/// log is unreadable or inconsistent, has another number of ranks, or types that Tutti does not
/// reduce.
Expected<void> add_logs(const std::vector<std::string>& paths, const Scenario& scenario,
                        Experiments& experiments);

/// The simulated times of an experiment.
struct Prediction {
  std::vector<double> us;  ///< predicted time of each measurement
  std::optional<double> step_us;
};
/// ERRORS: the parameters make the scenario invalid (one is out of range), or the run fails.
Expected<Prediction> predict(const Experiment& experiment, const ClusterFigures& figures,
                             const std::vector<double>& values, Executor& simulator,
                             const Library& library, const RunControl& control);

}  // namespace tutti::core
