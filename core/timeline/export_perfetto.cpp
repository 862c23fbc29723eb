#include "core/timeline/export_perfetto.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/proto/perfetto.pb.h"
#include "core/schedule/step.h"
#include "core/strategy/driver.h"

namespace tutti::core {
namespace {

constexpr std::uint32_t kSequence = 1;
constexpr int kBegin = 1;
constexpr int kEnd = 2;
constexpr int kCounter = 4;
constexpr int kExplicitOrder = 3;
/// The process that the links' counters belong to; workers are 1, 2, ….
constexpr int kLinksPid = 1'000'000'000;

std::uint64_t nanoseconds_of(Time t) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, t.count()) / 1000); }

/// Perfetto's uuids are any numbers but 0, so long as they differ.
enum class UuidSpace : std::uint64_t { kWorker = 1, kDevice, kTrack, kLink, kLinks };
std::uint64_t uuid(UuidSpace space, std::uint64_t number) { return static_cast<std::uint64_t>(space) << 48 | number; }

/// One number per sent message; sender and receiver compute the same.
std::uint64_t flow_id(TrackId track, std::int32_t step, std::int32_t pack, std::int64_t index) {
  std::uint64_t id = 1469598103934665603u;  // FNV-1a over the four numbers
  for (const std::uint64_t part : {static_cast<std::uint64_t>(track), static_cast<std::uint64_t>(step),
                                   static_cast<std::uint64_t>(pack), static_cast<std::uint64_t>(index)}) {
    for (int byte = 0; byte < 8; ++byte) id = (id ^ (part >> (8 * byte) & 0xff)) * 1099511628211u;
  }
  return id;
}

class Exporter {
 public:
  Exporter(const TimelineReader& timeline, std::ostream& out) : timeline_(timeline), out_(out) {}

  Expected<void> run() {
    declare_tracks();
    find_recorded_sends();
    for (const TimelineReader::SpanBlock& block : timeline_.span_blocks()) {
      const Expected<std::vector<Span>> spans = timeline_.read(block);
      if (!spans) return tl::make_unexpected(spans.error());
      for (const Span& span : *spans) write_span(block.track, span);
      flush();
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

  /// The number of a name, told to the reader when it is first used.
  std::uint64_t name_id(const std::string& name, perfetto::TracePacket& packet) {
    return intern(names_, name, *packet.mutable_interned_data()->mutable_event_names());
  }
  std::uint64_t category_id(const std::string& name, perfetto::TracePacket& packet) {
    return intern(categories_, name, *packet.mutable_interned_data()->mutable_event_categories());
  }
  std::uint64_t argument_id(const std::string& name, perfetto::TracePacket& packet) {
    return intern(arguments_, name, *packet.mutable_interned_data()->mutable_debug_annotation_names());
  }
  template <class List>
  static std::uint64_t intern(std::map<std::string, std::uint64_t>& known, const std::string& name, List& fresh_ones) {
    const auto [entry, fresh] = known.try_emplace(name, known.size() + 1);
    if (fresh) {
      perfetto::InternedString& string = *fresh_ones.Add();
      string.set_iid(entry->second);
      string.set_name(name);
    }
    return entry->second;
  }

  // --- tracks ---

  void declare_tracks() {
    std::map<std::pair<std::int32_t, std::string>, std::uint64_t> devices;
    std::set<std::int32_t> workers;
    for (const Track& track : timeline_.tracks()) {
      if (workers.insert(track.worker).second) {
        perfetto::TrackDescriptor& worker = *packet().mutable_track_descriptor();
        worker.set_uuid(uuid(UuidSpace::kWorker, static_cast<std::uint64_t>(track.worker)));
        worker.mutable_process()->set_pid(track.worker + 1);
        worker.mutable_process()->set_process_name(fmt::format("worker {}", track.worker));
        worker.set_child_ordering(kExplicitOrder);
      }
      const auto [device, fresh] = devices.try_emplace({track.worker, track.device}, devices.size() + 1);
      if (fresh) {
        perfetto::TrackDescriptor& group = *packet().mutable_track_descriptor();
        group.set_uuid(uuid(UuidSpace::kDevice, device->second));
        group.set_parent_uuid(uuid(UuidSpace::kWorker, static_cast<std::uint64_t>(track.worker)));
        group.set_name(track.device);
        group.set_child_ordering(kExplicitOrder);
        group.set_sibling_order_rank(device_rank(track.device));
      }
      perfetto::TrackDescriptor& row = *packet().mutable_track_descriptor();
      row.set_uuid(track_uuid(track.id));
      row.set_parent_uuid(uuid(UuidSpace::kDevice, device->second));
      row.set_name(track_name(track));
      row.set_sibling_order_rank(static_cast<std::int32_t>(track.kind) * 100'000 + track.slot * 1000 +
                                 std::clamp(track.lane, 0, 999));
      tracks_.insert(track.id);
    }
    flush();
  }

  /// "gpu10" behind "gpu9".
  static std::int32_t device_rank(const std::string& device) {
    const std::size_t digit = device.find_first_of("0123456789");
    const int number = digit == std::string::npos ? 0 : std::atoi(device.c_str() + digit);
    return (device.starts_with("gpu") ? 0 : 10'000) + number;
  }

  static std::uint64_t track_uuid(TrackId id) { return uuid(UuidSpace::kTrack, static_cast<std::uint64_t>(id) + 1); }

  static std::string track_name(const Track& track) {
    switch (track.kind) {
      case TrackKind::kCompute: return "compute";
      case TrackKind::kPacks: return fmt::format("packs in flight, slot {}", track.slot);
      case TrackKind::kLane: return fmt::format("slot {} lane {}", track.slot, track.lane);
    }
    return "";
  }

  // --- spans ---

  /// Arrows end only where they begin: a receive refers to a send that is in the trace.
  void find_recorded_sends() {
    for (const TimelineReader::SpanBlock& block : timeline_.span_blocks()) {
      const Expected<std::vector<Span>> spans = timeline_.read(block);
      if (!spans) continue;
      for (const Span& span : *spans) {
        if (span.peer == kNoTrack || !tracks_.contains(span.peer)) continue;
        received_.insert(flow_id(span.peer, span.step, span.pack, span.peer_index));
      }
    }
  }

  std::string name_of(const Span& span) const {
    const auto known = [](const std::vector<std::string>& list, std::int64_t i) {
      return i >= 0 && i < static_cast<std::int64_t>(list.size());
    };
    if (span.kind == SpanKind::kPackInFlight) return fmt::format("pack {}", span.pack);
    if (span.kind == SpanKind::kFirstCompute + static_cast<std::int32_t>(ComputeKind::kBackward) &&
        known(timeline_.run().layers, span.index)) {
      return "backward " + timeline_.run().layers[static_cast<std::size_t>(span.index)];
    }
    if (span.kind >= SpanKind::kFirstCompute)
      return span.pack < 0 ? span_name(span.kind) : fmt::format("{} {}", span_name(span.kind), span.pack);
    return span_name(span.kind);
  }

  void write_span(TrackId track, const Span& span) {
    if (!tracks_.contains(track)) return;
    perfetto::TracePacket& begin = packet();
    begin.set_timestamp(nanoseconds_of(span.start));
    perfetto::TrackEvent& event = *begin.mutable_track_event();
    event.set_type(kBegin);
    event.set_track_uuid(track_uuid(track));
    event.set_name_iid(name_id(name_of(span), begin));
    event.add_category_iids(category_id(
        span.kind >= SpanKind::kFirstCompute ? (span.kind == SpanKind::kPackInFlight ? "pack" : "compute") : "step",
        begin));
    const auto argument = [&](const char* name, std::int64_t value) {
      perfetto::DebugAnnotation& a = *event.add_debug_annotations();
      a.set_name_iid(argument_id(name, begin));
      a.set_int_value(value);
    };
    argument("training step", span.step);
    if (span.pack >= 0) argument("pack", span.pack);
    if (span.kind < SpanKind::kFirstCompute) {
      argument("step of the lane", span.index);
      argument("bytes", span.bytes.count());
      argument("waited ps", span.wait.count());
    }
    argument("start ps", span.start.count());
    argument("duration ps", span.duration.count());
    const std::uint64_t own_flow = flow_id(track, span.step, span.pack, span.index);
    if (span.kind < SpanKind::kFirstCompute && received_.contains(own_flow)) event.add_flow_ids(own_flow);
    if (span.peer != kNoTrack && tracks_.contains(span.peer)) {
      event.add_terminating_flow_ids(flow_id(span.peer, span.step, span.pack, span.peer_index));
    }

    perfetto::TracePacket& end = packet();
    end.set_timestamp(nanoseconds_of(span.start + std::max(Time(), span.duration)));
    end.mutable_track_event()->set_type(kEnd);
    end.mutable_track_event()->set_track_uuid(track_uuid(track));
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
    counter.set_name(fmt::format("{} ({:g} GB/s)", link.name, to_gb_per_s(link.bandwidth)));
    counter.mutable_counter()->set_unit_name("GB/s");
    const double seconds = static_cast<double>(link.bin_width.count()) * 1e-12;
    for (std::size_t bin = 0; bin <= link.bins.size(); ++bin) {
      const double bytes = bin < link.bins.size() ? static_cast<double>(link.bins[bin]) : 0;
      const bool same_as_before = bin > 0 && bin < link.bins.size() && link.bins[bin] == link.bins[bin - 1];
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
  std::set<std::uint64_t> received_;
  std::map<std::string, std::uint64_t> names_, categories_, arguments_;
};

}  // namespace

Expected<void> export_perfetto(const TimelineReader& timeline, std::ostream& out) {
  return Exporter(timeline, out).run();
}

}  // namespace tutti::core
