#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/sweep_store.h"
#include "core/text/report.h"

namespace tutti::tools {

/// What came of a sweep so far, by point; nothing where it is not done.
using Outcomes = std::vector<std::optional<core::Outcome>>;

/// A line for every point that is done: its fields, its status, its times in microseconds. RFC 4180.
void write_csv(const core::SweepStore& store, const Outcomes& outcomes, std::ostream& out);
/// One object: the sweep, and its points.
std::string sweep_json(const core::SweepStore& store, const Outcomes& outcomes);
/// For people: the best `rows` points, what each field does, what went wrong, and notes on those points.
std::string sweep_text(const core::SweepStore& store, const Outcomes& outcomes, int rows,
                       const std::vector<std::string>& notes);
/// What became of a point: its status, and its times or why there are none.
core::Report outcome_report(const core::Outcome& outcome);
/// The values of a point by the names of their fields.
core::Report settings_report(const std::vector<std::string>& fields, const std::vector<std::string>& values);
/// The best points, the fastest first, at most so many.
std::vector<std::int64_t> fastest(const Outcomes& outcomes, int rows);

}  // namespace tutti::tools
