#pragma once

#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ExportOptions {
  std::string timeline;
  std::string to;  ///< perfetto, csv, svg; of a scenario: msccl, mscclpp, chakra, goal,
                   ///< goal-binary
  std::string table = "spans";
  std::string output;           ///< output file; "-": standard output
  std::string format = "text";  ///< the format of messages about the export
};

/// `tutti export`: a timeline in another form, or the algorithm of a scenario.
int export_timeline(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
