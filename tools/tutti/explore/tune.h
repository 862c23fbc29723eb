#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct TuneOptions {
  ScenarioOptions scenario;
  /// The fields to vary, in the format of `tutti sweep`. By default, the fields of the strategy's
  /// framework vary.
  std::vector<std::string> over;
  std::string points;
  std::int64_t evaluations = 100;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: the number of cores
  std::string format = "text";
  /// The file to write: the scenario with the best settings or, depending on `emit`, a table for
  /// NCCL's tuner plugin.
  std::string output;
  std::string emit = "scenario";  ///< "scenario" or "nccl-tuner": a table for NCCL's tuner plugin
  std::string csv;                ///< the CSV file to write, with all evaluated points
  /// A sweep file to which the evaluated points are written during the search. If the file exists,
  /// the search continues from it.
  std::string database;
  std::string plot;  ///< the file for a plot of the costs around the best point; empty: none
};

/// `tutti tune`: finds the best settings of a scenario, states how certain the result is, and
/// prints the snippets to paste.
int tune(const TuneOptions& options, const Environment& environment);

}  // namespace tutti::tools
