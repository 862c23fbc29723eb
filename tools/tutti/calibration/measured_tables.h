#pragma once

#include <string>
#include <vector>

#include "core/nccl/calibration/calibration.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// The information about a cluster in logs of nccl-tests.
struct MeasuredTables {
  core::nccl::CalibratedSystem system;
  std::vector<core::nccl::CalibratedTable> tables;
  std::vector<std::string> notes;  ///< notes on assumptions and on rows that were left out
};

/// Reads the logs, and predicts each of their times with the figures that are shipped. Facts in a
/// log's head (nodes, GPUs, release, driving mode, variables) are used; options supply missing
/// facts, but a given release or driving mode takes precedence. ERRORS: a log that cannot be read,
/// or that was measured on other GPUs or another number of them.
core::Expected<MeasuredTables> measured_tables(const CalibrateOptions& options,
                                               const core::nccl::Parameters& figures,
                                               const core::nccl::ErrorBands& bands,
                                               const Environment& environment);

}  // namespace tutti::tools
