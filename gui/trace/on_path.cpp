#include "gui/trace/on_path.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::gui {

std::vector<OnPath> on_path(const Trace& trace, std::size_t number) {
  std::vector<OnPath> parts;
  const Trace::Row& row = trace.rows()[number];
  if (row.track.kind == core::TrackKind::kLane) return parts;
  const std::string device = fmt::format("w{}/{}", row.track.worker, row.track.device);
  for (const core::PathPiece& piece : trace.sides()[row.side].path) {
    const bool in_flight =
        piece.kind == core::SpanKind::kPackInFlight || piece.kind == core::SpanKind::kExchange;
    if (in_flight == (row.track.kind == core::TrackKind::kPacks) && piece.device == device)
      parts.push_back({{piece.start, piece.end}, piece.kind, piece.pack});
  }
  std::sort(parts.begin(), parts.end(),
            [](const OnPath& a, const OnPath& b) { return a.at.from < b.at.from; });
  return parts;
}

bool is_on_path(const std::vector<OnPath>& parts, const SpanRow& spans, SpanRow::Index i) {
  const core::Time start = spans.start(i), end = spans.end(i);
  auto part = std::lower_bound(parts.begin(), parts.end(), start,
                               [](const OnPath& p, core::Time t) { return p.at.to <= t; });
  for (; part != parts.end() && part->at.from < end; ++part) {
    if (part->kind == spans.kind(i) && (part->pack < 0 || part->pack == spans.pack(i))) return true;
  }
  return false;
}

}  // namespace tutti::gui
