#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ImportTraceOptions {
  std::vector<std::string> files;
  std::string from;  ///< the format's name; empty: recognised by the content
  std::vector<std::string>
      output;        ///< .tutti: a timeline; .textproto: a scenario; .log: measurements
  std::string name;  ///< of the run; empty: that of the first file
  std::string machine;
  std::optional<std::int64_t> nodes;
  std::string link;
  std::string model;
  bool force = false;
  std::string format = "text";
};

/// `tutti import TRACE…`: reads what profilers, frameworks and NCCL wrote about a run, says what is
/// in it, and writes it as a timeline, a scenario or measurements.
int import_trace(const ImportTraceOptions& options, const Environment& environment);

}  // namespace tutti::tools
