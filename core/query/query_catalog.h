#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/query/timeline_query.h"

namespace tutti::core {

/// The timelines of a query, and an index of their blocks of spans. Spans are numbered by timeline
/// first, then by track, and then by time. The number of a span is the value of the column
/// `span_id`.
struct QueryCatalog {
  /// A track with its blocks, which are pieces[first_piece] … pieces[end_piece - 1].
  struct Rows {
    std::size_t timeline = 0;
    Track track;
    std::string device;  ///< such as "w0/gpu1"
    std::size_t first_piece = 0, end_piece = 0;
    std::int64_t first_id = 0;  ///< the id of the first span of the track
  };
  struct Piece {
    std::size_t rows = 0;  ///< the index of the track in `rows`
    TimelineReader::SpanBlock block;
    std::int64_t first_id = 0;  ///< the id of the first span of the block
  };

  explicit QueryCatalog(std::vector<QueriedTimeline> queried);
  /// Returns the track of a timeline; null if the timeline has no such track.
  [[nodiscard]] const Rows* find(std::size_t timeline, TrackId track) const;

  std::vector<QueriedTimeline> timelines;
  std::vector<Rows> rows;
  std::vector<Piece> pieces;
  std::int64_t spans = 0;

 private:
  std::vector<std::map<TrackId, std::size_t>>
      by_track_;  ///< for each timeline: the indices of its tracks in `rows`
};

}  // namespace tutti::core
