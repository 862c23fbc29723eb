#pragma once

#include <string>
#include <vector>

#include "core/edit/overrides.h"

namespace tutti::sim {

/// The scenario from which all points of a sweep or a search are made.
struct BaseScenario {
  std::string text;
  std::string path;
  /// Overrides that apply to all points. The overrides of a point are applied after the overrides
  /// in `set`.
  std::vector<core::Override> set;
};

}  // namespace tutti::sim
