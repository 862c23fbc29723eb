#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/text/report.h"
#include "core/timeline/compare.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

struct CompareOptions {
  std::vector<std::string> files;  ///< two timelines; if `promise` is set, files with measurements
  /// The report of `tutti tune` that is compared with the measurements; empty: none.
  std::string promise;
  std::string format = "text";
  std::int32_t rows = 12;  ///< maximum number of packs in the text output
};

/// Returns a comparison as a machine-readable report (docs/reports.md).
core::Report comparison_report(const core::Comparison& comparison);

/// `tutti compare`: compares two timelines, pack by pack and step by step, or compares the times
/// that a report of `tutti tune` predicts with measurements.
int compare(const CompareOptions& options, const Environment& environment);

}  // namespace tutti::tools
