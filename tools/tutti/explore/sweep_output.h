#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/sweep_store.h"
#include "core/text/report.h"

namespace tutti::tools {

/// The outcomes of a sweep, indexed by point; nullopt for points that are not complete.
using Outcomes = std::vector<std::optional<core::Outcome>>;

/// Returns a note if the step times of a sweep's points do not show which point trains faster,
/// because the points differ in the model or in the number of samples per step. Returns an empty
/// text otherwise.
std::string note_on_samples(const core::Space& space);

/// Writes a CSV file (RFC 4180) with one line per completed point: its fields, its status, and its
/// times in microseconds.
void write_csv(const core::SweepStore& store, const Outcomes& outcomes, std::ostream& out);
/// Returns the sweep and its points as one JSON object.
std::string sweep_json(const core::SweepStore& store, const Outcomes& outcomes);
/// Returns the text report: the best `rows` points, the effect of each field, errors, and `notes`.
std::string sweep_text(const core::SweepStore& store, const Outcomes& outcomes, int rows,
                       const std::vector<std::string>& notes);
/// Returns a point's outcome as a report: its status, and its times or the reason why it has no
/// times.
core::Report outcome_report(const core::Outcome& outcome);
/// Returns the settings of a point as a report that maps field names to values.
core::Report settings_report(const std::vector<std::string>& fields,
                             const std::vector<std::string>& values);
/// Returns the points that the first `rows` rows of the text report show. Without several seeds,
/// the text report shows the best points. With several seeds, the text report shows the settings
/// with the best medians, and the result has all points of these settings.
std::vector<std::int64_t> reported_points(const core::SweepStore& store, const Outcomes& outcomes,
                                          int rows);

}  // namespace tutti::tools
