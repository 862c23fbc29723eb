#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace tutti::gui {

/// A whole number that changes at moments of the run: what it is at one, and the most that it is in any stretch, exactly.
/// 17 bytes a change.
class Counter {
 public:
  struct Change {
    core::Time at;
    std::int64_t by = 0;
  };

  Counter() = default;
  /// From 0 on; the changes in any order, those of one moment together. Cost: sorts them.
  explicit Counter(std::vector<Change> changes);

  [[nodiscard]] std::int64_t at(core::Time t) const;
  /// The most in [from, to). REQUIRES: from < to. Cost: two binary searches.
  [[nodiscard]] std::int64_t most(core::Time from, core::Time to) const;
  /// The most ever, at least 0.
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] std::size_t changes() const { return times_.size(); }

 private:
  /// Index of the first change after `t`.
  [[nodiscard]] std::size_t after(core::Time t) const;

  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> values_;                ///< from times_[i] on
  std::vector<std::vector<std::int64_t>> highest_;  ///< [0]: of each 16 values; [1]: of each 16 of those; …
  std::int64_t peak_ = 0;
};

}  // namespace tutti::gui
