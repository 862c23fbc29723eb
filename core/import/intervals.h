#pragma once

#include <cstdint>
#include <vector>

namespace tutti::core {

struct Interval {
  std::int64_t start = 0, end = 0;
};

/// The union of intervals: sorted, disjoint, and none empty.
std::vector<Interval> united(std::vector<Interval> all);
/// The length of what `intervals` cover between `from` and `to`, without what `without` covers too
/// (null: all of it). Both as united() makes them. Takes the time of a search, and of the intervals
/// in between.
std::int64_t covered(const std::vector<Interval>& intervals, const std::vector<Interval>* without,
                     std::int64_t from, std::int64_t to);

}  // namespace tutti::core
