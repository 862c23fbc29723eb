#pragma once

#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct ExplainOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  int rows = 12;           ///< number of packs and of what-ifs in the text
  int threads = 0;         ///< 0: the number of cores
  bool algorithm = false;  ///< explain the collective's algorithm in place of the step
};

/// `tutti explain`: shows why a step takes as long as it does, and what would make it faster.
int explain(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
