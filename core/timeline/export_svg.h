#pragma once

#include <string>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// Draws the last step of a timeline as a picture (SVG): the computation and the packs in flight of
/// the first few devices, the critical path, the busiest links' load. Needs a timeline with
/// recorded packs. ERRORS: a damaged block, nothing recorded.
Expected<std::string> export_svg(const TimelineReader& timeline);

}  // namespace tutti::core
