#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/text/report.h"
#include "core/timeline/summary.h"

namespace tutti::tools {

/// The range of the step time that results from the error bands of NCCL's times. `low` is simulated
/// with all times at the lower ends of their 80 % error bands, and `high` with all times at the
/// upper ends.
struct StepBand {
  core::Time low, high;
};

/// Returns the summary of a run as text: step time and its parts, lower bound, critical path, and
/// at most `rows` packs and `rows` links.
std::string report_text(const core::Summary& summary, int rows,
                        const std::optional<StepBand>& band = std::nullopt);

/// Returns the summary as a machine-readable report (docs/reports.md), with step_time_us,
/// communication_us, exposed_communication_us, packs, links, critical_path and more. Times of packs
/// and of the critical path are relative to the start of the last step.
core::Report run_report(const core::Summary& summary,
                        const std::optional<StepBand>& band = std::nullopt);

/// pack_reports() returns a report for each pack of the last step, in launch order. The function
/// link_reports() returns a report for each of `links`; `length` is the length of the run. Text and
/// JSON summaries use both functions.
std::vector<core::Report> pack_reports(const core::Summary& summary);
std::vector<core::Report> link_reports(const std::vector<core::LinkRecord>& links,
                                       core::Time length);

/// Returns the rows of a table of links, busiest first. Links whose rows differ only in the link's
/// name share a row, with the name of the first link and the number of links.
std::vector<core::Report> grouped_links(const std::vector<core::LinkRecord>& links,
                                        core::Time length);

/// Returns the beginning of every report about a scenario: the version of Tutti, and the name and
/// file of the scenario.
core::Report scenario_report(const core::RunInfo& info);
/// Returns a report with the two ends of an error band, as factors of the predicted time.
core::Report band_report(double low, double high);

}  // namespace tutti::tools
