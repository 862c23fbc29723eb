// Exports timelines to Perfetto's trace format, and checks the rules of the format, the arrows from
// sends to receives, and the order of the rows.

#include "core/timeline/export_perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/proto/perfetto.pb.h"
#include "core/schedule/step.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"
#include "tests/core/timeline/written_timeline.h"

namespace tutti::core {
namespace {

/// Perfetto requires that slices start and end in pairs on every track, that tracks and interned
/// names are declared before their use, and that each arrow ends after a start.
TEST(Perfetto, TracesFollowPerfettosRules) {
  const auto reader = TimelineReader::from_bytes(written(500), "t");
  std::ostringstream out;
  ASSERT_TRUE(export_perfetto(*reader, out));
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(out.str()));
  std::set<std::uint64_t> declared, names, begun_flows, ended_flows;
  std::map<std::uint64_t, int> open;
  std::map<std::uint64_t, std::uint64_t> last_time;
  int slices = 0, slices_inside = 0, counters = 0;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    EXPECT_NE(packet.trusted_packet_sequence_id(), 0u);
    for (const auto& name : packet.interned_data().event_names()) names.insert(name.iid());
    if (packet.has_track_descriptor()) {
      EXPECT_NE(packet.track_descriptor().uuid(), 0u);
      EXPECT_TRUE(declared.insert(packet.track_descriptor().uuid()).second) << "declared twice";
      if (packet.track_descriptor().has_parent_uuid()) {
        EXPECT_TRUE(declared.contains(packet.track_descriptor().parent_uuid()));
      }
    }
    if (!packet.has_track_event()) continue;
    const perfetto::TrackEvent& event = packet.track_event();
    EXPECT_TRUE(declared.contains(event.track_uuid()));
    EXPECT_GE(packet.timestamp(), last_time[event.track_uuid()]);
    last_time[event.track_uuid()] = packet.timestamp();
    if (event.type() == 1) {
      ++(open[event.track_uuid()]++ == 0 ? slices : slices_inside);
      EXPECT_LE(open[event.track_uuid()], 2) << "spans of a row do not overlap";
      EXPECT_TRUE(names.contains(event.name_iid()));
      for (const auto id : event.flow_ids()) begun_flows.insert(id);
      EXPECT_EQ(event.terminating_flow_ids_size(), 0);
    } else if (event.type() == 2) {
      EXPECT_GE(--open[event.track_uuid()], 0);
      for (const auto id : event.terminating_flow_ids()) ended_flows.insert(id);
    } else {
      ++counters;
    }
  }
  int receives_that_wait = 0;
  for (const auto& block : reader->span_blocks()) {
    const auto spans = reader->read(block);
    for (const Span& span : *spans)
      receives_that_wait +=
          span.peer >= 0 && (span.start + span.wait).count() / 1000 > span.start.count() / 1000;
  }
  EXPECT_EQ(slices, 5 * 500);
  EXPECT_EQ(slices_inside, receives_that_wait) << "as far as a nanosecond shows it";
  EXPECT_EQ(counters, 4) << "three bins and the end";
  EXPECT_EQ(begun_flows, ended_flows);
  EXPECT_EQ(begun_flows.size(), 500u);
}

/// An arrow as Perfetto draws it: from one slice to another, each given by its track and its start
/// in nanoseconds.
struct Arrow {
  std::string from, to;
  std::uint64_t from_ns = 0, to_ns = 0;
  auto operator<=>(const Arrow&) const = default;
};

/// Returns the arrows that Perfetto's trace_processor derives. trace_processor sorts events by
/// time, and equal times by their order in the file. An end closes the slice that started last. The
/// first slice of a flow is the arrow's origin, and of two slices the earlier points to the later.
/// SOURCE: google/perfetto, src/trace_processor: sorter/trace_sorter.h,
/// importers/common/slice_tracker.cc and flow_tracker.cc,
/// importers/proto/track_event_event_importer.h (MaybeParseTrackEventFlows).
std::vector<Arrow> arrows(const perfetto::Trace& trace) {
  struct Slice {
    std::uint64_t track = 0;
    std::uint64_t begin = 0;
  };
  std::map<std::uint64_t, std::string> rows;
  std::vector<const perfetto::TracePacket*> events;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    if (packet.has_track_descriptor())
      rows[packet.track_descriptor().uuid()] = packet.track_descriptor().name();
    if (packet.has_track_event()) events.push_back(&packet);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](auto* a, auto* b) { return a->timestamp() < b->timestamp(); });
  std::map<std::uint64_t, std::vector<Slice>> open;
  std::map<std::uint64_t, Slice> flows;
  std::vector<Arrow> drawn;
  for (const perfetto::TracePacket* packet : events) {
    const perfetto::TrackEvent& event = packet->track_event();
    if (event.type() == 4) continue;
    std::vector<Slice>& stack = open[event.track_uuid()];
    if (event.type() == 1) stack.push_back({event.track_uuid(), packet->timestamp()});
    const Slice slice = stack.back();
    if (event.type() == 2) stack.pop_back();
    const auto draw = [&](Slice before) {
      const bool turned = before.begin > slice.begin;
      const Slice& from = turned ? slice : before;
      const Slice& to = turned ? before : slice;
      drawn.push_back({rows[from.track], rows[to.track], from.begin, to.begin});
    };
    for (const std::uint64_t id : event.flow_ids()) {
      if (flows.contains(id)) draw(flows[id]);
      flows[id] = slice;
    }
    for (const std::uint64_t id : event.terminating_flow_ids()) {
      if (!flows.contains(id)) continue;
      draw(flows[id]);
      flows.erase(id);
    }
  }
  return drawn;
}

perfetto::Trace trace_of(const std::string& timeline) {
  const auto reader = TimelineReader::from_bytes(timeline, "t");
  std::ostringstream out;
  EXPECT_TRUE(export_perfetto(*reader, out));
  perfetto::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(out.str()));
  return trace;
}

/// Times in picoseconds: the start of a send, the start of its message's transfer, the start of the
/// receive, and the end of the receive.
struct Message {
  std::int64_t send, moves, waits, done;
};

/// Returns a timeline with a message from one lane to another. `sender`: the number of the sending
/// lane, which determines the order of the two lanes in the file.
std::string timeline_of(const Message& m, TrackId sender) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  for (TrackId t = 0; t < 2; ++t)
    writer.track({t, TrackKind::kLane, 0, "gpu0", 0, t == sender ? 0 : 1});
  Span send;
  send.kind = static_cast<std::int32_t>(StepKind::kSend);
  send.start = Time(m.send);
  send.duration = Time(m.done - m.send);
  send.index = 3;
  writer.span(sender, send);
  Span receive;
  receive.kind = static_cast<std::int32_t>(StepKind::kReceive);
  receive.start = Time(m.waits);
  receive.duration = Time(m.done - m.waits);
  receive.wait = Time(std::max<std::int64_t>(0, m.moves - m.waits));
  receive.peer = sender;
  receive.peer_index = 3;
  writer.span(1 - sender, receive);
  writer.end();
  return out.str();
}

TEST(Perfetto, DrawsAnArrowFromEachSendToItsReceive) {
  const std::vector<Message> messages{
      {5'000, 5'000, 1'000, 9'000},  // the receiver waits first
      {5'000, 7'500, 1'000, 9'000},  // the receiver waits first, and the link is busy
      {1'000, 1'000, 5'000, 9'000},  // the message arrived long before
      {1'000, 1'000, 1'000, 9'000},  // both at once
      {1'600, 1'700, 1'500, 9'000},  // almost at once, within one nanosecond
      {1'600, 1'700, 1'000, 2'000},  // ends in the next nanosecond
  };
  for (const TrackId sender : {0, 1}) {
    for (const Message& m : messages) {
      const std::uint64_t arrives = static_cast<std::uint64_t>(std::max(m.moves, m.waits) / 1000);
      EXPECT_EQ(arrows(trace_of(timeline_of(m, sender))),
                (std::vector<Arrow>{{"slot 0 lane 0", "slot 0 lane 1",
                                     static_cast<std::uint64_t>(m.send / 1000), arrives}}))
          << m.send << ' ' << m.waits << ' ' << sender;
    }
    // Within one nanosecond there is no order of events.
    EXPECT_THAT(arrows(trace_of(timeline_of({1'100, 1'200, 1'000, 1'900}, sender))),
                testing::SizeIs(1));
    EXPECT_THAT(arrows(trace_of(timeline_of({5'100, 5'200, 1'000, 5'900}, sender))),
                testing::SizeIs(1));
  }
}

TEST(Perfetto, ShowsWhenAMessageBeginsToMove) {
  const perfetto::Trace trace = trace_of(timeline_of({5'000, 7'000, 1'000, 9'000}, 0));
  std::vector<std::pair<std::string, std::uint64_t>> events;
  std::map<std::uint64_t, std::string> names;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    for (const auto& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
    if (packet.has_track_event())
      events.emplace_back(names[packet.track_event().name_iid()], packet.timestamp());
  }
  EXPECT_EQ(events, (std::vector<std::pair<std::string, std::uint64_t>>{
                        {"send", 5}, {"", 9}, {"receive", 1}, {"in flight", 7}, {"", 9}, {"", 9}}));
}

TEST(Perfetto, RowsAreInOrder) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  TrackId id = 0;
  for (const char* device : {"cpu0", "gpu10", "gpu9"}) {
    writer.track({id++, TrackKind::kCompute, 0, device, 0, -1});
    for (std::int32_t slot = 0; slot < 120; ++slot)
      writer.track({id++, TrackKind::kPacks, 0, device, slot, -1});
    for (const std::int32_t slot : {99, 100, 101, 0}) {
      for (const std::int32_t lane : {1500, 0, 999, 1000})
        writer.track({id++, TrackKind::kLane, 0, device, slot, lane});
    }
  }
  writer.end();
  std::map<std::uint64_t, std::map<std::int32_t, std::string>> children;  // of each group, by rank
  std::map<std::string, std::uint64_t> groups;
  std::size_t rows = 0;
  const perfetto::Trace trace = trace_of(out.str());
  for (const perfetto::TracePacket& packet : trace.packet()) {
    const perfetto::TrackDescriptor& row = packet.track_descriptor();
    if (row.has_process()) groups["worker"] = row.uuid();
    if (!row.has_parent_uuid()) continue;
    ++rows;
    groups[row.name()] = row.uuid();
    EXPECT_TRUE(children[row.parent_uuid()].emplace(row.sibling_order_rank(), row.name()).second)
        << row.name();
  }
  EXPECT_EQ(rows, 3 * (1 + 1 + 120 + 16));
  const auto names = [](const auto& ranked) {
    std::vector<std::string> list;
    for (const auto& [rank, name] : ranked) list.push_back(name);
    return list;
  };
  EXPECT_THAT(names(children[groups["worker"]]), testing::ElementsAre("gpu9", "gpu10", "cpu0"));
  const std::vector<std::string> of_gpu9 = names(children[groups["gpu9"]]);
  EXPECT_EQ(of_gpu9[0], "compute");
  for (std::size_t slot = 0; slot < 120; ++slot)
    EXPECT_EQ(of_gpu9[1 + slot], fmt::format("packs in flight, slot {}", slot));
  EXPECT_THAT(std::vector<std::string>(of_gpu9.end() - 16, of_gpu9.begin() + 121 + 5),
              testing::ElementsAre("slot 0 lane 0", "slot 0 lane 999", "slot 0 lane 1000",
                                   "slot 0 lane 1500", "slot 99 lane 0"));
  EXPECT_EQ(of_gpu9.back(), "slot 101 lane 1500");
}

}  // namespace
}  // namespace tutti::core
