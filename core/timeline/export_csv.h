#pragma once

#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// The tables that can be exported from a timeline.
enum class CsvContent { kSpans, kPacks, kSteps, kLinks, kPath };
std::optional<CsvContent> parse_csv_content(std::string_view name);

/// Writes a table of a timeline as comma-separated values with a header line. Times are in
/// microseconds with six decimals, so they are exact to the picosecond. ERRORS: a block is damaged.
Expected<void> export_csv(const TimelineReader& timeline, CsvContent content, std::ostream& out);

}  // namespace tutti::core
