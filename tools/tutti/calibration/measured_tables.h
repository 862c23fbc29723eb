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

/// Does the same as measured_tables(), for the text of one log instead of the files in the options.
core::Expected<MeasuredTables> measured_tables_of(const std::string& log, const std::string& name,
                                                  const CalibrateOptions& options,
                                                  const core::nccl::Parameters& figures,
                                                  const core::nccl::ErrorBands& bands,
                                                  const Environment& environment);

/// Reads the logs, and predicts each time in the logs with the parameters `figures`. Facts (nodes,
/// GPUs, NCCL's release and variables, and the driving mode: how many GPUs a process drives) are
/// taken from the header of a log. Facts that the header does not have are taken from the options.
/// A release or driving mode in the options takes precedence over the log's value.
/// ERRORS: a log cannot be read; a log was measured on GPUs of another kind or number.
core::Expected<MeasuredTables> measured_tables(const CalibrateOptions& options,
                                               const core::nccl::Parameters& figures,
                                               const core::nccl::ErrorBands& bands,
                                               const Environment& environment);

}  // namespace tutti::tools
