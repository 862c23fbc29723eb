// Reads a file that consists of blocks, each of which begins with its length. An index of the
// blocks is at the end of the file. A run writes its timeline continuously and may be killed, so
// the file may end anywhere; it may also be damaged. There are two ways to read a file. With the
// index, the reader also finds the blocks after a damaged block. A scan from the beginning of the
// file needs no index, but ends at the first offset at which no block begins. If the index is
// missing or lists a damaged block, the reader also scans the file. The reader then uses whichever
// result has more intact blocks, because the index may be wrong. Damage is described in damage().
// Damage is an error only if no block is intact.
//
// Every length is checked before it is used, and an index must list blocks in order and without
// overlap. These checks prevent a forged file from making the reader read the same bytes many
// times. The contents of blocks are decoded in block_contents.cpp, and bytes come from
// byte_source.h.

#include "core/timeline/reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include "core/base/format.h"
#include "core/proto/timeline.pb.h"
#include "core/timeline/block_contents.h"
#include "core/timeline/byte_source.h"
#include "core/timeline/checksum.h"
#include "core/timeline/writer.h"

namespace tutti::core {

/// The maximum size, in bytes, of the length field at the beginning of a block.
static constexpr std::uint64_t kLongestPrefix = 10;

struct TimelineReader::State {
  std::string name;
  std::shared_ptr<const ByteSource> bytes;
  Check check = Check::kNow;
  bool checked = false;         ///< true if every block has a checksum
  std::string damage;           ///< description of all damage
  std::string damage_of_walk;   ///< description of all damage except the blocks in `lost`
  std::vector<SpanBlock> lost;  ///< damaged blocks of spans that the index lists
  BlockContents content;

  /// The result of reading a file block by block.
  struct Walk {
    std::size_t whole = 0;                      ///< number of intact blocks
    std::size_t damaged = 0;                    ///< number of damaged blocks
    std::uint64_t first = 0;                    ///< offset of the first damaged block
    std::optional<std::uint64_t> stopped_at{};  ///< the offset at which the scan found no block;
                                                ///< nullopt if the scan reached the end of the file
    bool index_seen = false;

    void met(bool whole_block, std::uint64_t at) {
      if (!whole_block && damaged++ == 0) first = at;
      whole += whole_block;
    }
  };

  struct RawBlock {
    proto::Block block;
    std::uint64_t next = 0;  ///< offset of the next block
  };

  /// Returns the length of the block that begins with these bytes, and the offset of the block's
  /// content; nullopt if no block begins here.
  static std::optional<std::pair<std::uint64_t, std::uint64_t>> length_and_start(
      std::string_view bytes) {
    google::protobuf::io::CodedInputStream in(
        reinterpret_cast<const std::uint8_t*>(bytes.data()),
        static_cast<int>(std::min<std::size_t>(bytes.size(), kLongestPrefix)));
    std::uint64_t length = 0;
    // A length of 0 is damage, because no block is empty; after a loss of data, a file system may
    // leave zeros in a file.
    if (!in.ReadVarint64(&length) || length == 0 || length > kLongestBlock) return std::nullopt;
    return std::pair(length, static_cast<std::uint64_t>(in.CurrentPosition()));
  }

  /// Returns the range of the block at `offset`; nullopt if no block begins there or the file ends
  /// within the block.
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> extent_at(
      std::uint64_t offset, ReadAhead& ahead) const {
    const auto found = length_and_start(ahead.read(offset, kLongestPrefix));
    if (!found) return std::nullopt;
    const std::uint64_t start = offset + found->second;
    if (start > bytes->size() || found->first > bytes->size() - start) return std::nullopt;
    return std::pair(start, start + found->first);
  }

  /// Adds the serialized fields to `block`.
  [[nodiscard]] bool parse(proto::Block& block, std::string_view serialized) const {
    if (checked && !has_right_checksum(serialized)) return false;
    const google::protobuf::LogSilencer quiet;  // damage is reported by our own errors
    google::protobuf::io::CodedInputStream in(
        reinterpret_cast<const std::uint8_t*>(serialized.data()),
        static_cast<int>(serialized.size()));
    return block.MergeFromCodedStream(&in) && in.ConsumedEntireMessage();
  }

  /// Returns the block at `offset`, for reading block by block. Returns nullopt if no block begins
  /// there or the file ends within the block.
  [[nodiscard]] std::optional<RawBlock> next_block(std::uint64_t offset, ReadAhead& ahead) const {
    const auto extent = extent_at(offset, ahead);
    if (!extent) return std::nullopt;
    RawBlock result;
    if (!parse(result.block, ahead.read(extent->first, extent->second - extent->first)))
      return std::nullopt;
    result.next = extent->second;
    return result;
  }

  /// Parses the block that occupies the bytes from `offset` to `end` according to the index.
  /// Returns false if these bytes are not one whole block. Reads only these bytes, in one call:
  /// reading ahead would be useless, because the blocks of one track lie far apart.
  [[nodiscard]] bool parse_between(std::uint64_t offset, std::uint64_t end,
                                   proto::Block& block) const {
    if (end <= offset || end - offset > kLongestBlock + kLongestPrefix) return false;
    const std::string read = bytes->read(offset, end - offset);
    const auto found = length_and_start(read);
    return found && found->first + found->second == end - offset && read.size() == end - offset &&
           parse(block, std::string_view(read).substr(found->second));
  }

  Expected<void> load() {
    if (bytes->read(0, kTimelineMagic.size()) != kTimelineMagic) {
      return tl::make_unexpected(Error::request(
          {ProblemCode::kWrongType},
          "this is not a timeline; tutti simulate SCENARIO --timeline FILE writes one",
          {name, 0, 0}));
    }
    checked = states_checksums();
    const auto entries = index();
    const Walk by_index = entries ? load_by_index(*entries) : Walk{};
    if (!entries || by_index.damaged > 0 || !lost.empty()) {
      // Use the result with more intact blocks, because a wrong index makes intact blocks look
      // damaged.
      BlockContents indexed = std::exchange(content, {});
      const Walk by_scan = load_by_scan();
      const bool scan = by_scan.whole > by_index.whole;
      if (scan) {
        lost.clear();
      } else {
        content = std::move(indexed);
      }
      if (scan || by_index.damaged > 0)
        damage_of_walk = scan ? damage_of(by_scan) : damage_in_words(by_index);
      if (!scan && by_index.whole == 0)
        return tl::make_unexpected(Error::request(
            {ProblemCode::kSyntax},
            "no block of this timeline is intact: the file " + damage_of(by_scan), {name, 0, 0}));
    }
    content.known_tracks = {};
    report_damage();
    return {};
  }

  /// True if the first block is a header which says that all blocks have checksums. The header has
  /// a flag for this, and a checksum of its own. The flag or the checksum alone suffices, because
  /// damage may have removed the other.
  [[nodiscard]] bool states_checksums() const {
    ReadAhead ahead(*bytes);
    const auto header = next_block(kTimelineMagic.size(), ahead);
    return header && header->block.has_run() &&
           (header->block.run().checked() || header->block.crc32c() != 0);
  }

  /// Returns the spans of a block; nullopt if the block is damaged or differs from its index entry.
  [[nodiscard]] std::optional<std::vector<Span>> spans_of(const SpanBlock& block) const {
    // `raw` is reused for all blocks, because allocating the memory of its columns took a third of
    // the time.
    static thread_local proto::Block raw;
    proto::SpanColumns* const columns = raw.has_spans() ? raw.release_spans() : nullptr;
    raw.Clear();
    if (columns != nullptr) {
      columns->Clear();
      raw.set_allocated_spans(columns);
    }
    if (!parse_between(block.offset, block.end, raw) || !raw.has_spans()) return std::nullopt;
    auto spans = BlockContents::decode(raw.spans());
    if (!spans ||
        BlockContents::describe(*spans, raw.spans().track(), block.offset, block.end) != block)
      return std::nullopt;
    return spans;
  }

  // --- descriptions of damage ---

  /// Describes the damaged blocks: "is damaged at byte 108: 1 of its 12 blocks is damaged, and …".
  static std::string damage_in_words(const Walk& walk) {
    return fmt::format(
        "is damaged at byte {}: {} of its {} blocks {} damaged, and the contents of {} are missing",
        walk.first, walk.damaged, walk.whole + walk.damaged, walk.damaged == 1 ? "is" : "are",
        walk.damaged == 1 ? "this block" : "these blocks");
  }

  /// Describes the damage of a file that was read without its index.
  [[nodiscard]] std::string damage_of(const Walk& walk) const {
    const std::uint64_t end = bytes->size();
    const bool has_end =
        end >= kTimelineEnd.size() &&
        bytes->read(end - kTimelineEnd.size(), kTimelineEnd.size()) == kTimelineEnd;
    if (walk.damaged > 0)
      return damage_in_words(walk) +
             (walk.index_seen || has_end ? "" : "; the file also ends before its index");
    if (walk.index_seen && has_end)
      return "has a damaged index; everything before the index is intact";
    if (walk.index_seen)
      return "is truncated within its index; everything before the index is intact";
    if (!walk.stopped_at)
      return "ends before its index: the run was interrupted, or the file was truncated";
    if (has_end || !was_cut_at(*walk.stopped_at))
      return fmt::format("is damaged at byte {}; the rest cannot be read", *walk.stopped_at);
    return fmt::format(
        "ends before its index, in a block that begins at byte {}: the run was interrupted, or the "
        "file was truncated",
        *walk.stopped_at);
  }

  /// True if a block begins at `offset` but the file ends within it.
  [[nodiscard]] bool was_cut_at(std::uint64_t offset) const {
    const std::string prefix = bytes->read(offset, kLongestPrefix);
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(prefix.data()),
                                              static_cast<int>(prefix.size()));
    std::uint64_t length = 0;
    if (!in.ReadVarint64(&length)) return prefix.size() < kLongestPrefix;
    return length > 0 && length <= kLongestBlock;
  }

  /// Sets `damage` to the description of all damage.
  void report_damage() {
    damage = damage_of_walk;
    if (lost.empty()) return;
    if (damage.empty()) damage = fmt::format("is damaged at byte {}", lost.front().offset);
    damage += (damage_of_walk.empty() ? ": " : "; besides, ") + lost_in_words();
  }

  /// Describes the missing spans: "4096 of its 14160 spans are missing, on w0/gpu1, between 60.1 ms
  /// and 61.2 ms".
  [[nodiscard]] std::string lost_in_words() const {
    std::int64_t spans = 0, all = 0;
    Time from = kNever, to;
    std::set<std::string> devices;
    for (const SpanBlock& block : content.span_blocks) all += block.spans;
    for (const SpanBlock& block : lost) {
      spans += block.spans;
      from = std::min(from, block.first_start);
      to = std::max(to, block.last_end);
      const auto track = std::find_if(content.tracks.begin(), content.tracks.end(),
                                      [&](const Track& t) { return t.id == block.track; });
      devices.insert(
          track == content.tracks.end() ? "" : fmt::format("w{}/{}", track->worker, track->device));
    }
    const std::string whose = devices.size() > 1         ? fmt::format("{} devices", devices.size())
                              : devices.begin()->empty() ? "an unknown device"
                                                         : *devices.begin();
    return fmt::format("{} of its {} spans {} missing, on {}, between {} and {}", spans,
                       all + spans, spans == 1 ? "is" : "are", whose, show(from), show(to));
  }

  // --- reading by index or by scan ---

  /// Returns the entries of the index at the end of the file; nullopt if the file has no index.
  /// Also returns nullopt if the listed blocks overlap or are out of order. A forged index could
  /// otherwise make the reader read the same bytes many times.
  [[nodiscard]] std::optional<std::vector<BlockContents::IndexEntry>> index() const {
    constexpr std::uint64_t kTail = 8 + 8;
    if (bytes->size() < kTimelineMagic.size() + kTail) return std::nullopt;
    const std::uint64_t tail_at = bytes->size() - kTail;
    const std::string tail = bytes->read(tail_at, kTail);
    if (tail.size() != kTail || std::string_view(tail).substr(8) != kTimelineEnd)
      return std::nullopt;
    std::uint64_t index_at = 0;
    for (int i = 7; i >= 0; --i) index_at = index_at << 8 | static_cast<std::uint8_t>(tail[i]);
    std::vector<BlockContents::IndexEntry> listed;
    ReadAhead ahead(*bytes);
    for (std::uint64_t offset = index_at; offset != tail_at;) {
      const auto raw = next_block(offset, ahead);
      if (!raw || raw->next > tail_at || raw->block.content_case() != proto::Block::kIndex ||
          !BlockContents::take_index(raw->block.index(), listed))
        return std::nullopt;
      offset = raw->next;
    }
    auto all = with_earlier(listed);
    if (!all) return std::nullopt;
    std::vector<BlockContents::IndexEntry>& entries = *all;
    // The first entry must be the first block of the file. Otherwise the offset of the index is
    // wrong and points to a later part of the index, which lists only some of the blocks.
    if (checked && !entries.empty() && entries.front().block.offset != kTimelineMagic.size())
      return std::nullopt;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      SpanBlock& block = entries[i].block;
      block.end = i + 1 < entries.size() ? entries[i + 1].block.offset : index_at;
      if (block.offset < kTimelineMagic.size() || block.offset >= block.end) return std::nullopt;
    }
    return entries;
  }

  /// Inserts the entries of each listed block of earlier_index before the block's own entry.
  /// Returns nullopt if such a block is damaged or listed twice, because a forged index could
  /// otherwise list one block many times.
  [[nodiscard]] std::optional<std::vector<BlockContents::IndexEntry>> with_earlier(
      const std::vector<BlockContents::IndexEntry>& listed) const {
    std::vector<BlockContents::IndexEntry> entries;
    ReadAhead ahead(*bytes);
    std::uint64_t last = 0;
    for (const BlockContents::IndexEntry& entry : listed) {
      if (entry.content == proto::Block::kEarlierIndex) {
        if (entry.block.offset <= std::exchange(last, entry.block.offset)) return std::nullopt;
        const auto raw = next_block(entry.block.offset, ahead);
        if (!raw || raw->block.content_case() != proto::Block::kEarlierIndex ||
            !BlockContents::take_index(raw->block.earlier_index(), entries))
          return std::nullopt;
      }
      entries.push_back(entry);
    }
    return entries;
  }

  /// Reads all blocks that the index lists. With Check::kWhenRead, blocks of spans are not read
  /// here; their positions and time ranges come from the index.
  Walk load_by_index(const std::vector<BlockContents::IndexEntry>& entries) {
    Walk walk;
    for (const BlockContents::IndexEntry& entry : entries) {
      if (entry.content == proto::Block::kEarlierIndex) continue;  // read with the index
      if (entry.content == proto::Block::kSpans) {
        const bool whole = check == Check::kWhenRead || spans_of(entry.block);
        (whole ? content.span_blocks : lost).push_back(entry.block);
        walk.whole += whole;
        continue;
      }
      proto::Block raw;
      const bool is_it = parse_between(entry.block.offset, entry.block.end, raw) &&
                         raw.content_case() == entry.content;
      walk.met(is_it && content.take(raw, entry.block.offset, entry.block.end), entry.block.offset);
    }
    return walk;
  }

  /// Reads consecutive blocks from the beginning, and skips blocks whose content is damaged.
  Walk load_by_scan() {
    Walk walk;
    std::uint64_t offset = kTimelineMagic.size();
    ReadAhead ahead(*bytes);
    while (const auto extent = extent_at(offset, ahead)) {
      const auto raw = next_block(offset, ahead);
      const auto is = raw ? std::optional(raw->block.content_case()) : std::nullopt;
      // Only the last 16 bytes of the file follow the index. If they are truncated, they may look
      // like a block.
      if (walk.index_seen && is != proto::Block::kIndex) break;
      walk.index_seen |= is == proto::Block::kIndex;
      // Skip blocks whose content type is unknown, because a later version of Tutti may have
      // written them.
      if (is != proto::Block::kIndex && is != proto::Block::kEarlierIndex &&
          is != proto::Block::CONTENT_NOT_SET)
        walk.met(raw && content.take(raw->block, offset, raw->next), offset);
      offset = extent->second;
    }
    if (offset < bytes->size()) walk.stopped_at = offset;
    return walk;
  }
};

TimelineReader::TimelineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TimelineReader::TimelineReader(TimelineReader&&) noexcept = default;
TimelineReader& TimelineReader::operator=(TimelineReader&&) noexcept = default;
TimelineReader::~TimelineReader() = default;

Expected<TimelineReader> TimelineReader::open(const std::string& path, Check spans) {
  auto source = open_byte_source(path);
  if (!source) return tl::make_unexpected(source.error());
  return from_source(std::move(*source), path, spans);
}

Expected<TimelineReader> TimelineReader::from_bytes(std::string bytes, const std::string& name,
                                                    Check spans) {
  return from_source(byte_source_of(std::move(bytes)), name, spans);
}

Expected<TimelineReader> TimelineReader::from_source(std::shared_ptr<const ByteSource> source,
                                                     const std::string& name, Check spans) {
  auto state = std::make_unique<State>();
  state->name = name;
  state->check = spans;
  state->bytes = std::move(source);
  if (auto loaded = state->load(); !loaded) return tl::make_unexpected(loaded.error());
  return TimelineReader(std::move(state));
}

const RunInfo& TimelineReader::run() const { return state_->content.run; }
const std::vector<Track>& TimelineReader::tracks() const { return state_->content.tracks; }
const std::vector<StepRecord>& TimelineReader::steps() const { return state_->content.steps; }
const std::vector<PackRecord>& TimelineReader::packs() const { return state_->content.packs; }
const std::vector<LinkRecord>& TimelineReader::links() const { return state_->content.links; }
const std::vector<PathPiece>& TimelineReader::path() const { return state_->content.path; }
const std::optional<SteadyState>& TimelineReader::steady() const { return state_->content.steady; }
const std::vector<TimelineReader::SpanBlock>& TimelineReader::span_blocks() const {
  return state_->content.span_blocks;
}
const std::string& TimelineReader::damage() const { return state_->damage; }

Expected<std::vector<Span>> TimelineReader::read(const SpanBlock& block) const {
  auto spans = state_->spans_of(block);
  if (spans) return std::move(*spans);
  return tl::make_unexpected(Error::request(
      {ProblemCode::kSyntax},
      fmt::format("the block at byte {} is damaged; write the timeline again", block.offset),
      {state_->name, 0, 0}));
}

void TimelineReader::leave_out(const std::vector<SpanBlock>& damaged) {
  std::vector<SpanBlock>& lost = state_->lost;
  lost.insert(lost.end(), damaged.begin(), damaged.end());
  const auto by_offset = [](const SpanBlock& a, const SpanBlock& b) { return a.offset < b.offset; };
  std::sort(lost.begin(), lost.end(), by_offset);
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  std::erase_if(state_->content.span_blocks, [&](const SpanBlock& block) {
    return std::binary_search(lost.begin(), lost.end(), block, by_offset);
  });
  state_->report_damage();
}

Expected<void> TimelineReader::replay(TimelineSink& sink) const {
  sink.begin(run());
  for (const Track& track : tracks()) sink.track(track);
  for (const SpanBlock& block : span_blocks()) {
    const Expected<std::vector<Span>> spans = read(block);
    if (!spans) return tl::make_unexpected(spans.error());
    for (const Span& span : *spans) sink.span(block.track, span);
  }
  for (const StepRecord& step : steps()) sink.step(step);
  for (const PackRecord& pack : packs()) sink.pack(pack);
  for (const LinkRecord& link : links()) sink.link(link);
  for (const PathPiece& piece : path()) sink.path(piece);
  if (steady()) sink.steady(*steady());
  sink.end();
  return {};
}

}  // namespace tutti::core
