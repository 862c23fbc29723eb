#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/overrides.h"

namespace tutti::core {

/// Of one sweep.
inline constexpr std::int64_t kMostPoints = 10'000'000;

/// What varies: one field and its values, or several fields that vary together, a row of values at a time.
struct Axis {
  std::vector<std::string> fields;             ///< "strategy.shards"
  std::vector<FieldPath> paths;                ///< one per field
  std::vector<std::vector<std::string>> rows;  ///< one value per field; "": the field is not written
};

/// "strategy.shards=1,2,4", "strategy.bytes_per_pack=64KiB..256MiB*2" (each twice the one before), "cluster.workers.count=2..16+2",
/// and lists of all that. Ends of ranges are part of them if they are met. Sizes with KiB, MiB, GiB, KB, MB or GB (powers of
/// 1024 and of 1000) where the field counts bytes. Nothing between two commas: the field is not written. What holds a comma
/// stands in "quotes". A value that comes again is left out. `option`: what it was given with.
/// ERRORS (requests): as parse_override(); values that the field cannot have; a range that does not get to its end; more than
/// `most` values, which is found before they are made.
Expected<Axis> parse_axis(const std::string& option, const std::string& written, std::int64_t most = kMostPoints);

/// The text of a CSV file: its first line names fields, every other is a row of their values.
/// ERRORS (requests): as parse_axis(), at their places; the text is no such table.
Expected<Axis> read_points(const std::string& text, const std::string& path);

}  // namespace tutti::core
