#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// An integer that changes during the run, such as the number of bytes in flight. Computes the
/// value at any time, and the exact maximum in any time range. Memory: 17 bytes per change.
class Counter {
 public:
  struct Change {
    core::Time at;
    std::int64_t by = 0;
  };

  Counter() = default;
  /// The value is 0 before the first change. Changes may be in any order. Simultaneous changes are
  /// added up. Cost: sorting the changes.
  explicit Counter(std::vector<Change> changes);

  [[nodiscard]] std::int64_t at(core::Time t) const;
  /// Returns the maximum in [from, to). REQUIRES: from < to. Cost: two binary searches.
  [[nodiscard]] std::int64_t most(core::Time from, core::Time to) const;
  /// Returns the maximum over the run, at least 0.
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] std::size_t changes() const { return times_.size(); }
  /// Returns the number of changes in [from, to).
  [[nodiscard]] std::size_t changes(core::Time from, core::Time to) const;
  /// Returns the memory in use, in bytes.
  [[nodiscard]] std::size_t memory() const { return times_.capacity() * 17; }

 private:
  friend class MergedCounter;
  void build_maxima();
  /// Returns the index of the first change after `t`.
  [[nodiscard]] std::size_t after(core::Time t) const;

  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> values_;  ///< values_[i] is the value from times_[i] on
  /// highest_[0] has the maximum of each group of 16 consecutive values. highest_[1] has the
  /// maximum of each group of 16 consecutive entries of highest_[0], and so on.
  std::vector<std::vector<std::int64_t>> highest_;
  std::int64_t peak_ = 0;
};

/// Builds a counter that has few values, from counters of consecutive parts of the run.
class MergedCounter {
 public:
  /// `merged`: the number of consecutive changes that are merged into one value, the maximum of the
  /// counter after each of these changes. If `merged` is 1, the counter keeps all changes. `gap`: a
  /// value that lasts longer than this is not merged with other values, so that a long time without
  /// messages does not look busy.
  MergedCounter(std::size_t merged, core::Time gap) : merged_(merged), gap_(gap.count()) {}
  /// Appends the values that `part` has in the range. REQUIRES: the range begins at the end of the
  /// previous call's range.
  void append(const Counter& part, const TimeRange& range);
  /// Returns the counter. Must be called only once.
  Counter finish();

 private:
  void append(std::int64_t at, std::int64_t value);
  void separate_last();

  std::size_t merged_;
  std::int64_t gap_;
  std::size_t in_value_ = 0;  ///< the number of changes that were merged into the last value so far
  std::int64_t last_at_ = 0, last_value_ = 0;  ///< the last change
  Counter made_;
};

}  // namespace tutti::gui
