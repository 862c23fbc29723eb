#pragma once

#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ValidateOptions {
  std::string tables;
  std::string meta;
  std::string noise;   ///< empty: no noise floor
  std::string times;   ///< figures of the time model; empty: those that are shipped
  std::string report;  ///< HTML; empty: none
  std::string spread;  ///< scales of calibrations; empty: those that are shipped
  std::vector<std::string>
      calibrate_on;  ///< ids of tables that predictions of their systems are calibrated with
  std::string format = "text";
};

/// `tutti validate`: predicts every row of published nccl-tests tables from the facts of the
/// systems alone, and reports the errors.
int validate(const ValidateOptions& options, const Environment& environment);

}  // namespace tutti::tools
