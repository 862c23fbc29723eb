#pragma once

#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ExportOptions {
  std::string timeline;
  std::string to;  ///< perfetto, csv, svg
  std::string table = "spans";
  std::string output;           ///< "-": standard output
  std::string format = "text";  ///< the format of messages about the export
};

/// `tutti export`: converts a timeline to another format.
int export_timeline(const ExportOptions& options, const Environment& environment);

}  // namespace tutti::tools
