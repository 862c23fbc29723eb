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
  std::string type = "float32";
  std::string op = "sum";            ///< sum, prod, max, min, avg
  std::string collective;            ///< as nccl-tests' programs are called; empty: the scenario's
  std::optional<std::int64_t> root;  ///< default 0; of the collectives that have one
  std::string place = "both";        ///< out, in, both: which halves of the table
  RealOptions real;                  ///< of a real run, as the next two
  std::optional<std::int32_t> iterations;  ///< default 20
  std::optional<std::int32_t> warm_up;     ///< default 5
  std::vector<std::string> algorithms;  ///< to put beside each other; empty: the scenario's alone
  std::string format = "text";          ///< text, json; of algorithms also csv
  NcclPerfOptions nccl;                 ///< for a cluster instead of a scenario
};

/// `tutti perf`: prints the table of nccl-tests for a collective on a scenario's cluster, with its
/// algorithm. A process that joins another's run works as its worker instead.
int perf(const PerfOptions& options, const Environment& environment);

}  // namespace tutti::tools
