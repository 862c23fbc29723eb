#include "core/timeline/reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include "core/proto/timeline.pb.h"
#include "core/timeline/writer.h"

namespace tutti::core {
namespace {

/// Bytes by offset: of a file, or at hand.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// The bytes from `offset` on, `count` of them or as many as there are.
  [[nodiscard]] virtual std::string read(std::uint64_t offset, std::uint64_t count) const = 0;
};

class FileBytes : public ByteSource {
 public:
  FileBytes(std::ifstream file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const override {
    if (offset >= size_) return {};
    std::string bytes(static_cast<std::size_t>(std::min(count, size_ - offset)), '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file_.gcount()));
    return bytes;
  }

 private:
  mutable std::ifstream file_;
  std::uint64_t size_;
};

class BytesAtHand : public ByteSource {
 public:
  explicit BytesAtHand(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const override {
    return offset >= bytes_.size() ? std::string()
                                   : bytes_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
  }

 private:
  std::string bytes_;
};

/// Differences added up. A damaged file may hold anything, so sums wrap around instead of overflowing.
template <class T>
class RunningSum {
 public:
  T add(T difference) {
    using Unsigned = std::make_unsigned_t<T>;
    sum_ = static_cast<T>(static_cast<Unsigned>(sum_) + static_cast<Unsigned>(difference));
    return sum_;
  }

 private:
  T sum_ = 0;
};

}  // namespace

struct TimelineReader::State {
  std::string name;
  std::unique_ptr<ByteSource> bytes;
  bool complete = false;
  RunInfo run;
  std::vector<Track> tracks;
  std::vector<StepRecord> steps;
  std::vector<PackRecord> packs;
  std::vector<LinkRecord> links;
  std::vector<PathPiece> path;
  std::vector<SpanBlock> span_blocks;

  struct RawBlock {
    proto::Block block;
    std::uint64_t next = 0;  ///< offset behind it
  };

  /// The block at `offset`; nothing if the file ends before it does, or it is none.
  [[nodiscard]] std::optional<RawBlock> block_at(std::uint64_t offset) const {
    const std::string prefix = bytes->read(offset, 10);
    google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(prefix.data()),
                                              static_cast<int>(prefix.size()));
    std::uint64_t length = 0;
    if (!in.ReadVarint64(&length) || length > kLongestBlock) return std::nullopt;
    const std::uint64_t start = offset + static_cast<std::uint64_t>(in.CurrentPosition());
    if (start > bytes->size() || length > bytes->size() - start) return std::nullopt;
    const google::protobuf::LogSilencer quiet;  // damage is told by our own errors
    RawBlock result;
    if (!result.block.ParseFromString(bytes->read(start, length))) return std::nullopt;
    result.next = start + length;
    return result;
  }

  Expected<void> load() {
    if (bytes->read(0, kTimelineMagic.size()) != kTimelineMagic) {
      return tl::make_unexpected(
          Error::request("this is not a timeline; tutti simulate SCENARIO --timeline FILE writes one", {name, 0, 0}));
    }
    if (!load_by_index()) load_by_scan();
    return {};
  }

  /// Reads everything but spans through the index at the end of the file.
  bool load_by_index() {
    constexpr std::uint64_t kTail = 8 + 8;
    if (bytes->size() < kTimelineMagic.size() + kTail) return false;
    const std::string tail = bytes->read(bytes->size() - kTail, kTail);
    if (tail.size() != kTail || std::string_view(tail).substr(8) != kTimelineEnd) return false;
    std::uint64_t index_at = 0;
    for (int i = 7; i >= 0; --i)
      index_at = index_at << 8 | static_cast<std::uint8_t>(tail[static_cast<std::size_t>(i)]);
    const auto raw = block_at(index_at);
    if (!raw || raw->block.content_case() != proto::Block::kIndex || raw->next != bytes->size() - kTail) return false;
    const proto::BlockIndex& index = raw->block.index();
    const int count = index.offset_size();
    if (index.content_size() != count || index.track_size() != count || index.first_start_ps_size() != count ||
        index.last_end_ps_size() != count || index.spans_size() != count) {
      return false;
    }
    for (int i = 0; i < count; ++i) {
      if (index.content(i) == proto::Block::kSpans) {
        span_blocks.push_back({index.offset(i), index.track(i), Time(index.first_start_ps(i)),
                               Time(index.last_end_ps(i)), index.spans(i)});
        continue;
      }
      const auto block = block_at(index.offset(i));
      if (!block) {
        *this = State{std::move(name), std::move(bytes), {}, {}, {}, {}, {}, {}, {}, {}};
        return false;
      }
      take(block->block, index.offset(i));
    }
    complete = true;
    return true;
  }

  /// Reads block after block, as far as they are whole.
  void load_by_scan() {
    std::uint64_t offset = kTimelineMagic.size();
    while (auto raw = block_at(offset)) {
      take(raw->block, offset);
      offset = raw->next;
    }
  }

  void take(const proto::Block& block, std::uint64_t offset) {
    switch (block.content_case()) {
      case proto::Block::kRun: return take_run(block.run());
      case proto::Block::kTracks:
        for (const proto::TrackInfo& t : block.tracks().track()) {
          tracks.push_back(
              {t.id(), static_cast<TrackKind>(std::clamp(t.kind(), 0, 2)), t.worker(), t.device(), t.slot(), t.lane()});
        }
        return;
      case proto::Block::kSpans: return take_span_block(block.spans(), offset);
      case proto::Block::kSteps: return take_steps(block.steps());
      case proto::Block::kPacks: return take_packs(block.packs());
      case proto::Block::kLinks:
        for (const proto::LinkLoad& l : block.links().link()) {
          links.push_back({l.name(),
                           static_cast<LinkKind>(std::clamp(l.kind(), 0, kLinkKinds - 1)),
                           Bandwidth(l.bandwidth_bytes_per_s()),
                           Bytes(l.bytes()),
                           Time(l.busy_ps()),
                           Time(l.bin_width_ps()),
                           {l.bin_bytes().begin(), l.bin_bytes().end()}});
        }
        return;
      case proto::Block::kPath:
        for (const proto::PathPiece& p : block.path().piece()) take_piece(p);
        return;
      case proto::Block::kNotes:
        run.notes.insert(run.notes.end(), block.notes().note().begin(), block.notes().note().end());
        return;
      case proto::Block::kIndex:
      case proto::Block::CONTENT_NOT_SET: return;
    }
  }

  void take_run(const proto::RunHeader& h) {
    run = {h.scenario(),
           h.scenario_file(),
           h.scenario_text(),
           h.version(),
           h.executor(),
           h.network_model(),
           h.seed(),
           h.steps(),
           h.cluster(),
           h.workload(),
           h.strategy(),
           h.timing(),
           h.replicas(),
           Bytes(h.gradient_bytes()),
           Time(h.communication_bound_ps()),
           h.bound_reason(),
           Time(h.step_bound_ps()),
           {h.notes().begin(), h.notes().end()},
           {},
           {h.layers().begin(), h.layers().end()}};
    for (const proto::PackInfo& p : h.packs())
      run.packs.push_back({{p.gradients().begin(), p.gradients().end()}, Bytes(p.bytes()), p.type()});
  }

  void take_span_block(const proto::SpanColumns& columns, std::uint64_t offset) {
    if (columns.start_ps().empty()) return;
    const std::optional<std::vector<Span>> spans = decode(columns);
    if (!spans) return;
    Time last;
    for (const Span& span : *spans)
      last = std::max(last, Time(static_cast<std::int64_t>(static_cast<std::uint64_t>(span.start.count()) +
                                                           static_cast<std::uint64_t>(span.duration.count()))));
    span_blocks.push_back(
        {offset, columns.track(), spans->front().start, last, static_cast<std::int64_t>(spans->size())});
  }

  void take_steps(const proto::StepColumns& c) {
    const int n = c.step_size();
    for (const int size :
         {c.start_ps_size(), c.end_ps_size(), c.slowest_size(), c.forward_ps_size(), c.backward_ps_size(),
          c.other_compute_ps_size(), c.communication_ps_size(), c.exposed_ps_size()}) {
      if (size != n) return;
    }
    for (int i = 0; i < n; ++i) {
      steps.push_back({c.step(i), Time(c.start_ps(i)), Time(c.end_ps(i)), c.slowest(i), Time(c.forward_ps(i)),
                       Time(c.backward_ps(i)), Time(c.other_compute_ps(i)), Time(c.communication_ps(i)),
                       Time(c.exposed_ps(i))});
    }
  }

  void take_packs(const proto::PackColumns& c) {
    const int n = c.step_size();
    for (const int size :
         {c.pack_size(), c.ready_ps_size(), c.first_start_ps_size(), c.last_start_ps_size(), c.end_ps_size()}) {
      if (size != n) return;
    }
    for (int i = 0; i < n; ++i) {
      packs.push_back({c.step(i), c.pack(i), Time(c.ready_ps(i)), Time(c.first_start_ps(i)), Time(c.last_start_ps(i)),
                       Time(c.end_ps(i))});
    }
  }

  void take_piece(const proto::PathPiece& p) {
    PathPiece piece;
    piece.kind = p.kind();
    piece.device = p.device();
    piece.pack = p.pack();
    piece.layer = p.layer();
    piece.start = Time(p.start_ps());
    piece.end = Time(p.end_ps());
    piece.parts.launch = Time(p.launch_ps());
    for (int i = 0; i < std::min(kLinkKinds, p.wire_ps_size()); ++i)
      piece.parts.wire[static_cast<std::size_t>(i)] = Time(p.wire_ps(i));
    piece.parts.latency = Time(p.latency_ps());
    piece.parts.queue = Time(p.queue_ps());
    piece.parts.reduce = Time(p.reduce_ps());
    piece.parts.copy = Time(p.copy_ps());
    piece.slowest_link = p.slowest_link();
    piece.queued_at = p.queued_at();
    piece.queued_time = Time(p.queued_ps());
    path.push_back(std::move(piece));
  }

  /// Nothing if the columns differ in length.
  static std::optional<std::vector<Span>> decode(const proto::SpanColumns& c) {
    const int n = c.start_ps_size();
    for (const int size : {c.duration_ps_size(), c.wait_ps_size(), c.kind_size(), c.step_size(), c.pack_size(),
                           c.index_size(), c.bytes_size(), c.peer_size(), c.peer_index_size()}) {
      if (size != n) return std::nullopt;
    }
    std::vector<Span> spans(static_cast<std::size_t>(n));
    RunningSum<std::int64_t> start, index, peer_index;
    RunningSum<std::int32_t> step, pack, peer;
    for (int i = 0; i < n; ++i) {
      Span& span = spans[static_cast<std::size_t>(i)];
      span.start = Time(start.add(c.start_ps(i)));
      span.duration = Time(c.duration_ps(i));
      span.wait = Time(c.wait_ps(i));
      span.kind = c.kind(i);
      span.step = step.add(c.step(i));
      span.pack = pack.add(c.pack(i));
      span.index = index.add(c.index(i));
      span.bytes = Bytes(c.bytes(i));
      span.peer = peer.add(c.peer(i));
      span.peer_index = peer_index.add(c.peer_index(i));
    }
    return spans;
  }
};

TimelineReader::TimelineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TimelineReader::TimelineReader(TimelineReader&&) noexcept = default;
TimelineReader& TimelineReader::operator=(TimelineReader&&) noexcept = default;
TimelineReader::~TimelineReader() = default;

Expected<TimelineReader> TimelineReader::open(const std::string& path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    return tl::make_unexpected(Error::request("this is a folder; name a timeline file", {path, 0, 0}));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return tl::make_unexpected(Error::request(fmt::format("cannot be read: {}", std::strerror(errno)), {path, 0, 0}));
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  auto state = std::make_unique<State>();
  state->name = path;
  state->bytes = std::make_unique<FileBytes>(std::move(file), size);
  if (auto loaded = state->load(); !loaded) return tl::make_unexpected(loaded.error());
  return TimelineReader(std::move(state));
}

Expected<TimelineReader> TimelineReader::from_bytes(std::string bytes, const std::string& name) {
  auto state = std::make_unique<State>();
  state->name = name;
  state->bytes = std::make_unique<BytesAtHand>(std::move(bytes));
  if (auto loaded = state->load(); !loaded) return tl::make_unexpected(loaded.error());
  return TimelineReader(std::move(state));
}

const RunInfo& TimelineReader::run() const { return state_->run; }
const std::vector<Track>& TimelineReader::tracks() const { return state_->tracks; }
const std::vector<StepRecord>& TimelineReader::steps() const { return state_->steps; }
const std::vector<PackRecord>& TimelineReader::packs() const { return state_->packs; }
const std::vector<LinkRecord>& TimelineReader::links() const { return state_->links; }
const std::vector<PathPiece>& TimelineReader::path() const { return state_->path; }
const std::vector<TimelineReader::SpanBlock>& TimelineReader::span_blocks() const { return state_->span_blocks; }
bool TimelineReader::complete() const { return state_->complete; }

Expected<std::vector<Span>> TimelineReader::read(const SpanBlock& block) const {
  const auto raw = state_->block_at(block.offset);
  std::optional<std::vector<Span>> spans;
  if (raw && raw->block.content_case() == proto::Block::kSpans && raw->block.spans().track() == block.track)
    spans = State::decode(raw->block.spans());
  if (!spans) {
    return tl::make_unexpected(Error::request(
        fmt::format("the block at byte {} is damaged; write the timeline again", block.offset), {state_->name, 0, 0}));
  }
  return std::move(*spans);
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
  sink.end();
  return {};
}

}  // namespace tutti::core
