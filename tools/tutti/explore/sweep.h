#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/run.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct SweepOptions {
  /// The scenario, or the file of an existing sweep, which is then reported.
  ScenarioOptions scenario;
  std::vector<std::string> over;  ///< fields and values, such as "strategy.shards=1,2,4"
  std::string points;             ///< CSV file: a table of fields that vary together
  std::string
      output;  ///< SQLite file; default: the scenario's name with .sweep, in the working directory
  JoinOptions join;  ///< for a sweep with several processes started by a launcher
  /// Timeout; a process that is silent for so long has failed; default 60.
  std::optional<double> timeout_seconds;
  int threads = 0;  ///< 0: the number of cores
  std::string format = "text";
  std::string csv;  ///< the CSV file to write in addition; empty: none
  std::string json;
  std::string plot;
  std::string x, by;  ///< fields for the plot's axis and its curves
  std::string cost = "step_time";
  std::string measured;  ///< CSV file with measurements
  int rows = 10;         ///< number of best points in the text
};

/// `tutti sweep`: predicts a scenario at many points and stores the results.
int sweep(const SweepOptions& options, const Environment& environment);

}  // namespace tutti::tools
