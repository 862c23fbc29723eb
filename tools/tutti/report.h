#pragma once

#include <optional>
#include <string>

#include "core/timeline/summary.h"

namespace tutti::tools {

/// What a step takes if all that has an error band is as fast, or as slow, as eight of ten measurements were.
struct StepBand {
  core::Time low, high;
};

/// A run's summary for people: step time and its parts, the least possible, the critical path, packs, links. Of packs and
/// links at most `rows` each.
std::string report_text(const core::Summary& summary, int rows, const std::optional<StepBand>& band = std::nullopt);

/// The same for machines (docs/reports.md): step_time_us, communication_us, exposed_communication_us, packs, links,
/// critical_path and more. Times of packs and path count from the beginning of the last step.
std::string report_json(const core::Summary& summary, const std::optional<StepBand>& band = std::nullopt);

}  // namespace tutti::tools
