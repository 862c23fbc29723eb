#include "gui/trace/exchanges.h"

#include <algorithm>
#include <string>

namespace tutti::gui {

using core::Span;
using core::SpanKind;
using core::Time;

namespace {

/// An exchange in flight on one device.
struct Seen {
  std::int32_t step;
  std::int64_t exchange;  ///< the index of the exchange in the scenario
  Time start, end;
  std::int32_t slot;
};

bool has_exchanges(const Trace::Row& row) {
  if (row.track.kind != core::TrackKind::kPacks) return false;
  for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
    if (row.spans.kind(i) == SpanKind::kExchange) return true;
  }
  return false;
}

}  // namespace

core::Expected<Exchanges> Exchanges::read(const Trace& trace) {
  std::map<std::pair<std::int32_t, std::string>, std::vector<Seen>> by_device;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    const core::Track& track = trace.rows()[r].track;
    if (!has_exchanges(trace.rows()[r])) continue;
    std::vector<Seen>& seen = by_device[{track.worker, track.device}];
    const auto read = trace.read_row(r, [&](const Span& span) {
      if (span.kind == SpanKind::kExchange)
        seen.push_back({span.step, span.index, span.start, span.start + span.duration, track.slot});
    });
    if (!read) return tl::make_unexpected(read.error());
  }
  Exchanges exchanges;
  std::map<std::pair<std::int64_t, std::int32_t>, std::int32_t>
      numbers;  // by exchange, and by its index in the step
  for (auto& [device, seen] : by_device) {
    std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
      return std::tuple(a.step, a.exchange, a.start) < std::tuple(b.step, b.exchange, b.start);
    });
    std::int32_t nth = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const bool goes_on =
          i > 0 && seen[i].step == seen[i - 1].step && seen[i].exchange == seen[i - 1].exchange;
      nth = goes_on ? nth + 1 : 0;
      const auto number = numbers.emplace(std::pair(seen[i].exchange, nth),
                                          static_cast<std::int32_t>(numbers.size()));
      exchanges.flights_[{device.first, device.second, seen[i].slot}].push_back(
          {seen[i].start, seen[i].end, number.first->second});
    }
  }
  for (auto& [slot, flights] : exchanges.flights_)
    std::sort(flights.begin(), flights.end(),
              [](const Flight& a, const Flight& b) { return a.start < b.start; });
  return exchanges;
}

std::int32_t Exchanges::number(const core::Track& lane, Time t) const {
  const auto of = flights_.find({lane.worker, lane.device, lane.slot});
  if (of == flights_.end()) return -1;
  const auto after =
      std::upper_bound(of->second.begin(), of->second.end(), t,
                       [](Time wanted, const Flight& flight) { return wanted < flight.start; });
  return after != of->second.begin() && t <= (after - 1)->end ? (after - 1)->number : -1;
}

}  // namespace tutti::gui
