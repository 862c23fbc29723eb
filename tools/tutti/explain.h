#pragma once

#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct ExplainOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  int rows = 12;    ///< packs and what-ifs in the text
  int threads = 0;  ///< 0: as many as there are cores
};

/// `tutti explain`: why a step takes what it takes, and what would help.
int explain(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
