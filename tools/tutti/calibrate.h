#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"
#include "tools/tutti/perf/perf_nccl.h"

namespace tutti::tools {

struct CalibrateOptions {
  std::string scenario;
  std::vector<std::string> timelines;
  bool lane_steps = false;
  std::vector<std::string> logs;
  std::vector<std::string> keep;
  std::string output;  ///< the cluster file to write; empty: none
  std::string format = "text";
  std::int32_t rows = 12;  ///< maximum number of measured times in the text output

  // If --cluster is given, the command calibrates NCCL's times instead of a scenario's parameters.
  NcclPerfOptions nccl;
  std::vector<std::string> set;  ///< variables of NCCL, such as "NCCL_ALGO=Ring"
  std::string calibration;       ///< an earlier calibration to extend; empty: none
  bool suggest = false;          ///< true: suggest which measurements to make next
};

/// `tutti calibrate`: derives the parameters of a scenario's cluster from measurements.
int calibrate(const CalibrateOptions& options, const Environment& environment);

}  // namespace tutti::tools
