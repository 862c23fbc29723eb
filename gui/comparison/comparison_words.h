#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/timeline/join.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Returns `name` without the leading words that it shares with `other`. A name of at most 14
/// characters is returned unchanged.
std::string label_of(const std::string& name, const std::string& other);

/// Returns sentences about records that only one of two timelines has. If the timelines have
/// nothing in common, the first sentence says so.
std::vector<std::string> what_differs(const Trace& first, const Trace& second,
                                      const std::array<std::string, 2>& names,
                                      const core::Numbers& packs);

}  // namespace tutti::gui
