#include "core/timeline/reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <unordered_set>

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
    count = std::min(count, size_ - offset);
    if (offset < window_at_ || offset + count > window_at_ + window_.size()) fill_window(offset, count);
    return window_.substr(static_cast<std::size_t>(offset - window_at_), static_cast<std::size_t>(count));
  }

 private:
  /// So that a file of very small blocks does not take a call of the system for each.
  void fill_window(std::uint64_t offset, std::uint64_t count) const {
    constexpr std::uint64_t kWindow = 256 << 10;
    window_.resize(static_cast<std::size_t>(std::min(std::max(count, kWindow), size_ - offset)));
    window_at_ = offset;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(window_.data(), static_cast<std::streamsize>(window_.size()));
    window_.resize(static_cast<std::size_t>(file_.gcount()));
  }

  mutable std::ifstream file_;
  std::uint64_t size_;
  mutable std::string window_;
  mutable std::uint64_t window_at_ = 0;
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

// --- sane ranges ---

/// What begins before the horizon may end a while after it.
constexpr Time kLatest = kHorizon + 16 * kLongestDuration;
/// Of workers, slots, lanes. (No cluster has as many.)
constexpr std::int32_t kMostNumber = 100'000'000;

bool are_times(std::initializer_list<std::int64_t> picoseconds) {
  return std::all_of(picoseconds.begin(), picoseconds.end(),
                     [](std::int64_t t) { return t >= 0 && t <= kLatest.count(); });
}

bool are_counts(std::initializer_list<std::int64_t> counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n >= 0; });
}

/// -1: none.
bool is_number(std::int32_t number) { return number >= -1 && number <= kMostNumber; }

bool is_kind(std::int32_t kind) { return kind >= 0 && kind <= SpanKind::kChannel; }

bool is_sane(const Span& span) {
  return are_times({span.start.count(), span.duration.count(), span.wait.count()}) &&
         span.duration <= kLatest - span.start && is_kind(span.kind) && span.step >= 0 && span.pack >= -1 &&
         span.bytes.count() >= 0 && span.peer >= kNoTrack;
}

/// As many entries in each column as in the first, and not more than `most`.
bool are_columns(std::initializer_list<int> sizes, std::size_t most) {
  const int size = *sizes.begin();
  return static_cast<std::size_t>(size) <= most &&
         std::all_of(sizes.begin(), sizes.end(), [size](int s) { return s == size; });
}

bool are_few(int records) { return static_cast<std::size_t>(records) <= kRecordsPerBlock; }

}  // namespace

struct TimelineReader::State {
  std::string name;
  std::unique_ptr<ByteSource> bytes;
  bool complete = false;
  /// What the file holds, the spans themselves aside.
  struct Content {
    RunInfo run;
    std::vector<Track> tracks;
    std::vector<StepRecord> steps;
    std::vector<PackRecord> packs;
    std::vector<LinkRecord> links;
    std::vector<PathPiece> path;
    std::vector<SpanBlock> span_blocks;
    std::unordered_set<TrackId> known_tracks;
  };
  Content content;

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
    // No block is empty: zeros are what a file system leaves of a file that it lost.
    if (!in.ReadVarint64(&length) || length == 0 || length > kLongestBlock) return std::nullopt;
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
    complete = load_by_index();
    if (!complete) {
      content = {};
      load_by_scan();
    }
    content.known_tracks = {};
    return {};
  }

  // --- the two ways through the file ---

  /// Where a block is, as the index says.
  struct IndexEntry {
    std::int32_t content = 0;  ///< a proto::Block::ContentCase
    SpanBlock block;           ///< of other blocks the offsets only
  };

  /// What the index at the end of the file says. Nothing if there is none, or its blocks do not lie one behind the other:
  /// then the same bytes might be read any number of times.
  [[nodiscard]] std::optional<std::vector<IndexEntry>> index() const {
    constexpr std::uint64_t kTail = 8 + 8;
    if (bytes->size() < kTimelineMagic.size() + kTail) return std::nullopt;
    const std::uint64_t tail_at = bytes->size() - kTail;
    const std::string tail = bytes->read(tail_at, kTail);
    if (tail.size() != kTail || std::string_view(tail).substr(8) != kTimelineEnd) return std::nullopt;
    std::uint64_t index_at = 0;
    for (int i = 7; i >= 0; --i)
      index_at = index_at << 8 | static_cast<std::uint8_t>(tail[static_cast<std::size_t>(i)]);
    std::vector<IndexEntry> entries;
    for (std::uint64_t offset = index_at; offset != tail_at;) {
      const auto raw = block_at(offset);
      if (!raw || raw->next > tail_at || !take_index(raw->block, entries)) return std::nullopt;
      offset = raw->next;
    }
    for (std::size_t i = 0; i < entries.size(); ++i) {
      SpanBlock& block = entries[i].block;
      block.end = i + 1 < entries.size() ? entries[i + 1].block.offset : index_at;
      if (block.offset < kTimelineMagic.size() || block.offset >= block.end) return std::nullopt;
    }
    return entries;
  }

  static bool take_index(const proto::Block& block, std::vector<IndexEntry>& entries) {
    if (block.content_case() != proto::Block::kIndex) return false;
    const proto::BlockIndex& c = block.index();
    const int n = c.offset_size();
    if (!are_columns(
            {n, c.content_size(), c.track_size(), c.first_start_ps_size(), c.last_end_ps_size(), c.spans_size()},
            kSpansPerBlock)) {
      return false;
    }
    for (int i = 0; i < n; ++i) {
      const bool sane = c.content(i) != proto::Block::kSpans ||
                        (c.track(i) >= 0 && are_times({c.first_start_ps(i), c.last_end_ps(i)}) && c.spans(i) > 0);
      if (!sane) return false;
      entries.push_back(
          {c.content(i), {c.offset(i), 0, c.track(i), Time(c.first_start_ps(i)), Time(c.last_end_ps(i)), c.spans(i)}});
    }
    return true;
  }

  /// Reads everything but spans by the index. False if the file has no index, or a block is not what the index says.
  bool load_by_index() {
    const auto entries = index();
    if (!entries) return false;
    for (const IndexEntry& entry : *entries) {
      if (entry.content == proto::Block::kSpans) {
        content.span_blocks.push_back(entry.block);
        continue;
      }
      const auto raw = block_at(entry.block.offset);
      if (!raw || raw->next != entry.block.end || raw->block.content_case() != entry.content) return false;
      if (!take(*raw, entry.block.offset)) return false;
    }
    return true;
  }

  /// Reads block after block, as far as they are whole, and leaves out those that are damaged inside.
  void load_by_scan() {
    std::uint64_t offset = kTimelineMagic.size();
    while (const auto raw = block_at(offset)) {
      take(*raw, offset);
      offset = raw->next;
    }
  }

  // --- blocks ---

  /// False if the block is damaged; then nothing of it is taken, or only what stands before the damage.
  bool take(const RawBlock& raw, std::uint64_t offset) {
    const proto::Block& block = raw.block;
    switch (block.content_case()) {
      case proto::Block::kRun: return take_run(block.run());
      case proto::Block::kScenarioText: content.run.scenario_text += block.scenario_text().text(); return true;
      case proto::Block::kPlan: return take_plan(block.plan());
      case proto::Block::kLayers: return take_texts(block.layers().layer(), content.run.layers);
      case proto::Block::kTracks: return take_tracks(block.tracks());
      case proto::Block::kSpans: {
        const auto spans = decode(block.spans());
        if (spans) content.span_blocks.push_back(describe(*spans, block.spans().track(), offset, raw.next));
        return spans.has_value();
      }
      case proto::Block::kSteps: return take_steps(block.steps());
      case proto::Block::kPacks: return take_packs(block.packs());
      case proto::Block::kLinks: return take_links(block.links());
      case proto::Block::kPath: return take_path(block.path());
      case proto::Block::kNotes: return take_texts(block.notes().note(), content.run.notes);
      case proto::Block::kIndex:
      case proto::Block::CONTENT_NOT_SET: return true;
    }
    return true;
  }

  bool take_run(const proto::RunHeader& h) {
    if (!are_counts({h.steps(), h.replicas(), h.gradient_bytes()}) ||
        !are_times({h.communication_bound_ps(), h.step_bound_ps()})) {
      return false;
    }
    RunInfo& run = content.run;
    run.scenario = h.scenario();
    run.scenario_file = h.scenario_file();
    run.version = h.version();
    run.executor = h.executor();
    run.network_model = h.network_model();
    run.seed = h.seed();
    run.steps = h.steps();
    run.cluster = h.cluster();
    run.workload = h.workload();
    run.strategy = h.strategy();
    run.timing = h.timing();
    run.replicas = h.replicas();
    run.gradient_bytes = Bytes(h.gradient_bytes());
    run.communication_bound = Time(h.communication_bound_ps());
    run.bound_reason = h.bound_reason();
    run.step_bound = Time(h.step_bound_ps());
    return true;
  }

  bool take_plan(const proto::PlanList& list) {
    if (!are_few(list.pack_size())) return false;
    for (const proto::PackInfo& p : list.pack()) {
      if (p.bytes() < 0 || !are_few(p.gradients_size())) return false;
      std::vector<RunInfo::PackInfo>& packs = content.run.packs;
      if (!p.goes_on()) {
        packs.push_back({{}, Bytes(p.bytes()), p.type()});
      } else if (packs.empty()) {
        return false;
      }
      packs.back().gradients.insert(packs.back().gradients.end(), p.gradients().begin(), p.gradients().end());
    }
    return true;
  }

  template <class Texts>
  static bool take_texts(const Texts& texts, std::vector<std::string>& list) {
    if (!are_few(texts.size())) return false;
    list.insert(list.end(), texts.begin(), texts.end());
    return true;
  }

  bool take_tracks(const proto::TrackList& list) {
    if (!are_few(list.track_size())) return false;
    for (const proto::TrackInfo& t : list.track()) {
      const bool sane = t.id() >= 0 && t.kind() >= 0 && t.kind() <= static_cast<int>(TrackKind::kLane) &&
                        t.worker() >= 0 && is_number(t.worker()) && is_number(t.slot()) && is_number(t.lane());
      if (!sane || !content.known_tracks.insert(t.id()).second) return false;
      content.tracks.push_back({t.id(), static_cast<TrackKind>(t.kind()), t.worker(), t.device(), t.slot(), t.lane()});
    }
    return true;
  }

  static SpanBlock describe(const std::vector<Span>& spans, TrackId track, std::uint64_t offset, std::uint64_t end) {
    Time last;
    for (const Span& span : spans) last = std::max(last, span.start + span.duration);
    return {offset, end, track, spans.front().start, last, static_cast<std::int64_t>(spans.size())};
  }

  bool take_steps(const proto::StepColumns& c) {
    const int n = c.step_size();
    if (!are_columns({n, c.start_ps_size(), c.end_ps_size(), c.slowest_size(), c.forward_ps_size(),
                      c.backward_ps_size(), c.other_compute_ps_size(), c.communication_ps_size(), c.exposed_ps_size()},
                     kRecordsPerBlock)) {
      return false;
    }
    const int awaited = c.awaited_size();
    if ((awaited != 0 && awaited != n) || c.awaited_for_ps_size() != awaited) return false;
    for (int i = 0; i < n; ++i) {
      if (c.step(i) < 0 || c.end_ps(i) < c.start_ps(i) ||
          !are_times({c.start_ps(i), c.end_ps(i), c.forward_ps(i), c.backward_ps(i), c.other_compute_ps(i),
                      c.communication_ps(i), c.exposed_ps(i)})) {
        return false;
      }
      content.steps.push_back({c.step(i), Time(c.start_ps(i)), Time(c.end_ps(i)), c.slowest(i), Time(c.forward_ps(i)),
                               Time(c.backward_ps(i)), Time(c.other_compute_ps(i)), Time(c.communication_ps(i)),
                               Time(c.exposed_ps(i))});
      if (awaited == 0) continue;
      if (!are_times({c.awaited_for_ps(i)})) return false;
      content.steps.back().awaited = c.awaited(i);
      content.steps.back().awaited_for = Time(c.awaited_for_ps(i));
    }
    return true;
  }

  bool take_packs(const proto::PackColumns& c) {
    const int n = c.step_size();
    if (!are_columns(
            {n, c.pack_size(), c.ready_ps_size(), c.first_start_ps_size(), c.last_start_ps_size(), c.end_ps_size()},
            kRecordsPerBlock)) {
      return false;
    }
    for (int i = 0; i < n; ++i) {
      if (c.step(i) < 0 || c.pack(i) < -1 ||
          !are_times({c.ready_ps(i), c.first_start_ps(i), c.last_start_ps(i), c.end_ps(i)})) {
        return false;
      }
      content.packs.push_back({c.step(i), c.pack(i), Time(c.ready_ps(i)), Time(c.first_start_ps(i)),
                               Time(c.last_start_ps(i)), Time(c.end_ps(i))});
    }
    return true;
  }

  bool take_links(const proto::LinkList& list) {
    if (!are_few(list.link_size())) return false;
    for (const proto::LinkLoad& l : list.link()) {
      if (!take_link(l)) return false;
    }
    return true;
  }

  bool take_link(const proto::LinkLoad& l) {
    std::vector<LinkRecord>& links = content.links;
    if (l.goes_on() && links.empty()) return false;
    LinkRecord fresh;
    if (!l.goes_on()) {
      if (l.kind() < 0 || l.kind() >= kLinkKinds || !are_counts({l.bandwidth_bytes_per_s(), l.bytes()}) ||
          !are_times({l.busy_ps(), l.bin_width_ps()})) {
        return false;
      }
      fresh = {l.name(),
               static_cast<LinkKind>(l.kind()),
               Bandwidth(l.bandwidth_bytes_per_s()),
               Bytes(l.bytes()),
               Time(l.busy_ps()),
               Time(l.bin_width_ps()),
               {}};
    }
    LinkRecord& link = l.goes_on() ? links.back() : fresh;
    const std::int64_t bins = static_cast<std::int64_t>(link.bins.size()) + l.bin_bytes_size();
    if (bins > 0 && link.bin_width.count() > kLatest.count() / bins) return false;
    if (std::any_of(l.bin_bytes().begin(), l.bin_bytes().end(), [](std::int64_t b) { return b < 0; })) return false;
    link.bins.insert(link.bins.end(), l.bin_bytes().begin(), l.bin_bytes().end());
    if (!l.goes_on()) links.push_back(std::move(fresh));
    return true;
  }

  bool take_path(const proto::PathList& list) {
    if (!are_few(list.piece_size())) return false;
    for (const proto::PathPiece& p : list.piece()) {
      if (!take_piece(p)) return false;
    }
    return true;
  }

  bool take_piece(const proto::PathPiece& p) {
    if (!is_kind(p.kind()) || p.pack() < -1 || p.wire_ps_size() != kLinkKinds || p.end_ps() < p.start_ps() ||
        !are_times({p.start_ps(), p.end_ps(), p.queued_ps()})) {
      return false;
    }
    // Pieces follow each other, and the parts of each add up to no more than its length: whoever adds them up stays
    // below the end of the last.
    if (!content.path.empty() && Time(p.start_ps()) < content.path.back().end) return false;
    std::int64_t left = p.end_ps() - p.start_ps();
    const auto part = [&left](std::int64_t t) {
      if (t < 0 || t > left) return false;
      left -= t;
      return true;
    };
    if (!part(p.launch_ps()) || !part(p.latency_ps()) || !part(p.queue_ps()) || !part(p.reduce_ps()) ||
        !part(p.copy_ps()) || !std::all_of(p.wire_ps().begin(), p.wire_ps().end(), part)) {
      return false;
    }
    PathPiece& piece = content.path.emplace_back();
    piece.kind = p.kind();
    piece.device = p.device();
    piece.pack = p.pack();
    piece.layer = p.layer();
    piece.start = Time(p.start_ps());
    piece.end = Time(p.end_ps());
    piece.parts.launch = Time(p.launch_ps());
    for (int i = 0; i < kLinkKinds; ++i) piece.parts.wire[static_cast<std::size_t>(i)] = Time(p.wire_ps(i));
    piece.parts.latency = Time(p.latency_ps());
    piece.parts.queue = Time(p.queue_ps());
    piece.parts.reduce = Time(p.reduce_ps());
    piece.parts.copy = Time(p.copy_ps());
    piece.slowest_link = p.slowest_link();
    piece.queued_at = p.queued_at();
    piece.queued_time = Time(p.queued_ps());
    return true;
  }

  /// Nothing if the columns differ in length, there are none, or one holds what cannot be.
  static std::optional<std::vector<Span>> decode(const proto::SpanColumns& c) {
    const int n = c.start_ps_size();
    if (n == 0 || c.track() < 0 ||
        !are_columns({n, c.duration_ps_size(), c.wait_ps_size(), c.kind_size(), c.step_size(), c.pack_size(),
                      c.index_size(), c.bytes_size(), c.peer_size(), c.peer_index_size()},
                     kSpansPerBlock)) {
      return std::nullopt;
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
      if (!is_sane(span)) return std::nullopt;
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

const RunInfo& TimelineReader::run() const { return state_->content.run; }
const std::vector<Track>& TimelineReader::tracks() const { return state_->content.tracks; }
const std::vector<StepRecord>& TimelineReader::steps() const { return state_->content.steps; }
const std::vector<PackRecord>& TimelineReader::packs() const { return state_->content.packs; }
const std::vector<LinkRecord>& TimelineReader::links() const { return state_->content.links; }
const std::vector<PathPiece>& TimelineReader::path() const { return state_->content.path; }
const std::vector<TimelineReader::SpanBlock>& TimelineReader::span_blocks() const {
  return state_->content.span_blocks;
}
bool TimelineReader::complete() const { return state_->complete; }

Expected<std::vector<Span>> TimelineReader::read(const SpanBlock& block) const {
  const auto raw = state_->block_at(block.offset);
  std::optional<std::vector<Span>> spans;
  if (raw && raw->block.content_case() == proto::Block::kSpans) spans = State::decode(raw->block.spans());
  // The index may say what it likes.
  if (!spans || State::describe(*spans, raw->block.spans().track(), block.offset, raw->next) != block) {
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
