#include "core/import/intervals.h"

#include <algorithm>

namespace tutti::core {

std::vector<Interval> united(std::vector<Interval> all) {
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::vector<Interval> made;
  for (const Interval& i : all) {
    if (i.end <= i.start) continue;
    if (!made.empty() && i.start <= made.back().end) {
      made.back().end = std::max(made.back().end, i.end);
    } else {
      made.push_back(i);
    }
  }
  return made;
}

std::int64_t covered(const std::vector<Interval>& intervals, const std::vector<Interval>* without,
                     std::int64_t from, std::int64_t to) {
  const auto ends_before = [](const Interval& x, std::int64_t t) { return x.end <= t; };
  std::int64_t sum = 0;
  auto i = std::lower_bound(intervals.begin(), intervals.end(), from, ends_before);
  for (; i != intervals.end() && i->start < to; ++i) {
    const std::int64_t begin = std::max(i->start, from), end = std::min(i->end, to);
    sum += end - begin;
    if (without == nullptr) continue;
    auto w = std::lower_bound(without->begin(), without->end(), begin, ends_before);
    for (; w != without->end() && w->start < end; ++w)
      sum -= std::min(w->end, end) - std::max(w->start, begin);
  }
  return sum;
}

}  // namespace tutti::core
