#pragma once

#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ExportOptions {
  std::string timeline;
  /// The format: perfetto, csv or svg; for a scenario: msccl, mscclpp, chakra, goal or goal-binary.
  std::string to;
  std::string table = "spans";
  std::string output;           ///< the output file; "-": standard output
  std::string format = "text";  ///< the output format of the report about the export
};

/// `tutti export`: converts a timeline to another format, or exports the algorithm or the training
/// step of a scenario.
int export_timeline(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
