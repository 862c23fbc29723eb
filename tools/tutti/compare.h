#pragma once

#include <cstdint>
#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct CompareOptions {
  std::string a;
  std::string b;
  std::string format = "text";
  std::int32_t rows = 12;  ///< number of packs in the text
};

/// `tutti compare`: compares two timelines, pack by pack and step by step.
int compare(const CompareOptions& options, const Environment& environment);

}  // namespace tutti::tools
