#include "gui/trace/statistics.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace tutti::gui {

using core::Time;

namespace {

/// Returns a percentile of the spans' durations. Reorders the lengths. REQUIRES: `lengths` is not
/// empty.
Time percentile(std::vector<std::int64_t>& lengths, int percent) {
  const std::size_t rank = (lengths.size() - 1) * static_cast<std::size_t>(percent) / 100;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(rank),
                   lengths.end());
  return Time(lengths[rank]);
}

/// Returns the spans of a row that are at least partly in the range.
std::pair<SpanRow::Index, SpanRow::Index> in_range(const SpanRow& spans, const TimeRange& range) {
  SpanRow::Index first = spans.first_from(range.from);
  if (first > 0 && spans.end(first - 1) > range.from) --first;
  return {first, spans.first_from(range.to)};
}

/// kind, side and device
using Key = std::tuple<int, std::size_t, std::string>;

struct Collected {
  std::vector<std::int64_t> lengths;
  std::int64_t rows = 0;
  double bytes = 0;
  bool bytes_known = true;
};

void collect(const Trace& trace, std::size_t r, const TimeRange& range,
             const StatisticsOptions& options, std::map<Key, Collected>& all) {
  const Trace::Row& row = trace.rows()[r];
  const std::string device =
      options.by_device ? fmt::format("w{}/{}", row.track.worker, row.track.device) : std::string();
  const auto [first, end] = in_range(row.spans, range);
  core::Expected<std::vector<core::Span>> read;
  if (options.bytes && first < end) read = trace.spans(r, first, end);
  std::unordered_map<int, Collected*>
      of_kind;  // cached, since a row has few kinds, and looking up a device's name takes time
  constexpr SpanRow::Index kLookForCancel = 4096;
  for (SpanRow::Index i = first; i < end; ++i) {
    if (i % kLookForCancel == 0 && options.cancel && *options.cancel) return;
    const Time inside =
        std::min(row.spans.end(i), range.to) - std::max(row.spans.start(i), range.from);
    const auto [found, is_first] = of_kind.emplace(row.spans.kind(i), nullptr);
    if (is_first) found->second = &all[{row.spans.kind(i), row.side, device}];
    Collected& one = *found->second;
    one.rows += is_first;
    one.lengths.push_back(inside.count());
    one.bytes_known = one.bytes_known && options.bytes && read;
    if (!options.bytes || !read) continue;
    const Time whole = row.spans.duration(i);
    const double share =
        whole > Time() ? static_cast<double>(inside.count()) / static_cast<double>(whole.count())
                       : 1;
    one.bytes += share * static_cast<double>((*read)[i - first].bytes.count());
  }
}

}  // namespace

std::int64_t spans_in(const Trace& trace, const std::vector<std::size_t>& rows,
                      const TimeRange& range) {
  std::int64_t spans = 0;
  for (const std::size_t r : rows) {
    const auto [first, end] = in_range(trace.rows()[r].spans, range);
    spans += end - first;
  }
  return spans;
}

RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows,
                              const TimeRange& range, const StatisticsOptions& options) {
  std::map<Key, Collected> collected;
  double covered = 0;
  for (const std::size_t r : rows) {
    if (options.cancel && *options.cancel) return {};
    covered += static_cast<double>(trace.rows()[r].spans.busy(range.from, range.to).count());
    collect(trace, r, range, options, collected);
  }
  const double length = static_cast<double>(std::max(range.length(), Time(1)).count());
  RangeStatistics all;
  all.rows = static_cast<std::int64_t>(rows.size());
  if (!rows.empty() && range.to > range.from)
    all.busy = covered / (static_cast<double>(rows.size()) * length);
  std::map<int, Time> sums;
  for (auto& [key, of_key] : collected) {
    KindStatistics one;
    std::tie(one.kind, one.side, one.device) = key;
    one.spans = static_cast<std::int64_t>(of_key.lengths.size());
    for (const std::int64_t part : of_key.lengths) one.sum += Time(part);
    one.longest = Time(*std::max_element(of_key.lengths.begin(), of_key.lengths.end()));
    one.p50 = percentile(of_key.lengths, 50);
    one.p99 = percentile(of_key.lengths, 99);
    one.busy = static_cast<double>(one.sum.count()) / (static_cast<double>(of_key.rows) * length);
    if (of_key.bytes_known) one.bytes = core::Bytes(std::llround(of_key.bytes));
    sums[one.kind] += one.sum;
    all.kinds.push_back(one);
  }
  // Sort the entries by the total time of their kind, largest first. Entries of the same kind keep
  // the map's order.
  std::stable_sort(all.kinds.begin(), all.kinds.end(), [&](const auto& a, const auto& b) {
    return std::tuple(sums[b.kind], a.kind) < std::tuple(sums[a.kind], b.kind);
  });
  return all;
}

}  // namespace tutti::gui
