// Writes Perfetto's protobuf format packet by packet. At most 256 packets are in memory. Each text
// is written once, and later packets refer to it by number. Spans are written in the order of the
// timeline's blocks and not by time, because Perfetto itself sorts events by time. Perfetto's unit
// of time is the nanosecond, so every span also has its exact start and duration in picoseconds as
// arguments.
//
// Arrows between sends and receives are the difficult part. Perfetto connects two events that have
// the same flow id. The id is a hash of the sender's track, step, pack and index. The send and the
// receive compute it independently, so no table of messages is needed. Perfetto requires that an
// arrow ends at the beginning of a slice, and that the send precedes this slice in the file.
// write_arrival() ensures both. Reading and checking the timeline is left to TimelineReader.

#include "core/timeline/export_perfetto.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/plan/compute_kind.h"
#include "core/proto/perfetto.pb.h"
#include "core/schedule/step.h"
#include "core/text/shown.h"

namespace tutti::core {
namespace {

constexpr std::uint32_t kSequence = 1;
constexpr int kBegin = 1;
constexpr int kEnd = 2;
constexpr int kCounter = 4;
constexpr int kExplicitOrder = 3;
/// The maximum number of packets in memory. The number is small, so that packets remain in the
/// processor's cache until they are written.
constexpr int kMaxHeldPackets = 256;
/// The process id under which the counters of all links are shown. Workers have the process ids 1,
/// 2, ….
constexpr int kLinksPid = 1'000'000'000;

std::uint64_t nanoseconds_of(Time t) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, t.count()) / 1000);
}

/// The lowest three bits of a uuid, which state the kind of object that it identifies. Perfetto
/// accepts any distinct uuids except 0, and small uuids make small traces.
enum class UuidSpace : std::uint64_t { kWorker = 1, kDevice, kTrack, kLink, kLinks };
std::uint64_t uuid(UuidSpace space, std::uint64_t number) {
  return number << 3 | static_cast<std::uint64_t>(space);
}

/// Returns the flow id of a message, which identifies the message in the trace. Sender and receiver
/// compute the same id.
std::uint64_t flow_id(TrackId track, std::int32_t step, std::int32_t pack, std::int64_t index) {
  const auto number = [](auto value) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value));
  };
  std::uint64_t id = Random(number(track) << 32 | number(step)).next();
  id = Random(id ^ (number(pack) << 32)).next();
  return Random(id ^ static_cast<std::uint64_t>(index)).next();
}

/// Texts that occur in many spans. Each text is written once; spans refer to it by its index,
/// counted from 1.
constexpr std::array<const char*, 7> kArguments = {
    "training step", "pack", "step of the lane", "bytes", "waited ps", "start ps", "duration ps"};
enum class Argument { kTrainingStep, kPack, kLaneStep, kBytes, kWaited, kStart, kDuration };
constexpr std::array<const char*, 3> kCategories = {"step", "compute", "pack"};
enum class Category { kStep, kCompute, kPack };
/// The name of the part of a receive in which the message is transferred.
constexpr const char* kInFlight = "in flight";
constexpr std::uint64_t kInFlightId = 1;
template <class Text>
std::uint64_t interned_id(Text text) {
  return static_cast<std::uint64_t>(text) + 1;
}

/// Returns the sort key of a track: "gpu10" after "gpu9", and other devices after GPUs.
auto rank(const Track& track) {
  return std::tuple(track.worker, !track.device.starts_with("gpu"), track.device.size(),
                    std::string_view(track.device), track.kind, track.slot, track.lane);
}

class Exporter {
 public:
  Exporter(const TimelineReader& timeline, std::ostream& out) : timeline_(timeline), out_(out) {}

  Expected<void> run() {
    intern_shared_texts();
    declare_tracks();
    for (const TimelineReader::SpanBlock& block : timeline_.span_blocks()) {
      const Expected<std::vector<Span>> spans = timeline_.read(block);
      if (!spans) return tl::make_unexpected(spans.error());
      for (const Span& span : *spans) write_span(block.track, span);
    }
    for (std::size_t i = 0; i < timeline_.links().size(); ++i) write_link(timeline_.links()[i], i);
    flush();
    return {};
  }

 private:
  // --- packets ---

  perfetto::TracePacket& packet() {
    perfetto::TracePacket& packet = *trace_.add_packet();
    packet.set_trusted_packet_sequence_id(kSequence);
    packet.set_sequence_flags(first_ ? 1 : 2);
    first_ = false;
    return packet;
  }

  void flush() {
    trace_.SerializeToOstream(&out_);
    trace_.Clear();
  }
  void flush_if_many() {
    if (trace_.packet_size() >= kMaxHeldPackets) flush();
  }

  void intern_shared_texts() {
    perfetto::InternedData& data = *packet().mutable_interned_data();
    for (std::size_t i = 0; i < kArguments.size(); ++i)
      add(*data.mutable_debug_annotation_names(), interned_id(i), kArguments[i]);
    for (std::size_t i = 0; i < kCategories.size(); ++i)
      add(*data.mutable_event_categories(), interned_id(i), kCategories[i]);
    add(*data.mutable_event_names(), kInFlightId, kInFlight);
  }

  template <class List>
  static void add(List& list, std::uint64_t id, const std::string& text) {
    perfetto::InternedString& string = *list.Add();
    string.set_iid(id);
    string.set_name(as_utf8(text));
  }

  /// Returns the id of the span's name; on first use, also writes the name to `packet`.
  std::uint64_t name_id(const Span& span, perfetto::TracePacket& packet) {
    const std::int64_t which = names_layer(span)                      ? span.index
                               : span.kind >= SpanKind::kFirstCompute ? span.pack
                                                                      : -1;
    const auto [entry, fresh] =
        names_.try_emplace({span.kind, which}, kInFlightId + 1 + names_.size());
    if (fresh)
      add(*packet.mutable_interned_data()->mutable_event_names(), entry->second, name_of(span));
    return entry->second;
  }

  // --- tracks ---

  void declare_tracks() {
    std::vector<const Track*> tracks;
    for (const Track& track : timeline_.tracks()) tracks.push_back(&track);
    std::stable_sort(tracks.begin(), tracks.end(),
                     [](const Track* a, const Track* b) { return rank(*a) < rank(*b); });
    const Track* before = nullptr;
    std::int32_t place = 0;
    std::uint64_t devices = 0;
    for (const Track* track : tracks) {
      const bool other_worker = before == nullptr || before->worker != track->worker;
      const bool other_device = other_worker || before->device != track->device;
      before = track;
      const std::uint64_t worker_uuid =
          uuid(UuidSpace::kWorker, static_cast<std::uint64_t>(track->worker));
      if (other_worker) {
        perfetto::TrackDescriptor& worker = *packet().mutable_track_descriptor();
        worker.set_uuid(worker_uuid);
        worker.mutable_process()->set_pid(track->worker + 1);
        worker.mutable_process()->set_process_name(fmt::format("worker {}", track->worker));
        worker.set_child_ordering(kExplicitOrder);
      }
      if (other_device) {
        perfetto::TrackDescriptor& group = *packet().mutable_track_descriptor();
        group.set_uuid(uuid(UuidSpace::kDevice, ++devices));
        group.set_parent_uuid(worker_uuid);
        group.set_name(as_utf8(track->device));
        group.set_child_ordering(kExplicitOrder);
        group.set_sibling_order_rank(place);
      }
      perfetto::TrackDescriptor& row = *packet().mutable_track_descriptor();
      row.set_uuid(track_uuid(track->id));
      row.set_parent_uuid(uuid(UuidSpace::kDevice, devices));
      row.set_name(track_name(*track));
      row.set_sibling_order_rank(place++);
      tracks_.insert(track->id);
    }
    flush();
  }

  static std::uint64_t track_uuid(TrackId id) {
    return uuid(UuidSpace::kTrack, static_cast<std::uint64_t>(id) + 1);
  }

  static std::string track_name(const Track& track) {
    switch (track.kind) {
      case TrackKind::kCompute: return "compute";
      case TrackKind::kPacks: return fmt::format("packs in flight, slot {}", track.slot);
      case TrackKind::kLane: return fmt::format("slot {} lane {}", track.slot, track.lane);
    }
    return "";
  }

  // --- spans ---

  bool names_layer(const Span& span) const {
    return span.kind ==
               SpanKind::kFirstCompute + static_cast<std::int32_t>(ComputeKind::kBackward) &&
           span.index >= 0 && span.index < static_cast<std::int64_t>(timeline_.run().layers.size());
  }

  std::string name_of(const Span& span) const {
    if (span.kind == SpanKind::kPackInFlight) return fmt::format("pack {}", span.pack);
    if (names_layer(span)) return "backward " + timeline_.run().layers[span.index];
    if (span.kind < SpanKind::kFirstCompute || span.pack < 0) return span_name(span.kind);
    return fmt::format("{} {}", span_name(span.kind), span.pack);
  }

  void write_span(TrackId track, const Span& span) {
    if (!tracks_.contains(track)) return;
    flush_if_many();
    perfetto::TracePacket& begin = packet();
    begin.set_timestamp(nanoseconds_of(span.start));
    perfetto::TrackEvent& event = *begin.mutable_track_event();
    event.set_type(kBegin);
    event.set_track_uuid(track_uuid(track));
    event.set_name_iid(name_id(span, begin));
    const bool is_step = span.kind < SpanKind::kFirstCompute;
    event.add_category_iids(interned_id(is_step ? Category::kStep
                                        : span.kind >= SpanKind::kPackInFlight
                                            ? Category::kPack
                                            : Category::kCompute));
    const auto argument = [&](Argument name, std::int64_t value) {
      perfetto::DebugAnnotation& a = *event.add_debug_annotations();
      a.set_name_iid(interned_id(name));
      a.set_int_value(value);
    };
    argument(Argument::kTrainingStep, span.step);
    if (span.pack >= 0) argument(Argument::kPack, span.pack);
    if (is_step) {
      argument(Argument::kLaneStep, span.index);
      argument(Argument::kBytes, span.bytes.count());
      argument(Argument::kWaited, span.wait.count());
    }
    argument(Argument::kStart, span.start.count());
    argument(Argument::kDuration, span.duration.count());
    if (is_step && sends(static_cast<StepKind>(span.kind)))
      event.add_flow_ids(flow_id(track, span.step, span.pack, span.index));
    if (span.peer == kNoTrack || !tracks_.contains(span.peer)) {
      write_end(track, end_of(span));
    } else {
      write_arrival(track, span);
    }
  }

  perfetto::TrackEvent& write_end(TrackId track, Time at) {
    perfetto::TracePacket& end = packet();
    end.set_timestamp(nanoseconds_of(at));
    end.mutable_track_event()->set_type(kEnd);
    end.mutable_track_event()->set_track_uuid(track_uuid(track));
    return *end.mutable_track_event();
  }

  static Time end_of(const Span& span) { return span.start + span.duration; }

  /// Ends a receive, with an arrow from the send of its message.
  ///
  /// In Perfetto, an arrow ends at the beginning of a slice, and the send must precede this slice
  /// in the file (flow_tracker.cc). However, a receive often begins to wait before the
  /// corresponding send begins. Therefore an inner slice is added to the receive. The inner slice
  /// begins when the message begins to move, which is after the start of the send. The arrow is
  /// attached to the end of the inner slice.
  void write_arrival(TrackId track, const Span& span) {
    const Time moves = span.start + std::min(span.wait, span.duration);
    const bool waits = nanoseconds_of(moves) > nanoseconds_of(span.start);
    if (waits) {
      perfetto::TracePacket& begin = packet();
      begin.set_timestamp(nanoseconds_of(moves));
      begin.mutable_track_event()->set_type(kBegin);
      begin.mutable_track_event()->set_track_uuid(track_uuid(track));
      begin.mutable_track_event()->set_name_iid(kInFlightId);
    }
    perfetto::TrackEvent& end = write_end(track, end_of(span));
    const std::uint64_t flow = flow_id(span.peer, span.step, span.pack, span.peer_index);
    // Events in the same nanosecond are sorted by their order in the file. If the inner slice takes
    // less than a nanosecond, the send may come later in the file, so the arrow must not end here.
    if (nanoseconds_of(end_of(span)) > nanoseconds_of(moves)) {
      end.add_terminating_flow_ids(flow);
    } else {
      end.add_flow_ids(flow);
    }
    if (waits) write_end(track, end_of(span));
  }

  // --- links ---

  void write_link(const LinkRecord& link, std::size_t number) {
    if (link.bins.empty() || link.bin_width.count() <= 0) return;
    if (!links_declared_) {
      links_declared_ = true;
      perfetto::TrackDescriptor& links = *packet().mutable_track_descriptor();
      links.set_uuid(uuid(UuidSpace::kLinks, 0));
      links.mutable_process()->set_pid(kLinksPid);
      links.mutable_process()->set_process_name("links");
    }
    perfetto::TrackDescriptor& counter = *packet().mutable_track_descriptor();
    counter.set_uuid(uuid(UuidSpace::kLink, number));
    counter.set_parent_uuid(uuid(UuidSpace::kLinks, 0));
    counter.set_name(
        fmt::format("{} ({:g} GB/s)", as_utf8(link.name), to_gb_per_s(link.bandwidth)));
    counter.mutable_counter()->set_unit_name("GB/s");
    const double seconds = static_cast<double>(link.bin_width.count()) * 1e-12;
    for (std::size_t bin = 0; bin <= link.bins.size(); ++bin) {
      flush_if_many();
      const double bytes = bin < link.bins.size() ? static_cast<double>(link.bins[bin]) : 0;
      const bool same_as_before =
          bin > 0 && bin < link.bins.size() && link.bins[bin] == link.bins[bin - 1];
      if (same_as_before) continue;
      perfetto::TracePacket& value = packet();
      value.set_timestamp(nanoseconds_of(static_cast<std::int64_t>(bin) * link.bin_width));
      value.mutable_track_event()->set_type(kCounter);
      value.mutable_track_event()->set_track_uuid(uuid(UuidSpace::kLink, number));
      value.mutable_track_event()->set_double_counter_value(bytes / seconds / 1e9);
    }
  }

  const TimelineReader& timeline_;
  std::ostream& out_;
  perfetto::Trace trace_;
  bool first_ = true;
  bool links_declared_ = false;
  std::set<TrackId> tracks_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint64_t>
      names_;  ///< ids of span names; the key is the kind of the span, with its pack or layer
};

}  // namespace

Expected<void> export_perfetto(const TimelineReader& timeline, std::ostream& out) {
  return Exporter(timeline, out).run();
}

}  // namespace tutti::core
