#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::gui {

/// A sorted array of times that can be searched quickly.
///
/// A binary search among millions of times waits for memory at every step. This class therefore
/// stores every 16th time in a second array, every 16th time of the second array in a third array,
/// and so on. A search reads adjacent values, two cache lines per level, and the upper levels stay
/// in the cache. A search for many times in one call (the edges of a row's pixels) processes all
/// times level by level, so that many memory accesses overlap. Memory: 8 bytes per time, plus half
/// a byte per time for the additional arrays.
class SortedTimes {
 public:
  using Index = std::uint32_t;

  void reserve(std::size_t times) { times_.reserve(times); }
  /// Appends a time. REQUIRES: the new time is not earlier than the last time.
  void push_back(std::int64_t time) { times_.push_back(time); }
  /// Builds the additional arrays. Must be called after the last push_back() and before any search.
  void finish();

  [[nodiscard]] Index size() const { return static_cast<Index>(times_.size()); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return times_[i]; }
  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] std::int64_t back() const { return times_.back(); }

  /// Returns the index of the first time that is `t` or later; size() if there is none.
  [[nodiscard]] Index first_from(std::int64_t t) const;
  /// Computes first_from() for each value in `wanted`, and writes the results to `places`.
  /// REQUIRES: `wanted` is ascending; places.size() == wanted.size().
  /// Cost: if many times lie between consecutive values, two cache lines per value; otherwise, one
  /// scan over the times from the first to the last value.
  void first_from_each(std::span<const std::int64_t> wanted, std::span<Index> places) const;

  /// Returns the memory in use, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kFan = 16;

  [[nodiscard]] const std::vector<std::int64_t>& level(std::size_t i) const {
    return i == 0 ? times_ : samples_[i - 1];
  }
  [[nodiscard]] std::size_t refine(std::size_t level, std::size_t above, std::int64_t t) const;
  [[nodiscard]] std::size_t level_for(std::span<const std::int64_t> wanted) const;

  std::vector<std::int64_t> times_;
  /// samples_[0] has every 16th time. samples_[1] has every 16th entry of samples_[0], and so on.
  std::vector<std::vector<std::int64_t>> samples_;
};

}  // namespace tutti::gui
