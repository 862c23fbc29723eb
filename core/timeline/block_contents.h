#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/timeline/reader.h"

namespace tutti::proto {
class Block;
class BlockIndex;
class LinkList;
class LinkLoad;
class PackColumns;
class PathList;
class PathPiece;
class PlanList;
class RunHeader;
class SpanColumns;
class SteadyState;
class StepColumns;
class TrackList;
}  // namespace tutti::proto

namespace tutti::core {

/// What the blocks of a timeline hold, the spans themselves aside: gathered block by block, of each only what is in sane
/// ranges (see TimelineReader). For the reader alone.
struct BlockContents {
  RunInfo run;
  std::vector<Track> tracks;
  std::vector<StepRecord> steps;
  std::vector<PackRecord> packs;
  std::vector<LinkRecord> links;
  std::vector<PathPiece> path;
  std::optional<SteadyState> steady;
  std::vector<TimelineReader::SpanBlock> span_blocks;
  std::unordered_set<TrackId> known_tracks;

  /// Takes what is in the block from `offset` to `end` of the file. False if it is damaged; then nothing of it is taken, or only
  /// what stands before the damage.
  bool take(const proto::Block& block, std::uint64_t offset, std::uint64_t end);

  /// The spans of a block. Nothing if the columns differ in length, there are none, or one holds what cannot be.
  static std::optional<std::vector<Span>> decode(const proto::SpanColumns& c);
  /// Of spans that decode() gave.
  static TimelineReader::SpanBlock describe(const std::vector<Span>& spans, TrackId track, std::uint64_t offset,
                                            std::uint64_t end);

  /// Where a block is, as the index says.
  struct IndexEntry {
    std::int32_t content = 0;         ///< a proto::Block::ContentCase
    TimelineReader::SpanBlock block;  ///< of other blocks the offsets only
  };
  /// Appends what a block of the index names. False if it cannot be.
  static bool take_index(const proto::BlockIndex& c, std::vector<IndexEntry>& entries);

 private:
  bool take_run(const proto::RunHeader& h);
  bool take_plan(const proto::PlanList& list);
  bool take_tracks(const proto::TrackList& list);
  bool take_steps(const proto::StepColumns& c);
  bool take_packs(const proto::PackColumns& c);
  bool take_links(const proto::LinkList& list);
  bool take_link(const proto::LinkLoad& l);
  bool take_path(const proto::PathList& list);
  bool take_steady(const proto::SteadyState& s);
  bool take_piece(const proto::PathPiece& p);
};

}  // namespace tutti::core
