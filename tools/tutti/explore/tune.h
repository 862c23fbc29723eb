#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct TuneOptions {
  ScenarioOptions scenario;
  std::vector<std::string>
      over;  ///< fields, as in `tutti sweep`; default: the fields of the strategy's framework
  std::string points;
  std::int64_t evaluations = 100;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: the number of cores
  std::string format = "text";
  /// File to write: the scenario with the best settings, or the one that `emit` names.
  std::string output;
  std::string emit = "scenario";  ///< "scenario" or "nccl-tuner": a table for NCCL's tuner plugin
  std::string csv;                ///< CSV file to write, with all evaluated points
  /// Sweep file with the same points, written during the search; continued if it exists.
  std::string database;
  std::string plot;  ///< file to write, with the plot of the curve around the best point
};

/// `tutti tune`: finds the best settings of a scenario, how certain they are, and the snippets to
/// paste for them.
int tune(const TuneOptions& options, const Environment& environment);

}  // namespace tutti::tools
