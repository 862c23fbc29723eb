#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/proto/timeline.pb.h"
#include "core/timeline/reader.h"

namespace tutti::core {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// Timelines that are assembled block by block, so that tests can corrupt them in ways that no
/// writer does.

std::string prefixed(const std::string& block);
std::string fixed64(std::uint64_t value);
/// Returns a file that ends before its index.
std::string without_index(const std::vector<proto::Block>& blocks);
std::string with_index(const std::string& blocks, const proto::BlockIndex& index);
/// Adds the entry of a block to the index. The block has one span of 5 ps on track 0, or is not a
/// block of spans.
void add_entry(proto::BlockIndex& index, std::uint64_t offset, const proto::Block& block);

TimelineReader reader_of(std::string bytes);
/// Calls all functions that read a timeline.
void use(const TimelineReader& reader);
/// Returns the number of tracks, blocks of spans, steps, packs, links, and pieces of the path.
std::size_t records(const TimelineReader& reader);

proto::Block tracks_block();
/// Returns a block with one span of 5 ps on track 0.
proto::Block spans_block(std::int64_t start = 0);
proto::Block steps_block();
proto::Block packs_block();
proto::Block links_block();
proto::Block path_block();
/// Returns one valid block of each kind.
std::vector<proto::Block> sane_blocks();

/// A valid file with its index, and the offsets of its blocks: tracks, spans, a step, the path.
struct Indexed {
  std::string bytes;
  std::vector<std::size_t> at;
};
Indexed indexed();

}  // namespace tutti::core
