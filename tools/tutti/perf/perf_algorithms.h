#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/rewrite.h"
#include "real/coordinator/tcp_executor.h"
#include "tools/tutti/command.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

/// A request to compare several algorithms.
struct PerfAlgorithmsRequest {
  ScenarioOptions scenario;
  /// The algorithms: names of built-in or shipped algorithms, "nccl", or files. The name of a file
  /// or of a shipped algorithm may end with values of parameters, such as
  /// "mine.tutti-algorithm:slices=8".
  std::vector<std::string> algorithms;
  core::OneBuffer what;             ///< the collective, without its number of elements
  std::vector<std::int64_t> sizes;  ///< sizes in elements, before rounding
  std::string format = "text";      ///< text, csv or json
  std::string backend = "sim";
  std::string transport;  ///< only for real runs: tcp or shm
  int iterations = 1;     ///< only for real runs: the number of timed iterations
};

/// Prints the times of a collective with several algorithms on one cluster, the fastest algorithm
/// for each size, and the sizes between which the fastest algorithm changes. `processes` executes
/// real runs; null: the times are simulated, and the table has the lower bound too. Returns the
/// exit status.
int perf_algorithms(const PerfAlgorithmsRequest& request, const Environment& environment,
                    real::TcpExecutor* processes);

}  // namespace tutti::tools
