#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/text/report.h"
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
core::Report run_report(const core::Summary& summary, const std::optional<StepBand>& band = std::nullopt);

/// The packs of the last step in launch order, and the links by busy share: for both.
std::vector<core::Report> pack_reports(const core::Summary& summary);
std::vector<core::Report> link_reports(const core::Summary& summary);

/// Version, name and file of a scenario, with which every report about one begins.
core::Report scenario_report(const core::RunInfo& info);
/// The ends of an error band, relative to the predicted time.
core::Report band_report(double low, double high);

}  // namespace tutti::tools
