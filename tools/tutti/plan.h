#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct PlanOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  bool variables = false;                ///< name every gradient in the text
  bool schedule = false;                 ///< print the steps of one pack or exchange
  bool check = false;                    ///< prove the schedules
  std::int32_t pack = 0;                 ///< the pack for `schedule`
  std::optional<std::int32_t> exchange;  ///< the exchange for `schedule`, instead of a pack
  std::string graph;                     ///< file to draw the step into, if any
  bool simulate = true;                  ///< times and critical path of `graph` are simulated
};

/// `tutti plan`: shows what a training step communicates, and how.
int plan(const PlanOptions& options, const Environment& environment);

}  // namespace tutti::tools
