#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/perf/perf_nccl.h"
#include "tools/tutti/run.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

struct PerfOptions {
  ScenarioOptions scenario;
  std::string backend = "sim";
  std::string least = "8";
  std::string most = "128M";
  double factor = 2;
  std::string step;  ///< difference between consecutive sizes; empty: `factor` applies
  std::string type = "float32";
  std::string op = "sum";  ///< the operation: sum, prod, max, min or avg
  /// The collective, under its name in the programs of nccl-tests; empty: the scenario's
  /// collective.
  std::string collective;
  std::optional<std::int64_t> root;  ///< for collectives with a root: the root rank; default 0
  /// The measurements in the table: out (of place), in (place) or both.
  std::string place = "both";
  RealOptions real;  ///< options of a real run; the next two members are also only for real runs
  std::optional<std::int32_t> iterations;  ///< default 20
  std::optional<std::int32_t> warm_up;     ///< default 5
  std::int32_t check = 1;                  ///< the option -c of nccl-tests; 0 is an error for real
                                           ///< runs, which always check results
  std::int32_t blocking = 0;               ///< the option -z of nccl-tests; only 0 is valid,
                                           ///< because iterations always run back to back
  std::vector<std::string> algorithms;  ///< the algorithms to compare; empty: only the scenario's
                                        ///< algorithm
  std::string format = "text";  ///< text or json; csv is possible if algorithms are compared
  /// Options for NCCL's prediction on a named cluster, used if no scenario is given.
  NcclPerfOptions nccl;
};

/// `tutti perf`: prints the table of nccl-tests for a collective on a scenario's cluster with the
/// scenario's algorithm. If another process coordinates the run, this process runs as a worker.
int perf(const PerfOptions& options, const Environment& environment);

}  // namespace tutti::tools
