#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

struct Interval {
  std::int64_t start = 0, end = 0;
};

/// Returns the union of all intervals, as a sorted list of disjoint, non-empty intervals.
std::vector<Interval> united(std::vector<Interval> all);
/// Returns how much time between `from` and `to` is covered by `intervals` but not by `without`. If
/// `without` is null, nothing is excluded. REQUIRES: both lists have the form that united()
/// returns. Cost: a binary search, plus constant time for each interval between `from` and `to`.
std::int64_t covered(const std::vector<Interval>& intervals, const std::vector<Interval>* without,
                     std::int64_t from, std::int64_t to);

}  // namespace tutti::core
