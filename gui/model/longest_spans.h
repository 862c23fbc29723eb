#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::gui {

/// The longest of any stretch of a row's spans: that of each 16 spans is kept, of each 16 of those, and so on. A pixel of
/// ninety spans looks at five of them and at the two blocks that it cuts; and into these only if their longest is longer than
/// all between and lies beyond the cut, since else the answer is known. 1.07 bytes a span.
class LongestSpans {
 public:
  using Index = std::uint32_t;
  struct Entry {
    std::int64_t duration = -1;
    Index index = 0;
    std::uint8_t kind = 0;
  };

  /// sums[i]: of the durations of the spans before i.
  void build(const std::vector<std::int64_t>& sums, const std::vector<std::uint8_t>& kinds);
  /// Of first … end - 1, the earliest of several. `sums`, `kinds`: the same. REQUIRES: first < end.
  [[nodiscard]] Entry longest(const std::vector<std::int64_t>& sums, const std::vector<std::uint8_t>& kinds,
                              Index first, Index end) const;

  /// Bytes of memory in use.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kFan = 16;

  [[nodiscard]] Entry of_blocks(std::size_t first, std::size_t end) const;

  std::vector<std::vector<Entry>> levels_;
};

}  // namespace tutti::gui
