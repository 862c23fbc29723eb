#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct TuneOptions {
  ScenarioOptions scenario;
  std::vector<std::string> over;  ///< as of tutti sweep; default: what the strategy's framework has
  std::string points;
  std::int64_t evaluations = 100;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: as many as there are cores
  std::string format = "text";
  std::string output;    ///< the scenario with the best settings
  std::string csv;       ///< all that was tried
  std::string database;  ///< … as it is done, as of tutti sweep; goes on with it if it is there
  std::string plot;      ///< the curve around the best
};

/// `tutti tune`: finds the best settings of a scenario, says how sure that is, and what to paste where.
int tune(const TuneOptions& options, const Environment& environment);

}  // namespace tutti::tools
