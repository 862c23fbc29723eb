#pragma once

#include <string>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// Draws the last training step of a timeline as SVG: computation and packs in flight on the first
/// few devices, the critical path, and the load of the busiest links.
/// ERRORS: a block is damaged; the timeline has no recorded packs.
Expected<std::string> export_svg(const TimelineReader& timeline);

}  // namespace tutti::core
