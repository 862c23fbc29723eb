#pragma once

#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ConvertOptions {
  std::vector<std::string> files;
  std::string output;  ///< the file to write, for a single input; empty: overwrite each file
  std::string format = "text";
};

/// `tutti convert`: converts scenarios from an older format to the current format.
int convert(const ConvertOptions& options, const Environment& environment);

}  // namespace tutti::tools
