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
  bool variables = false;  ///< true: list every gradient in the text
  bool schedule = false;   ///< true: print the schedule steps of one pack or exchange (a collective
                           ///< during computation)
  bool check = false;      ///< true: prove the schedules
  std::int32_t pack = 0;   ///< the pack for `schedule`
  std::optional<std::int32_t> exchange;  ///< the exchange for `schedule`, instead of a pack
  std::string graph;                     ///< the file to draw the task graph into; empty: none
  /// True: the step is simulated to get the times and the critical path for `graph`.
  bool simulate = true;
};

/// `tutti plan`: shows the communication of a training step: packs, collectives and schedules.
int plan(const PlanOptions& options, const Environment& environment);

}  // namespace tutti::tools
