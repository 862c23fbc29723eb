#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::gui {

/// Finds the longest span in any range of a row. Level 0 stores the maximum of each block of 16
/// spans. Level 1 stores the maximum of each 16 entries of level 0, and so on. A query for a pixel
/// with ninety spans reads about five maxima of blocks inside the range, and examines the two
/// blocks that lie only partly in the range. A partly covered block is scanned only if its longest
/// span is outside the range and longer than the maxima of all other blocks. For all other blocks,
/// the stored maxima suffice. Memory: 1.07 bytes per span.
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
  /// Returns the index of the longest span among first … end - 1; the earliest if several are
  /// equally long. `sums`, `kinds`: as in build(). REQUIRES: first < end.
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
