#pragma once

#include <string>
#include <vector>

#include "core/nccl/calibration/calibration.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// What logs of nccl-tests say about a cluster.
struct MeasuredTables {
  core::nccl::CalibratedSystem system;
  std::vector<core::nccl::CalibratedTable> tables;
  std::vector<std::string> notes;  ///< what was assumed, and what was left out
};

/// Reads the logs, and predicts each of their times with the figures that are shipped. What a log's
/// head states (nodes, GPUs, release, who called NCCL, variables) is taken; options fill in what it
/// does not state, but a stated option of release or driving wins. ERRORS: a log that cannot be
/// read, or that was measured on other GPUs or another number of them.
core::Expected<MeasuredTables> measured_tables(const CalibrateOptions& options,
                                               const core::nccl::Parameters& figures,
                                               const core::nccl::ErrorBands& bands,
                                               const Environment& environment);

}  // namespace tutti::tools
