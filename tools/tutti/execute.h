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

/// The options of every command that runs a scenario.
struct ExecuteOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string timeline;  ///< the timeline file to write; empty: none
  std::string
      record;  ///< level of detail: none, packs or steps; default: steps if a timeline is written
  std::string workers;  ///< range of workers to record, such as "0-3"
  std::optional<double> from_us;
  std::optional<double> to_us;
  std::optional<std::int64_t> most_spans;
  std::optional<std::int32_t> steps;
  /// Maximum number of packs in the text output; also limits the number of links.
  std::int32_t rows = 12;
};

/// A function that modifies the scenario before the run.
using AdjustRun = std::function<core::Expected<void>(core::Scenario&)>;
/// Functions and settings with which a command adds to the output of execute(), or changes what
/// execute() does.
struct Besides {
  /// Returns notes for the report, one note per string.
  std::function<std::vector<std::string>(const core::Scenario&)> notes_of = {};
  /// Returns the error band of the prediction; nullopt if it is unknown.
  std::function<std::optional<StepBand>(const core::Scenario&, const core::RunControl&)> band_of =
      {};
  /// True if the run takes real time. If true, the timeline is written during the run, so that the
  /// recorded part remains if the process is killed.
  bool writes_as_it_goes = false;
};

/// Runs the scenario with `executor`, writes the timeline and prints the report. While the scenario
/// runs, shows the progress together with the word `doing`, such as "simulating". Returns the exit
/// status.
int execute(core::Executor& executor, const std::string& doing, const ExecuteOptions& options,
            const Environment& environment, const AdjustRun& adjust = {},
            const Besides& besides = {});

}  // namespace tutti::tools
