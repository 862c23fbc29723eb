#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/rewrite.h"
#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

/// A request for several algorithms beside each other.
struct PerfAlgorithmsRequest {
  ScenarioOptions scenario;
  std::vector<std::string> algorithms;  ///< built-in names, "nccl", files, shipped algorithms
  core::OneBuffer what;                 ///< the collective without its number of elements
  std::vector<std::int64_t> sizes;      ///< sizes in elements, before rounding
  std::string format = "text";          ///< text, csv or json
};

/// Prints the simulated times of a collective by several algorithms of one cluster, with the lower
/// bound, the fastest of each size, and the sizes between which another one becomes the fastest.
/// Returns the exit status.
int perf_algorithms(const PerfAlgorithmsRequest& request, const Environment& environment);

/// The settings that make a scenario use an algorithm: one that is built in, or one of a file. A
/// file of the working directory comes first, then one beside the scenario, then a shipped one.
std::vector<std::string> settings_for_algorithm(const std::string& name);

}  // namespace tutti::tools
