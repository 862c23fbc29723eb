#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/run.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct SweepOptions {
  ScenarioOptions scenario;       ///< or the file of a sweep that is there, of which is told
  std::vector<std::string> over;  ///< "strategy.shards=1,2,4"
  std::string points;             ///< CSV file: a table of fields that vary together
  std::string output;             ///< SQLite file; default: the scenario's name with .sweep, in the working folder
  JoinOptions join;               ///< of several processes that a launcher started
  std::optional<double> timeout_seconds;  ///< likewise: how long one of them may say nothing; 60
  int threads = 0;                        ///< 0: as many as there are cores
  std::string format = "text";
  std::string csv;  ///< files to write besides
  std::string json;
  std::string plot;
  std::string x, by;  ///< of the plot: fields
  std::string cost = "step_time";
  std::string measured;  ///< CSV file with what was measured
  int rows = 10;         ///< best points in the text
};

/// `tutti sweep`: predicts a scenario at many points, and keeps what comes of it.
int sweep(const SweepOptions& options, const Environment& environment);

}  // namespace tutti::tools
