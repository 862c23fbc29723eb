#include "gui/model/statistics.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti::gui {

using core::Time;

namespace {

/// REQUIRES: not empty. Puts them in another order.
Time percentile(std::vector<std::int64_t>& lengths, int percent) {
  const std::size_t rank = (lengths.size() - 1) * static_cast<std::size_t>(percent) / 100;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(rank), lengths.end());
  return Time(lengths[rank]);
}

}  // namespace

RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range) {
  std::map<std::pair<std::size_t, int>, std::vector<std::int64_t>> lengths;
  double covered = 0;
  for (const std::size_t r : rows) {
    const SpanRow& spans = trace.rows()[r].spans;
    covered += static_cast<double>(spans.busy(range.from, range.to).count());
    SpanRow::Index i = spans.first_from(range.from);
    if (i > 0 && spans.end(i - 1) > range.from) --i;
    for (; i < spans.size() && spans.start(i) < range.to; ++i) {
      const Time inside = std::min(spans.end(i), range.to) - std::max(spans.start(i), range.from);
      lengths[{trace.rows()[r].side, spans.kind(i)}].push_back(inside.count());
    }
  }
  RangeStatistics all;
  all.rows = static_cast<std::int64_t>(rows.size());
  if (!rows.empty() && range.to > range.from)
    all.busy = covered / (static_cast<double>(rows.size()) * static_cast<double>(range.length().count()));
  std::map<int, Time> sums;
  for (auto& [key, of_kind] : lengths) {
    KindStatistics one;
    one.side = key.first;
    one.kind = key.second;
    one.spans = static_cast<std::int64_t>(of_kind.size());
    for (const std::int64_t length : of_kind) one.sum += Time(length);
    one.longest = Time(*std::max_element(of_kind.begin(), of_kind.end()));
    one.p50 = percentile(of_kind, 50);
    one.p99 = percentile(of_kind, 99);
    sums[one.kind] = std::max(sums[one.kind], one.sum);
    all.kinds.push_back(one);
  }
  std::stable_sort(all.kinds.begin(), all.kinds.end(), [&](const auto& a, const auto& b) {
    return std::tuple(sums[b.kind], a.kind, a.side) < std::tuple(sums[a.kind], b.kind, b.side);
  });
  return all;
}

}  // namespace tutti::gui
