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

/// One time that was measured.
struct Measurement {
  std::string source;  ///< the files it is from
  std::string what;    ///< "pack 3, 17.3 MB", "65536 bytes"
  TimeKey key;
  double us = 0;     ///< median of its repetitions
  Bytes bytes = {};  ///< of the pack, or of the collective's buffer
};

/// A scenario that was measured: what the simulator is asked for, and what should come out.
struct Experiment {
  std::string file;    ///< of the scenario: relative paths in it start there
  std::string source;  ///< "mine.textproto, run over tcp", for reports
  std::unique_ptr<proto::Scenario> scenario;
  std::vector<Measurement> measurements;
  RunTimes::Detail detail = RunTimes::Detail::kPacks;
  std::optional<double>
      step_us;  ///< shown beside its prediction, not fitted: most of it may be computation

  Experiment();
  Experiment(Experiment&&) noexcept;
  Experiment& operator=(Experiment&&) noexcept;
  ~Experiment();
};

/// What was measured, and what a reader should know about it.
struct Experiments {
  std::vector<Experiment> list;
  std::vector<std::string> notes;
};

/// Timelines of runs on the scenario's cluster; runs of the same scenario count as repetitions. The
/// workload and the strategy are those of each timeline, not those of `scenario`. ERRORS:
/// unreadable or cut off, of another cluster, no step ended, lane steps asked for and not recorded,
/// the scenario in it can no longer be read.
Expected<void> add_timelines(const std::vector<std::string>& paths, RunTimes::Detail detail,
                             const ClusterFigures& figures, const Library& library,
                             Experiments& experiments);

/// Logs of nccl-tests or tutti perf: the scenario's algorithm over its whole cluster. All tables
/// together give a size's median, of what is in place and what moves the same out of place; where
/// that copies besides, only what is not in place too. ERRORS: unreadable, of something else than
/// they say, of another number of ranks, types that Tutti does not reduce.
Expected<void> add_logs(const std::vector<std::string>& paths, const Scenario& scenario,
                        Experiments& experiments);

/// What the simulator makes of an experiment.
struct Prediction {
  std::vector<double> us;  ///< of each measurement
  std::optional<double> step_us;
};
/// ERRORS: the scenario is none with these figures (one beyond its bounds), or the run fails.
Expected<Prediction> predict(const Experiment& experiment, const ClusterFigures& figures,
                             const std::vector<double>& values, Executor& simulator,
                             const Library& library, const RunControl& control);

}  // namespace tutti::core
