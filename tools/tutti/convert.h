#pragma once

#include <string>
#include <vector>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct ConvertOptions {
  std::vector<std::string> files;
  std::string output;  ///< of one file; empty: each is written over
  std::string format = "text";
};

/// `tutti convert`: rewrites scenarios of an older form.
int convert(const ConvertOptions& options, const Environment& environment);

}  // namespace tutti::tools
