#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/run.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct SweepOptions {
  /// The scenario to simulate at many points. Or the file of an existing sweep; the command then
  /// only prints a report of this sweep.
  ScenarioOptions scenario;
  std::vector<std::string> over;  ///< fields and values, such as "strategy.shards=1,2,4"
  std::string points;             ///< a CSV file with a table of fields that vary together
  /// The SQLite file to write. By default, the name is the scenario's name with .sweep, in the
  /// working directory.
  std::string output;
  std::string reuse;  ///< an earlier sweep, from which the results of points that both sweeps have
                      ///< are copied; empty: none
  JoinOptions join;   ///< launcher and addresses, for a sweep that several processes of a launcher
                      ///< execute
  /// The time in seconds after which a process that sends nothing counts as failed. Default: 60.
  std::optional<double> timeout_seconds;
  bool yes = false;  ///< true: do not ask before a sweep of more than kMaxUnasked points
  int threads = 0;   ///< 0: the number of cores
  std::string format = "text";
  std::string csv;  ///< the additional CSV file to write; empty: none
  std::string json;
  std::string plot;
  std::string x, by;     ///< the fields of the plot's x axis and of its curves
  std::string cost;      ///< the quantity of the plot; empty: the step time
  std::string measured;  ///< a CSV file with measurements
  int rows = 10;         ///< maximum number of best points in the text output
};

/// The maximum number of points that a sweep simulates without asking the user.
inline constexpr std::int64_t kMaxUnasked = 200'000;

/// `tutti sweep`: predicts a scenario at many points and stores the results.
int sweep(const SweepOptions& options, const Environment& environment);

}  // namespace tutti::tools
