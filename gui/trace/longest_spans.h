#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::gui {

/// Finds the longest span in any part of a row: the maximum of each 16 spans is stored, that of
/// each 16 of those, and so on. For a pixel of ninety spans a query looks at five maxima and at the
/// two blocks that the pixel's edges cut. It scans a cut block only if the block's longest span is
/// longer than all in between and lies outside of the pixel, since otherwise the answer is known.
/// 1.07 bytes per span.
class LongestSpans {
 public:
  using Index = std::uint32_t;
  struct Entry {
    std::int64_t duration = -1;
    Index index = 0;
    std::uint8_t kind = 0;
  };

  /// sums[i]: the sum of the durations of the spans before i.
  void build(const std::vector<std::int64_t>& sums, const std::vector<std::uint8_t>& kinds);
  /// Returns the longest span of first … end - 1; the earliest if there are several. `sums`,
  /// `kinds`: as given to build(). REQUIRES: first < end.
  [[nodiscard]] Entry longest(const std::vector<std::int64_t>& sums,
                              const std::vector<std::uint8_t>& kinds, Index first, Index end) const;

  /// Returns the bytes of memory in use.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kFan = 16;

  [[nodiscard]] Entry of_blocks(std::size_t first, std::size_t end) const;

  std::vector<std::vector<Entry>> levels_;
};

}  // namespace tutti::gui
