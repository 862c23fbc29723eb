#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/text/report.h"
#include "core/timeline/compare.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

struct CompareOptions {
  std::vector<std::string>
      files;  ///< files to compare: two timelines, or the measurements for `promise`
  /// A report of `tutti tune`, whose predictions are compared with the measurements; empty: none.
  std::string promise;
  /// The command fails if the step times differ by more than this percentage of the first file's
  /// step time; nullopt: any difference is accepted.
  std::optional<double> within;
  std::string format = "text";
  std::int32_t rows = 12;  ///< maximum number of packs in the text output
};

/// Returns a comparison as a machine-readable report (docs/reports.md).
core::Report comparison_report(const core::Comparison& comparison);

/// The first function returns the packs of the last step that are in both timelines, largest
/// difference first. The second function returns the schedule steps that are in both timelines, by
/// kind. table_text() can show the reports of both functions as rows of a table.
std::vector<core::Report> compared_packs(const core::Comparison& comparison);
std::vector<core::Report> compared_kinds(const core::Comparison& comparison);

/// Opens a timeline, or converts the trace of a run to a timeline. `like`: the run with which a
/// trace will be compared; null: none. ERRORS: the file is neither a timeline nor a trace; the file
/// is damaged.
core::Expected<core::TimelineReader> open_timeline_or_trace(const std::string& path,
                                                            const core::RunInfo* like,
                                                            const Environment& environment);

/// `tutti compare`: compares two timelines, pack by pack and step by step, or compares measurements
/// with the times that a report of `tutti tune` predicts.
int compare(const CompareOptions& options, const Environment& environment);

}  // namespace tutti::tools
