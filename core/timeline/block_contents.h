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

/// The contents of a timeline, collected block by block. Spans are not stored, only the positions
/// of their blocks. All values are in valid ranges (see TimelineReader). Only the reader uses this
/// class.
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

  /// Adds the content of the block that lies between the offsets `offset` and `end` of the file.
  /// Returns false if the block is damaged; some of its records may already have been added.
  bool take(const proto::Block& block, std::uint64_t offset, std::uint64_t end);

  /// Returns the spans of a block; nullopt if the columns differ in length, are empty, or have an
  /// invalid value.
  static std::optional<std::vector<Span>> decode(const proto::SpanColumns& c);
  /// Returns the position and the time range of a block of spans. `spans` is the result of
  /// decode().
  static TimelineReader::SpanBlock describe(const std::vector<Span>& spans, TrackId track,
                                            std::uint64_t offset, std::uint64_t end);

  /// An entry of the file's index: the content type and the position of a block.
  struct IndexEntry {
    std::int32_t content = 0;         ///< a proto::Block::ContentCase
    TimelineReader::SpanBlock block;  ///< for blocks without spans, only the offsets are set
  };
  /// Appends the entries of an index block. Returns false if the index block is invalid.
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
