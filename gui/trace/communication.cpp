#include "gui/trace/communication.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "gui/trace/messages.h"

namespace tutti::gui {

using core::Time;

namespace {

/// The number of spans that are read from the file at a time.
constexpr SpanRow::Index kSpansAtOnce = 16'384;
/// The number of spans between two checks for cancellation, and the number that is read at a time
/// from a comparison, which looks up each span.
constexpr SpanRow::Index kSpansPerCheck = 4'096;

bool has_lane_of(const Trace::Row& row, std::size_t side) {
  return row.side == side && row.track.kind == core::TrackKind::kLane;
}

/// Adds the part of a message that lies in the range.
void add(const core::Span& receive, const TimeRange& range, PairTraffic& pair) {
  const Time from = begun(receive), to = receive.start + receive.duration;
  const Time inside = std::min(to, range.to) - std::max(from, range.from);
  const bool instant = to == from && from >= range.from && from < range.to;
  if (inside <= Time() && !instant) return;
  const double share =
      instant ? 1 : static_cast<double>(inside.count()) / static_cast<double>((to - from).count());
  ++pair.messages;
  pair.bytes += share * static_cast<double>(receive.bytes.count());
  pair.time += std::max(inside, Time());
}

}  // namespace

double PairTraffic::rate() const { return time > Time() ? bytes / core::to_us(time) * 1e6 : 0; }

std::size_t devices_with_lanes(const Trace& trace, std::size_t side) {
  std::set<std::pair<std::int32_t, std::string>> devices;
  for (const Trace::Row& row : trace.rows()) {
    if (has_lane_of(row, side)) devices.emplace(row.track.worker, row.track.device);
  }
  return devices.size();
}

core::Expected<CommunicationMatrix> communication_of(const Trace& trace, const TimeRange& range,
                                                     const CommunicationOptions& options) {
  CommunicationMatrix matrix;
  std::map<std::string, std::size_t> rank_of_name;
  std::map<core::TrackId, std::size_t> rank_of_track;
  for (const Trace::Row& row : trace.rows()) {
    if (!has_lane_of(row, options.side)) continue;
    const core::Track& track = row.track;
    const std::string name = options.by_worker ? fmt::format("w{}", track.worker)
                                               : fmt::format("w{}/{}", track.worker, track.device);
    const auto [rank, is_new] = rank_of_name.emplace(name, matrix.ranks.size());
    if (is_new)
      matrix.ranks.push_back(
          {name, options.by_worker ? row.group + '/' : row.group + '/' + track.device + '/'});
    rank_of_track.emplace(track.id, rank->second);
  }
  const auto cancelled = [&] { return options.cancel && *options.cancel; };
  const SpanRow::Index at_once = trace.parts() ? kSpansPerCheck : kSpansAtOnce;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    const Trace::Row& row = trace.rows()[r];
    if (!has_lane_of(row, options.side)) continue;
    const std::size_t receiver = rank_of_track.at(row.track.id);
    SpanRow::Index i = row.spans.first_from(range.from);
    if (i > 0 && row.spans.end(i - 1) > range.from) --i;
    const SpanRow::Index end = row.spans.first_from(range.to);
    while (i < end) {
      if (cancelled()) return matrix;
      const SpanRow::Index next = std::min(end, i + at_once);
      const auto spans = trace.spans(r, i, next);
      if (!spans) return tl::make_unexpected(spans.error());
      for (std::size_t s = 0; s < spans->size(); ++s) {
        if (s % kSpansPerCheck == 0 && cancelled()) return matrix;
        const core::Span& span = (*spans)[s];
        if (span.peer == core::kNoTrack) continue;
        const auto sender = rank_of_track.find(span.peer);
        if (sender != rank_of_track.end())
          add(span, range, matrix.pairs[{sender->second, receiver}]);
      }
      i = next;
    }
  }
  std::erase_if(matrix.pairs, [](const auto& pair) { return pair.second.messages == 0; });
  return matrix;
}

}  // namespace tutti::gui
