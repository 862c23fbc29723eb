#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::gui {

/// Finds the longest span in any range of a row. Level 0 stores the maximum of each block of 16
/// spans, level 1 that of each 16 entries of level 0, and so on. A query for a pixel with ninety
/// spans looks at about five maxima of whole blocks, and at the two blocks that the range cuts. It
/// scans a cut block only if the block's longest span lies outside of the range and is longer than
/// the longest span of the whole blocks; otherwise the stored maxima suffice. Memory: 1.07 bytes
/// per span.
class LongestSpans {
 public:
  using Index = std::uint32_t;
  struct Entry {
    std::int64_t duration = -1;
    Index index = 0;
    std::uint8_t kind = 0;
  };

  /// Builds the index. sums[i]: the sum of the durations of spans 0 … i - 1.
  void build(const std::vector<std::int64_t>& sums, const std::vector<std::uint8_t>& kinds);
  /// Returns the longest of spans first … end - 1; the earliest if there are several. `sums`,
  /// `kinds`: as in build(). REQUIRES: first < end.
  [[nodiscard]] Entry longest(const std::vector<std::int64_t>& sums,
                              const std::vector<std::uint8_t>& kinds, Index first, Index end) const;

  /// Returns the memory in use, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kFan = 16;

  [[nodiscard]] Entry of_blocks(std::size_t first, std::size_t end) const;

  std::vector<std::vector<Entry>> levels_;
};

}  // namespace tutti::gui
