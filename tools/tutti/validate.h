#pragma once

#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ValidateOptions {
  std::string tables;
  std::string meta;
  std::string noise;   ///< empty: no noise floor
  std::string times;   ///< parameters of the time model; empty: the shipped ones
  std::string report;  ///< HTML file; empty: none
  std::string format = "text";
};

/// `tutti validate`: predicts every row of published nccl-tests tables from the facts of the
/// systems alone, and reports the errors.
int validate(const ValidateOptions& options, const Environment& environment);

}  // namespace tutti::tools
