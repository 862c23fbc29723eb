#pragma once

#include <string>
#include <vector>

#include "core/nccl/calibration/calibration.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// The content of logs of nccl-tests from one cluster.
struct MeasuredTables {
  core::nccl::CalibratedSystem system;
  std::vector<core::nccl::CalibratedTable> tables;
  std::vector<std::string> notes;  ///< notes on assumptions, and on rows that were left out
};

/// Reads the logs, and predicts each of their times with the parameters `figures`. Facts (nodes,
/// GPUs, release, driving mode, variables) are taken from the header of a log, and missing facts
/// from the options. A release or driving mode in the options takes precedence over the log.
/// ERRORS: a log cannot be read, or was measured on other GPUs or another number of GPUs.
core::Expected<MeasuredTables> measured_tables(const CalibrateOptions& options,
                                               const core::nccl::Parameters& figures,
                                               const core::nccl::ErrorBands& bands,
                                               const Environment& environment);

}  // namespace tutti::tools
