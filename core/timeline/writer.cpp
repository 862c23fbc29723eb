#include "core/timeline/writer.h"

#include <map>
#include <vector>

#include <google/protobuf/io/coded_stream.h>

#include "core/proto/timeline.pb.h"

namespace tutti::core {
namespace {

constexpr std::size_t kSpansPerBlock = 4096;
constexpr std::size_t kMostHeldSpans = 256 << 10;
constexpr std::size_t kRecordsPerBlock = 1024;

void put_fixed64(std::string& bytes, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

void fill(proto::SpanColumns& columns, const std::vector<Span>& spans) {
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

}  // namespace

struct TimelineWriter::State {
  explicit State(std::ostream& o) : out(o) {}

  std::ostream& out;
  std::uint64_t offset = 0;
  proto::BlockIndex index;
  proto::TrackList tracks;
  std::map<TrackId, std::vector<Span>> held;
  std::size_t held_spans = 0;
  std::int64_t spans = 0;
  proto::StepColumns steps;
  proto::PackColumns packs;
  proto::LinkList links;
  proto::PathList path;
  proto::NoteList notes;

  void write(std::string_view bytes) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    offset += bytes.size();
  }

  void write_block(const proto::Block& block) {
    const std::string bytes = block.SerializeAsString();
    std::uint8_t prefix[10];
    const std::uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(bytes.size(), prefix);
    write({reinterpret_cast<const char*>(prefix), static_cast<std::size_t>(end - prefix)});
    write(bytes);
  }

  void enter_in_index(const proto::Block& block, TrackId track = 0, Time first = {}, Time last = {},
                      std::int64_t count = 0) {
    index.add_offset(offset);
    index.add_content(block.content_case());
    index.add_track(track);
    index.add_first_start_ps(first.count());
    index.add_last_end_ps(last.count());
    index.add_spans(count);
  }

  template <class Message>
  void flush(Message& message, Message* (proto::Block::*mutable_field)()) {
    if (message.ByteSizeLong() == 0) return;
    proto::Block block;
    (block.*mutable_field)()->Swap(&message);
    enter_in_index(block);
    write_block(block);
    message.Clear();
  }

  void flush_tracks() { flush(tracks, &proto::Block::mutable_tracks); }

  void flush_spans(TrackId track, std::vector<Span>& list) {
    if (list.empty()) return;
    // Whoever reads the file as it grows meets a track before its spans.
    flush_tracks();
    proto::Block block;
    block.mutable_spans()->set_track(track);
    fill(*block.mutable_spans(), list);
    Time last;
    for (const Span& span : list) last = std::max(last, span.start + span.duration);
    enter_in_index(block, track, list.front().start, last, static_cast<std::int64_t>(list.size()));
    write_block(block);
    held_spans -= list.size();
    list.clear();
  }

  void flush_all_spans() {
    for (auto& [track, list] : held) flush_spans(track, list);
  }
};

TimelineWriter::TimelineWriter(std::ostream& out) : state_(std::make_unique<State>(out)) {}
TimelineWriter::~TimelineWriter() = default;

bool TimelineWriter::good() const { return state_->out.good(); }
std::int64_t TimelineWriter::spans() const { return state_->spans; }

void TimelineWriter::begin(const RunInfo& run) {
  state_->write(kTimelineMagic);
  proto::Block block;
  proto::RunHeader& header = *block.mutable_run();
  header.set_scenario(run.scenario);
  header.set_scenario_file(run.scenario_file);
  header.set_scenario_text(run.scenario_text);
  header.set_version(run.version);
  header.set_executor(run.executor);
  header.set_network_model(run.network_model);
  header.set_seed(run.seed);
  header.set_steps(run.steps);
  header.set_cluster(run.cluster);
  header.set_workload(run.workload);
  header.set_strategy(run.strategy);
  header.set_timing(run.timing);
  header.set_replicas(run.replicas);
  header.set_gradient_bytes(run.gradient_bytes.count());
  header.set_communication_bound_ps(run.communication_bound.count());
  header.set_bound_reason(run.bound_reason);
  header.set_step_bound_ps(run.step_bound.count());
  for (const std::string& note : run.notes) header.add_notes(note);
  for (const RunInfo::PackInfo& pack : run.packs) {
    proto::PackInfo& entry = *header.add_packs();
    for (const std::string& gradient : pack.gradients) entry.add_gradients(gradient);
    entry.set_bytes(pack.bytes.count());
    entry.set_type(pack.type);
  }
  for (const std::string& layer : run.layers) header.add_layers(layer);
  state_->enter_in_index(block);
  state_->write_block(block);
}

void TimelineWriter::track(const Track& track) {
  proto::TrackInfo& info = *state_->tracks.add_track();
  info.set_id(track.id);
  info.set_kind(static_cast<int>(track.kind));
  info.set_worker(track.worker);
  info.set_device(track.device);
  info.set_slot(track.slot);
  info.set_lane(track.lane);
}

void TimelineWriter::span(TrackId track, const Span& span) {
  std::vector<Span>& list = state_->held[track];
  list.push_back(span);
  ++state_->held_spans;
  ++state_->spans;
  if (list.size() >= kSpansPerBlock) state_->flush_spans(track, list);
  if (state_->held_spans >= kMostHeldSpans) state_->flush_all_spans();
}

void TimelineWriter::step(const StepRecord& step) {
  proto::StepColumns& c = state_->steps;
  c.add_step(step.step);
  c.add_start_ps(step.start.count());
  c.add_end_ps(step.end.count());
  c.add_slowest(step.slowest);
  c.add_forward_ps(step.forward.count());
  c.add_backward_ps(step.backward.count());
  c.add_other_compute_ps(step.other_compute.count());
  c.add_communication_ps(step.communication.count());
  c.add_exposed_ps(step.exposed.count());
  if (static_cast<std::size_t>(c.step_size()) >= kRecordsPerBlock) state_->flush(c, &proto::Block::mutable_steps);
}

void TimelineWriter::pack(const PackRecord& pack) {
  proto::PackColumns& c = state_->packs;
  c.add_step(pack.step);
  c.add_pack(pack.pack);
  c.add_ready_ps(pack.ready.count());
  c.add_first_start_ps(pack.first_start.count());
  c.add_last_start_ps(pack.last_start.count());
  c.add_end_ps(pack.end.count());
  if (static_cast<std::size_t>(c.step_size()) >= kRecordsPerBlock) state_->flush(c, &proto::Block::mutable_packs);
}

void TimelineWriter::link(const LinkRecord& link) {
  proto::LinkLoad& load = *state_->links.add_link();
  load.set_name(link.name);
  load.set_kind(static_cast<int>(link.kind));
  load.set_bandwidth_bytes_per_s(link.bandwidth.count());
  load.set_bytes(link.bytes.count());
  load.set_busy_ps(link.busy.count());
  load.set_bin_width_ps(link.bin_width.count());
  for (const std::int64_t bytes : link.bins) load.add_bin_bytes(bytes);
  if (static_cast<std::size_t>(state_->links.link_size()) >= kRecordsPerBlock)
    state_->flush(state_->links, &proto::Block::mutable_links);
}

void TimelineWriter::path(const PathPiece& piece) {
  proto::PathPiece& p = *state_->path.add_piece();
  p.set_kind(piece.kind);
  p.set_device(piece.device);
  p.set_pack(piece.pack);
  p.set_layer(piece.layer);
  p.set_start_ps(piece.start.count());
  p.set_end_ps(piece.end.count());
  p.set_launch_ps(piece.parts.launch.count());
  for (const Time wire : piece.parts.wire) p.add_wire_ps(wire.count());
  p.set_latency_ps(piece.parts.latency.count());
  p.set_queue_ps(piece.parts.queue.count());
  p.set_reduce_ps(piece.parts.reduce.count());
  p.set_copy_ps(piece.parts.copy.count());
  p.set_slowest_link(piece.slowest_link);
  p.set_queued_at(piece.queued_at);
  p.set_queued_ps(piece.queued_time.count());
  if (static_cast<std::size_t>(state_->path.piece_size()) >= kRecordsPerBlock)
    state_->flush(state_->path, &proto::Block::mutable_path);
}

void TimelineWriter::note(const std::string& text) { state_->notes.add_note(text); }

void TimelineWriter::end() {
  state_->flush_tracks();
  state_->flush_all_spans();
  state_->flush(state_->steps, &proto::Block::mutable_steps);
  state_->flush(state_->packs, &proto::Block::mutable_packs);
  state_->flush(state_->links, &proto::Block::mutable_links);
  state_->flush(state_->path, &proto::Block::mutable_path);
  state_->flush(state_->notes, &proto::Block::mutable_notes);
  const std::uint64_t index_at = state_->offset;
  proto::Block block;
  block.mutable_index()->Swap(&state_->index);
  state_->write_block(block);
  std::string tail;
  put_fixed64(tail, index_at);
  tail += kTimelineEnd;
  state_->write(tail);
  state_->out.flush();
}

}  // namespace tutti::core
