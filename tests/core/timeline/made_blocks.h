#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/proto/timeline.pb.h"
#include "core/timeline/reader.h"

namespace tutti::core {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// Timelines put together block by block, to be spoilt in ways in which no writer would write them.

std::string prefixed(const std::string& block);
std::string fixed64(std::uint64_t value);
/// A file that was cut off before its index.
std::string without_index(const std::vector<proto::Block>& blocks);
std::string with_index(const std::string& blocks, const proto::BlockIndex& index);
/// As the index names a block with one span of 5 ps on track 0, or another one.
void add_entry(proto::BlockIndex& index, std::uint64_t offset, const proto::Block& block);

TimelineReader reader_of(std::string bytes);
/// Does everything that can be done with a timeline.
void use(const TimelineReader& reader);
/// All but the run's own: tracks, blocks of spans, steps, packs, links, pieces of the path.
std::size_t records(const TimelineReader& reader);

proto::Block tracks_block();
/// One span of 5 ps on track 0.
proto::Block spans_block(std::int64_t start = 0);
proto::Block steps_block();
proto::Block packs_block();
proto::Block links_block();
proto::Block path_block();
/// One of each.
std::vector<proto::Block> sane_blocks();

/// A sane file with its index, and where its blocks begin: tracks, spans, a step, the path.
struct Indexed {
  std::string bytes;
  std::vector<std::size_t> at;
};
Indexed indexed();

}  // namespace tutti::core
