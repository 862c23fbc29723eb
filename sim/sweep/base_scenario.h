#pragma once

#include <string>
#include <vector>

#include "core/edit/overrides.h"

namespace tutti::sim {

/// What of a scenario is the same at all points.
struct BaseScenario {
  std::string text;
  std::string path;
  std::vector<core::Override> set;  ///< on top of the text, before what a point changes
};

}  // namespace tutti::sim
