#pragma once

#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ValidateOptions {
  std::string tables;
  std::string meta;
  std::string noise;   ///< file of the noise floor; empty: none
  std::string times;   ///< file of the time model's figures; empty: the shipped ones
  std::string report;  ///< HTML file to write; empty: none
  std::string spread;  ///< file of the scales of calibrations; empty: the shipped ones
  std::vector<std::string>
      calibrate_on;  ///< ids of tables with which predictions of their systems are calibrated
  std::string format = "text";
};

/// `tutti validate`: predicts every row of published nccl-tests tables from the facts of the
/// systems alone, and reports the errors.
int validate(const ValidateOptions& options, const Environment& environment);

}  // namespace tutti::tools
