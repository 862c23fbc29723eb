#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/tutti/command.h"
#include "tools/tutti/run.h"

namespace tutti::tools {

struct PerfOptions {
  std::string scenario;
  std::string backend = "sim";
  std::string least = "8";
  std::string most = "128M";
  double factor = 2;
  std::string type = "float32";
  std::string op = "sum";                  ///< sum, prod, max, min, avg
  RealOptions real;                        ///< of a real run, as the next two
  std::optional<std::int32_t> iterations;  ///< default 20
  std::optional<std::int32_t> warm_up;     ///< default 5
  std::string format = "text";
};

/// `tutti perf`: the table of nccl-tests for a scenario's cluster and algorithm. Of a process that others coordinate: the
/// life of their worker.
int perf(const PerfOptions& options, const Environment& environment);

}  // namespace tutti::tools
