#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct ExplainOptions {
  ScenarioOptions scenario;         ///< the scenario, or the first trace
  std::vector<std::string> traces;  ///< further trace files of the run
  // Facts that a trace does not contain, as in ImportTraceOptions.
  std::string machine;
  std::optional<std::int64_t> nodes;
  std::string link;
  std::string model;
  std::string format = "text";
  /// Maximum number of packs in the text output; also limits the number of changes whose effect is
  /// shown.
  int rows = 12;
  int threads = 0;         ///< 0: the number of cores
  bool algorithm = false;  ///< true: explain the collective's algorithm instead of the step
};

/// `tutti explain`: shows what determines the step time, and which changes would make the step
/// faster. If traces are given, shows why the measured step time differs from the prediction
/// (explain_trace.h).
int explain(const ExplainOptions& options, const Environment& environment);

}  // namespace tutti::tools
