#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::gui {

/// Times in ascending order, searched by value.
///
/// A binary search among millions of times waits for memory at every step. Here every 16th time is
/// also stored in a second array, every 16th of those in a third, and so on. A search then reads
/// neighbouring values, two cache lines per level, and the upper levels stay in the cache. Searches
/// for many times at once (the edges of a row's pixels) go down level by level together, so that
/// many memory accesses overlap. Half a byte per time in addition to its 8.
class SortedTimes {
 public:
  using Index = std::uint32_t;

  void reserve(std::size_t times) { times_.reserve(times); }
  /// Appends a time. REQUIRES: it is not earlier than the last one.
  void push_back(std::int64_t time) { times_.push_back(time); }
  /// To be called after the last push_back() and before any search.
  void finish();

  [[nodiscard]] Index size() const { return static_cast<Index>(times_.size()); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return times_[i]; }
  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] std::int64_t back() const { return times_.back(); }

  /// Returns the index of the first time that is `t` or later; size() if there is none.
  [[nodiscard]] Index first_from(std::int64_t t) const;
  /// Writes first_from() of each of `wanted` to `places`. REQUIRES: `wanted` is ascending;
  /// places.size() == wanted.size().
  /// Cost: two cache lines for each if many times lie between two of them; else a scan of those
  /// times.
  void first_from_each(std::span<const std::int64_t> wanted, std::span<Index> places) const;

  /// Returns the bytes of memory in use.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kFan = 16;

  [[nodiscard]] const std::vector<std::int64_t>& level(std::size_t i) const {
    return i == 0 ? times_ : samples_[i - 1];
  }
  [[nodiscard]] std::size_t refine(std::size_t level, std::size_t above, std::int64_t t) const;
  [[nodiscard]] std::size_t level_for(std::span<const std::int64_t> wanted) const;

  std::vector<std::int64_t> times_;
  std::vector<std::vector<std::int64_t>>
      samples_;  ///< [0] contains every 16th time, [1] every 16th of those, and so on
};

}  // namespace tutti::gui
