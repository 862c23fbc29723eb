#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/overrides.h"

namespace tutti::core {

/// The maximum number of points of a sweep.
inline constexpr std::int64_t kMaxPoints = 10'000'000;

/// A dimension of a sweep: one field and its values, or several fields that vary together. A row of
/// the axis contains one value for each of its fields.
struct Axis {
  /// The name of the axis as a whole in reports and plots: "strategy" for an axis that compares
  /// strategies. If the name is empty, reports and plots name the axis after its fields.
  std::string title = {};
  std::vector<std::string> fields;             ///< names of the fields: "strategy.shards"
  std::vector<FieldPath> paths;                ///< paths of the fields
  std::vector<std::vector<std::string>> rows;  ///< rows[r][f] is the value of field f in row r; an
                                               ///< empty text means that the field is not set
};

/// Parses an axis: "strategy.shards=1,2,4" (a list), "strategy.bytes_per_pack=64KiB..256MiB*2"
/// (each value is twice the previous one), "cluster.workers.count=2..16+2" (steps of 2), or a list
/// of such ranges. Sizes in bytes may have the units KiB, MiB, GiB, KB, MB or GB. An empty value
/// (between two commas) means that the field is not set. Values with a comma must be in double
/// quotes. A repeated value is used only once. Error messages name the axis by `option`, the
/// command-line option in which it was written. ERRORS (requests): as for parse_override(); the
/// field cannot have a value; the end of a range is below its start, or its steps never reach the
/// end; there are more than `most` values (the number is checked before any value is generated).
Expected<Axis> parse_axis(const std::string& option, const std::string& written,
                          std::int64_t most = kMaxPoints);

/// Reads an axis from a CSV file. The first line of the file has the names of the fields; every
/// other line is a row of values.
/// ERRORS (requests): as for parse_axis(), with positions in the file; the file is not a table of
/// field names and values.
Expected<Axis> read_points(const std::string& text, const std::string& path);

}  // namespace tutti::core
