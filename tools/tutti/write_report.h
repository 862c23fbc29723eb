#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ReportOptions {
  std::vector<std::string> files;  ///< a timeline or trace, or two to compare
  std::string output;              ///< the page; empty: next to the first file
  std::int32_t rows = 200;         ///< maximum number of rows of each table
  std::string format = "text";     ///< the output format of the message about the written page
};

/// `tutti report`: writes a self-contained HTML page about a run, or about the comparison of two
/// runs.
int write_report(const ReportOptions& options, const Environment& environment);

}  // namespace tutti::tools
