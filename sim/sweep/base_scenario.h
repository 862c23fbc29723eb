#pragma once

#include <string>
#include <vector>

#include "core/edit/overrides.h"

namespace tutti::sim {

/// The part of a scenario that all points share.
struct BaseScenario {
  std::string text;
  std::string path;
  std::vector<core::Override> set;  ///< overrides of the text, applied before those of a point
};

}  // namespace tutti::sim
