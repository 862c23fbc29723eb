#pragma once

// Limits on the size of texts. Larger texts are rejected, which limits the memory of a parsed text.

#include <cstdint>

namespace tutti::core {

/// The maximum number of fields and items of a text. Each field or item takes about 150 bytes when
/// parsed.
inline constexpr std::int64_t kMaxValues = 4'000'000;
inline constexpr std::int64_t kMaxCsvColumns = 10'000;
/// The maximum number of cells of a table. Each cell takes about 40 bytes when parsed.
inline constexpr std::int64_t kMaxCsvCells = 12'000'000;

/// The maximum number of variables of a model. The largest known models have about one hundredth of
/// this number.
inline constexpr std::int64_t kMaxVariables = 500'000;

}  // namespace tutti::core
