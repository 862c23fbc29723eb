#pragma once

#include <string>
#include <vector>

#include "core/edit/overrides.h"

namespace tutti::sim {

/// The scenario that all points of a sweep or a search modify.
struct BaseScenario {
  std::string text;
  std::string path;
  /// Overrides of the text, which are applied before the overrides of a point.
  std::vector<core::Override> set;
};

}  // namespace tutti::sim
