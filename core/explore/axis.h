#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/overrides.h"

namespace tutti::core {

/// The maximum number of points of a sweep.
inline constexpr std::int64_t kMaxPoints = 10'000'000;

/// A dimension of a sweep: one field and its values, or several fields that vary together, one row
/// of values at a time.
struct Axis {
  std::vector<std::string> fields;  ///< such as "strategy.shards"
  std::vector<FieldPath> paths;     ///< one per field
  std::vector<std::vector<std::string>>
      rows;  ///< one value per field; "": the field is not written
};

/// Parses an axis: "strategy.shards=1,2,4", "strategy.bytes_per_pack=64KiB..256MiB*2" (each twice
/// the previous one), "cluster.workers.count=2..16+2", and lists of these. Ranges include their end
/// if a step reaches it. Sizes may have KiB, MiB, GiB, KB, MB or GB (powers of 1024 and of 1000) if
/// the field counts bytes. An empty value (between two commas): the field is not written. Values
/// with a comma need "quotes". Repeated values are dropped. `option`: the option's name.
/// ERRORS (requests): as parse_override(); values that the field cannot have; a range that does not
/// reach its end; more than `most` values, which is detected before they are made.
Expected<Axis> parse_axis(const std::string& option, const std::string& written,
                          std::int64_t most = kMaxPoints);

/// Reads a CSV file whose first line names fields and whose other lines are rows of their values.
/// ERRORS (requests): as parse_axis(), at their locations; the text is not such a table.
Expected<Axis> read_points(const std::string& text, const std::string& path);

}  // namespace tutti::core
