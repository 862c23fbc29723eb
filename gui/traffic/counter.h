#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"

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

 private:
  /// Returns the index of the first change after `t`.
  [[nodiscard]] std::size_t after(core::Time t) const;

  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> values_;  ///< values_[i] is the value from times_[i] on
  /// highest_[0] has the maximum of each 16 values. highest_[1] has the maximum of each 16 entries
  /// of highest_[0], and so on.
  std::vector<std::vector<std::int64_t>> highest_;
  std::int64_t peak_ = 0;
};

}  // namespace tutti::gui
