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
      over;  ///< as in tutti sweep; default: the fields of the strategy's framework
  std::string points;
  std::int64_t evaluations = 100;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: the number of cores
  std::string format = "text";
  std::string output;  ///< to write: the scenario with the best settings, or what `emit` names
  std::string emit = "scenario";  ///< "scenario" or "nccl-tuner": a table for NCCL's tuner plugin
  std::string csv;                ///< everything that was tried, to write
  std::string
      database;  ///< the same as a sweep file, written during the search; continued if it exists
  std::string plot;  ///< the curve around the best, to write
};

/// `tutti tune`: finds the best settings of a scenario, how certain they are, and the snippets to
/// paste for them.
int tune(const TuneOptions& options, const Environment& environment);

}  // namespace tutti::tools
