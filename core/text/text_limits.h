#pragma once

// Limits on the size of texts, beyond which they are refused: what a text of n bytes takes in
// memory once it is parsed is bounded.

#include <cstdint>

namespace tutti::core {

/// The fields and items of a text, which take about 150 bytes each once they are parsed.
inline constexpr std::int64_t kMaxValues = 4'000'000;
inline constexpr std::int64_t kMaxCsvColumns = 10'000;
/// The cells of a table, which take about 40 bytes each once they are parsed.
inline constexpr std::int64_t kMaxCsvCells = 12'000'000;

/// The variables of a model: a hundred times those of the largest that are known.
inline constexpr std::int64_t kMaxVariables = 500'000;

}  // namespace tutti::core
