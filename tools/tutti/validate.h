#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ValidateOptions {
  std::string tables;
  std::string meta;
  std::string noise;   ///< the file with the spread between repeated experiments (the noise floor);
                       ///< empty: none
  std::string times;   ///< the file with the time model's parameters; empty: the shipped file
  std::string report;  ///< the HTML file to write; empty: none
  std::string spread;  ///< the file with the scales of the Gaussian process for calibrations;
                       ///< empty: the shipped file
  /// The ids of tables that are used to calibrate predictions: each table calibrates the
  /// predictions for its own system.
  std::vector<std::string> calibrate_on;
  /// Traces of the ranks of a run; if there are any, the command validates the prediction of these
  /// traces instead of tables.
  std::vector<std::string> traces;
  std::string machine, link, model;  ///< facts that the traces lack, as in ImportTraceOptions
  std::optional<std::int64_t> nodes;
  std::string format = "text";
};

/// `tutti validate`: predicts every row of published nccl-tests tables from facts about the systems
/// alone, and reports the errors. With --trace, predicts half of the steps of a trace.
int validate(const ValidateOptions& options, const Environment& environment);

}  // namespace tutti::tools
