#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::gui {

/// Many times in ascending order, and where any other time lies among them.
///
/// A binary search among millions waits for memory at every step. Here every 16th time is kept once more, of these every 16th
/// again, and so on: what is looked at on the way down lies side by side, two cache lines a level, and the upper levels stay
/// in the cache. For many places at once (the edges of a row's pixels) all of them go down a level together, so that memory
/// is asked for many of them at a time instead of one after the other. Half a byte a time on top of its 8.
class SortedTimes {
 public:
  using Index = std::uint32_t;

  void reserve(std::size_t times) { times_.reserve(times); }
  /// REQUIRES: not before the last one.
  void push_back(std::int64_t time) { times_.push_back(time); }
  /// Comes after the last push_back(), before anything is looked for.
  void finish();

  [[nodiscard]] Index size() const { return static_cast<Index>(times_.size()); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return times_[i]; }
  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] std::int64_t back() const { return times_.back(); }

  /// The first that is `t` or later; size() if none is.
  [[nodiscard]] Index first_from(std::int64_t t) const;
  /// The same for each of `wanted`, into `places`. REQUIRES: they ascend; places.size() == wanted.size().
  /// Cost: where many times lie between two of them, two cache lines for each; else a walk over those times.
  void first_from_each(std::span<const std::int64_t> wanted, std::span<Index> places) const;

  /// Bytes of memory in use.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::size_t kFan = 16;

  [[nodiscard]] const std::vector<std::int64_t>& level(std::size_t i) const {
    return i == 0 ? times_ : samples_[i - 1];
  }
  [[nodiscard]] std::size_t refine(std::size_t level, std::size_t above, std::int64_t t) const;
  [[nodiscard]] std::size_t level_for(std::span<const std::int64_t> wanted) const;

  std::vector<std::int64_t> times_;
  std::vector<std::vector<std::int64_t>> samples_;  ///< [0]: the first of each 16 times; [1]: of each 16 of those; …
};

}  // namespace tutti::gui
