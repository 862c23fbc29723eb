#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "tools/tutti/command.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

/// What every command that runs a scenario can be told.
struct ExecuteOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string timeline;  ///< file to write, if any
  std::string record;    ///< none, packs, steps; default: steps with a timeline
  std::string workers;   ///< "0-3"
  std::optional<double> from_us;
  std::optional<double> to_us;
  std::optional<std::int64_t> most_spans;
  std::optional<std::int32_t> steps;
  std::int32_t rows = 12;  ///< of packs and of links in the text
};

/// What a command changes in how the scenario is run.
using AdjustRun = std::function<core::Expected<void>(core::Scenario&)>;
/// What a command has to say of a scenario besides its run.
struct Besides {
  /// A note each.
  std::function<std::vector<std::string>(const core::Scenario&)> notes_of = {};
  /// How far off the prediction may be; nothing if that is not known.
  std::function<std::optional<StepBand>(const core::Scenario&, const core::RunControl&)> band_of = {};
  /// It takes real time, so its timeline is written while it goes on: a process that is killed leaves what had happened.
  bool writes_as_it_goes = false;
};

/// Runs the scenario by `executor`, shows the progress of `doing` ("simulating"), writes the timeline and prints the
/// report. Answers the exit status.
int execute(core::Executor& executor, const std::string& doing, const ExecuteOptions& options,
            const Environment& environment, const AdjustRun& adjust = {}, const Besides& besides = {});

}  // namespace tutti::tools
