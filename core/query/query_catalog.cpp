#include "core/query/query_catalog.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tutti::core {

QueryCatalog::QueryCatalog(std::vector<QueriedTimeline> queried) : timelines(std::move(queried)) {
  by_track_.resize(timelines.size());
  for (std::size_t t = 0; t < timelines.size(); ++t) {
    const TimelineReader& reader = *timelines[t].reader;
    std::map<TrackId, std::vector<TimelineReader::SpanBlock>> blocks;
    for (const auto& block : reader.span_blocks()) blocks[block.track].push_back(block);
    for (const Track& track : reader.tracks()) {
      if (!by_track_[t].emplace(track.id, rows.size()).second) continue;
      std::vector<TimelineReader::SpanBlock>& own = blocks[track.id];
      std::stable_sort(own.begin(), own.end(),
                       [](const auto& a, const auto& b) { return a.first_start < b.first_start; });
      const std::size_t first = pieces.size();
      const std::int64_t first_id = spans;
      for (const auto& block : own) {
        pieces.push_back({rows.size(), block, spans});
        spans += block.spans;
      }
      rows.push_back({t, track, fmt::format("w{}/{}", track.worker, track.device), first,
                      pieces.size(), first_id});
    }
  }
}

const QueryCatalog::Rows* QueryCatalog::find(std::size_t timeline, TrackId track) const {
  const auto found = by_track_[timeline].find(track);
  return found == by_track_[timeline].end() ? nullptr : &rows[found->second];
}

}  // namespace tutti::core
