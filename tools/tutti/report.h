#pragma once

#include <string>

#include "core/timeline/summary.h"

namespace tutti::tools {

/// A run's summary for people: step time and its parts, the least possible, the critical path, packs, links. Of packs and
/// links at most `rows` each.
std::string report_text(const core::Summary& summary, int rows);

/// The same for machines (docs/formats.md): step_time_us, communication_us, exposed_communication_us, packs, links,
/// critical_path and more. Times of packs and path count from the beginning of the last step.
std::string report_json(const core::Summary& summary);

}  // namespace tutti::tools
