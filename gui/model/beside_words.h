#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/timeline/join.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// What two timelines do not have in common, each in a sentence; that nothing is, first.
std::vector<std::string> what_differs(const Trace& first, const Trace& second, const std::array<std::string, 2>& names,
                                      const core::Numbers& packs);

}  // namespace tutti::gui
