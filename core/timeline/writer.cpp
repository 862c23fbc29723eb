// A timeline file is a sequence of blocks, each with a length, a Protobuf message and a checksum,
// followed by an index of all blocks and 16 bytes that locate the index. Most columns store the
// difference from the previous span, so that the numbers take few bytes as varints. An incomplete
// file must be readable, so a track is written before its spans. Records of training steps are
// written at the end of a step, but only if at least 16 Ki spans were added since such records were
// last written. The interval is a number of spans and not a time, so that identical runs give
// identical files. No block exceeds 1 MiB, because texts have a maximum length, and long lists of
// gradients or bins continue in the next block. docs/timelines.md describes the format, and
// reader.cpp reads it.

#include "core/timeline/writer.h"

#include <algorithm>
#include <map>
#include <vector>

#include <google/protobuf/io/coded_stream.h>

#include "core/base/check.h"
#include "core/proto/timeline.pb.h"
#include "core/timeline/checksum.h"

namespace tutti::core {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr std::size_t kMaxHeldSpans = 256 << 10;
/// The number of spans after which the records of completed steps and packs are written.
constexpr std::int64_t kSpansBetweenSteps = 16 << 10;
/// A block that has reached this size, in bytes, takes no more records. One record is small, so all
/// blocks are far smaller than kLongestBlock.
constexpr std::size_t kFullBlock = 256 << 10;

void put_fixed64(std::string& bytes, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

/// Returns `text`, truncated to kLongestText bytes. No real name is that long, but the limit keeps
/// blocks small.
std::string bounded(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  constexpr std::string_view kMore = "…";
  std::size_t length = kLongestText - kMore.size();
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    --length;  // do not cut inside a character
  return text.substr(0, length).append(kMore);
}

void fill(proto::SpanColumns& columns, const std::vector<Span>& spans) {
  // The first span of a block is stored as the difference from a span of zeros. Span's default
  // values are not all zero.
  Span before;
  before.pack = 0;
  before.peer = 0;
  before.peer_index = 0;
  for (const Span& span : spans) {
    columns.add_start_ps((span.start - before.start).count());
    columns.add_duration_ps(span.duration.count());
    columns.add_wait_ps(span.wait.count());
    columns.add_kind(span.kind);
    columns.add_step(span.step - before.step);
    columns.add_pack(span.pack - before.pack);
    columns.add_index(span.index - before.index);
    columns.add_bytes(span.bytes.count());
    columns.add_peer(span.peer - before.peer);
    columns.add_peer_index(span.peer_index - before.peer_index);
    before = span;
  }
}

/// An index entry: the position of a block and, for a block of spans, its track and time range.
struct IndexEntry {
  std::uint64_t offset = 0;
  proto::Block::ContentCase content = proto::Block::CONTENT_NOT_SET;
  TrackId track = 0;
  Time first_start;
  Time last_end;
  std::int64_t spans = 0;
};

void add(proto::BlockIndex& columns, const IndexEntry& entry) {
  columns.add_offset(entry.offset);
  columns.add_content(entry.content);
  columns.add_track(entry.track);
  columns.add_first_start_ps(entry.first_start.count());
  columns.add_last_end_ps(entry.last_end.count());
  columns.add_spans(entry.spans);
}

/// Records that wait to be written as one block.
template <class List>
struct Gathered {
  List* (proto::Block::*in_block)();
  List list = {};
  std::size_t records = 0;
  std::size_t bytes = 0;

  [[nodiscard]] bool full() const { return records >= kRecordsPerBlock || bytes >= kFullBlock; }
  /// Counts a record whose size is about `bytes_of_record`.
  void count(std::size_t bytes_of_record) {
    ++records;
    bytes += bytes_of_record;
  }
};

}  // namespace

struct TimelineWriter::State {
  explicit State(std::ostream& o) : out(o) {}

  std::ostream& out;
  std::uint64_t offset = 0;
  std::vector<IndexEntry> earlier;  ///< the blocks of earlier_index
  std::vector<IndexEntry> index;    ///< the blocks after `earlier`
  bool flushed = false;             ///< true if the file is written as a real run goes on
  std::map<TrackId, std::vector<Span>> held;
  std::size_t held_spans = 0;
  std::int64_t spans = 0;
  std::int64_t spans_at_flush = 0;  ///< value of `spans` when steps and packs were last written
  Gathered<proto::PlanList> plan{&proto::Block::mutable_plan};
  Gathered<proto::LayerList> layers{&proto::Block::mutable_layers};
  Gathered<proto::TrackList> tracks{&proto::Block::mutable_tracks};
  Gathered<proto::StepColumns> steps{&proto::Block::mutable_steps};
  Gathered<proto::PackColumns> packs{&proto::Block::mutable_packs};
  Gathered<proto::LinkList> links{&proto::Block::mutable_links};
  Gathered<proto::PathList> path{&proto::Block::mutable_path};
  Gathered<proto::NoteList> notes{&proto::Block::mutable_notes};

  void write(std::string_view bytes) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    offset += bytes.size();
  }

  void write_block(const proto::Block& block) {
    std::string bytes = block.SerializeAsString();
    append_checksum(bytes);
    TUTTI_CHECK(bytes.size() <= kLongestBlock, "a block of a timeline has {} bytes", bytes.size());
    std::uint8_t prefix[10];
    const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(bytes.size(), prefix);
    write({reinterpret_cast<const char*>(prefix), static_cast<std::size_t>(end - prefix)});
    write(bytes);
  }

  /// Moves the index entries into the file, so that the memory of a long run is bounded. Only real
  /// runs may take days, so files of simulations have all entries at the end.
  void write_earlier_index() {
    proto::Block block;
    for (const IndexEntry& listed : index) add(*block.mutable_earlier_index(), listed);
    IndexEntry& entry = earlier.emplace_back();
    entry.offset = offset;
    entry.content = block.content_case();
    index.clear();
    write_block(block);
  }

  /// Writes a block and adds its index entry. For a block of spans, `what` contains their track and
  /// time range.
  void write_indexed(const proto::Block& block, IndexEntry what = {}) {
    if (flushed && index.size() == kSpansPerBlock) write_earlier_index();
    what.offset = offset;
    what.content = block.content_case();
    index.push_back(what);
    write_block(block);
  }

  template <class List>
  void flush(Gathered<List>& gathered) {
    if (gathered.records == 0) return;
    proto::Block block;
    (block.*gathered.in_block)()->Swap(&gathered.list);
    write_indexed(block);
    gathered = {gathered.in_block};
  }

  /// If the gathered records fill a block, writes them and returns true.
  template <class List>
  bool make_room(Gathered<List>& gathered) {
    if (!gathered.full()) return false;
    flush(gathered);
    return true;
  }

  void write_header(const RunInfo& run) {
    proto::Block block;
    proto::RunHeader& header = *block.mutable_run();
    header.set_scenario(bounded(run.scenario));
    header.set_scenario_file(bounded(run.scenario_file));
    header.set_version(bounded(run.version));
    header.set_executor(bounded(run.executor));
    header.set_network_model(bounded(run.network_model));
    header.set_seed(run.seed);
    header.set_steps(run.steps);
    header.set_cluster(bounded(run.cluster));
    header.set_workload(bounded(run.workload));
    header.set_strategy(bounded(run.strategy));
    header.set_timing(bounded(run.timing));
    header.set_replicas(run.replicas);
    header.set_gradient_bytes(run.gradient_bytes.count());
    header.set_communication_bound_ps(run.communication_bound.count());
    header.set_bound_reason(bounded(run.bound_reason));
    header.set_step_bound_ps(run.step_bound.count());
    header.set_devices_in_memory(run.devices_in_memory);
    header.set_checked(true);
    write_indexed(block);
  }

  void write_scenario_text(const std::string& text) {
    for (std::size_t at = 0; at < text.size(); at += kFullBlock) {
      proto::Block block;
      block.mutable_scenario_text()->set_text(text.substr(at, kFullBlock));
      write_indexed(block);
    }
  }

  void add_plan(const RunInfo::PackInfo& pack) {
    make_room(plan);
    proto::PackInfo* entry = plan.list.add_pack();
    entry->set_bytes(pack.bytes.count());
    entry->set_type(bounded(pack.type));
    if (!pack.nccl.empty()) {
      entry->set_nccl(bounded(pack.nccl));
      entry->set_band_low(pack.band_low);
      entry->set_band_high(pack.band_high);
      if (!pack.capped_at.empty()) entry->set_capped_at(bounded(pack.capped_at));
    }
    plan.count(entry->ByteSizeLong());
    for (const std::string& gradient : pack.gradients) {
      if (make_room(plan)) {
        entry = plan.list.add_pack();
        entry->set_goes_on(true);
      }
      entry->add_gradients(bounded(gradient));
      plan.count(gradient.size());
    }
  }

  void flush_spans(TrackId track, std::vector<Span>& list) {
    if (list.empty()) return;
    // Write the tracks first, because a program that reads the file during the run must find a
    // track before its spans.
    flush(tracks);
    proto::Block block;
    block.mutable_spans()->set_track(track);
    fill(*block.mutable_spans(), list);
    IndexEntry entry;
    entry.track = track;
    entry.first_start = list.front().start;
    for (const Span& span : list)
      entry.last_end = std::max(entry.last_end, span.start + span.duration);
    entry.spans = static_cast<std::int64_t>(list.size());
    write_indexed(block, entry);
    held_spans -= list.size();
    list.clear();
  }

  void flush_all_spans() {
    for (auto& [track, list] : held) flush_spans(track, list);
  }

  void flush_steps() {
    flush(steps);
    flush(packs);
    spans_at_flush = spans;
  }

  /// Writes steps and packs before spans, so that only spans are lost if the disk becomes full.
  void flush_records() {
    flush(tracks);
    flush_steps();
    flush_all_spans();
    flush(links);
    flush(path);
    flush(notes);
  }

  void write_index() {
    const std::uint64_t index_at = offset;
    proto::Block block;
    for (const auto* entries : {&earlier, &index}) {
      for (const IndexEntry& entry : *entries) {
        add(*block.mutable_index(), entry);
        if (static_cast<std::size_t>(block.index().offset_size()) < kSpansPerBlock) continue;
        write_block(block);
        block.Clear();
      }
    }
    if (block.has_index()) write_block(block);
    std::string tail;
    put_fixed64(tail, index_at);
    tail += kTimelineEnd;
    write(tail);
  }
};

TimelineWriter::TimelineWriter(std::ostream& out) : state_(std::make_unique<State>(out)) {}
TimelineWriter::~TimelineWriter() = default;

bool TimelineWriter::good() const { return state_->out.good(); }
std::int64_t TimelineWriter::spans() const { return state_->spans; }

void TimelineWriter::begin(const RunInfo& run) {
  state_->write(kTimelineMagic);
  state_->write_header(run);
  state_->write_scenario_text(run.scenario_text);
  for (const RunInfo::PackInfo& pack : run.packs) state_->add_plan(pack);
  state_->flush(state_->plan);
  for (const std::string& layer : run.layers) {
    state_->make_room(state_->layers);
    state_->layers.list.add_layer(bounded(layer));
    state_->layers.count(layer.size());
  }
  state_->flush(state_->layers);
  for (const std::string& text : run.notes) note(text);
  state_->flush(state_->notes);
}

void TimelineWriter::track(const Track& track) {
  state_->make_room(state_->tracks);
  proto::TrackInfo& info = *state_->tracks.list.add_track();
  info.set_id(track.id);
  info.set_kind(static_cast<int>(track.kind));
  info.set_worker(track.worker);
  info.set_device(bounded(track.device));
  info.set_slot(track.slot);
  info.set_lane(track.lane);
  state_->tracks.count(info.ByteSizeLong());
}

void TimelineWriter::span(TrackId track, const Span& span) {
  std::vector<Span>& list = state_->held[track];
  list.push_back(span);
  ++state_->held_spans;
  ++state_->spans;
  if (list.size() >= kSpansPerBlock) state_->flush_spans(track, list);
  if (state_->held_spans >= kMaxHeldSpans) state_->flush_all_spans();
}

void TimelineWriter::step(const StepRecord& step) {
  state_->make_room(state_->steps);
  proto::StepColumns& c = state_->steps.list;
  c.add_step(step.step);
  c.add_start_ps(step.start.count());
  c.add_end_ps(step.end.count());
  c.add_slowest(bounded(step.slowest));
  c.add_forward_ps(step.forward.count());
  c.add_backward_ps(step.backward.count());
  c.add_other_compute_ps(step.other_compute.count());
  c.add_communication_ps(step.communication.count());
  c.add_exposed_ps(step.exposed.count());
  c.add_awaited(bounded(step.awaited));
  c.add_awaited_for_ps(step.awaited_for.count());
  c.add_slowed_ps(step.slowed.count());
  c.add_core_wait_ps(step.core_wait.count());
  state_->steps.count(step.slowest.size() + step.awaited.size());
  // Write the records of steps regularly, so that an incomplete file has the steps to which its
  // spans belong. The interval is a number of spans and not a time, so that the file is
  // reproducible.
  if (state_->spans - state_->spans_at_flush >= kSpansBetweenSteps) state_->flush_steps();
}

void TimelineWriter::pack(const PackRecord& pack) {
  state_->make_room(state_->packs);
  proto::PackColumns& c = state_->packs.list;
  c.add_step(pack.step);
  c.add_pack(pack.pack);
  c.add_ready_ps(pack.ready.count());
  c.add_first_start_ps(pack.first_start.count());
  c.add_last_start_ps(pack.last_start.count());
  c.add_end_ps(pack.end.count());
  state_->packs.count(0);
}

void TimelineWriter::link(const LinkRecord& link) {
  Gathered<proto::LinkList>& links = state_->links;
  state_->make_room(links);
  proto::LinkLoad* load = links.list.add_link();
  load->set_name(bounded(link.name));
  load->set_kind(static_cast<int>(link.kind));
  load->set_bandwidth_bytes_per_s(link.bandwidth.count());
  load->set_bytes(link.bytes.count());
  load->set_busy_ps(link.busy.count());
  load->set_bin_width_ps(link.bin_width.count());
  links.count(load->ByteSizeLong());
  for (const std::int64_t bytes : link.bins) {
    if (state_->make_room(links)) {
      load = links.list.add_link();
      load->set_goes_on(true);
      links.count(0);
    }
    load->add_bin_bytes(bytes);
    links.bytes += CodedOutputStream::VarintSize64(static_cast<std::uint64_t>(bytes));
  }
}

void TimelineWriter::path(const PathPiece& piece) {
  state_->make_room(state_->path);
  proto::PathPiece& p = *state_->path.list.add_piece();
  p.set_kind(piece.kind);
  p.set_device(bounded(piece.device));
  p.set_pack(piece.pack);
  p.set_layer(bounded(piece.layer));
  p.set_start_ps(piece.start.count());
  p.set_end_ps(piece.end.count());
  p.set_launch_ps(piece.parts.launch.count());
  for (const Time wire : piece.parts.wire) p.add_wire_ps(wire.count());
  p.set_latency_ps(piece.parts.latency.count());
  p.set_queue_ps(piece.parts.queue.count());
  p.set_reduce_ps(piece.parts.reduce.count());
  p.set_copy_ps(piece.parts.copy.count());
  p.set_host_ps(piece.parts.host.count());
  p.set_slowest_link(bounded(piece.slowest_link));
  p.set_queued_at(bounded(piece.queued_at));
  p.set_queued_ps(piece.queued_time.count());
  state_->path.count(p.ByteSizeLong());
}

void TimelineWriter::steady(const SteadyState& state) {
  proto::Block block;
  proto::SteadyState& s = *block.mutable_steady();
  s.set_step_time_ps(state.step_time.count());
  s.set_low_ps(state.low.count());
  s.set_high_ps(state.high.count());
  s.set_first_step(state.first_step);
  s.set_end_step(state.end_step);
  s.set_steady(state.steady);
  state_->write_indexed(block);
}

void TimelineWriter::note(const std::string& text) {
  state_->make_room(state_->notes);
  state_->notes.list.add_note(bounded(text));
  state_->notes.count(text.size());
}

void TimelineWriter::end() {
  state_->flush_records();
  state_->write_index();
  state_->out.flush();
}

void TimelineWriter::flush() {
  state_->flushed = true;
  state_->flush_records();
  state_->out.flush();
}

}  // namespace tutti::core
