#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/rewrite.h"
#include "real/coordinator/tcp_executor.h"
#include "real/worker/run_limits.h"
#include "tools/tutti/command.h"
#include "tools/tutti/perf/perf.h"

namespace tutti::tools {

/// The values of the options of `tutti perf` that apply to simulations, real runs and NCCL's model.
struct PerfRequest {
  Format format = Format::kText;
  core::OneBuffer what;  ///< the collective, whose number of elements is not set
  bool out_of_place = true;
  bool in_place = true;
  std::vector<std::int64_t> sizes;  ///< sizes in elements, before rounding
  real::LoopOptions loop;
  std::optional<real::TcpExecutorOptions> real;  ///< options of real runs; nullopt: simulate
};

/// Reads the values of the options. ERRORS: an option is wrong, or has no effect.
core::Expected<PerfRequest> read_perf_request(const PerfOptions& options);

}  // namespace tutti::tools
