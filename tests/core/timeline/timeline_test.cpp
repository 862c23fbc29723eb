#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/random.h"
#include "core/proto/perfetto.pb.h"
#include "core/schedule/step.h"
#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/reader.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

RunInfo info() {
  RunInfo run;
  run.scenario = "s";
  run.scenario_text = "cluster { }";
  run.version = "1";
  run.executor = "simulated";
  run.steps = 2;
  run.packs = {{{"a", "b"}, Bytes(100), "float32"}, {{"c"}, Bytes(7), "float16"}};
  run.layers = {"last", "first"};
  run.notes = {"take note"};
  return run;
}

/// Everything a sink is told, in words: two timelines are the same if these are.
class Transcript : public TimelineSink {
 public:
  std::map<TrackId, std::string> spans;
  std::string rest;

  void begin(const RunInfo& r) override {
    rest += fmt::format("run {} {} {} {} {}\n", r.scenario, r.scenario_text, r.version, r.executor, r.steps);
    for (const RunInfo::PackInfo& p : r.packs)
      rest += fmt::format("of {} {} {}\n", fmt::join(p.gradients, " "), p.bytes.count(), p.type);
    for (const std::string& layer : r.layers) rest += layer;
    for (const std::string& n : r.notes) rest += n;
  }
  void track(const Track& t) override {
    rest +=
        fmt::format("track {} {} {} {} {} {}\n", t.id, static_cast<int>(t.kind), t.worker, t.device, t.slot, t.lane);
  }
  void span(TrackId track, const Span& s) override {
    spans[track] += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", s.start.count(), s.duration.count(), s.wait.count(),
                                s.kind, s.step, s.pack, s.index, s.bytes.count(), s.peer, s.peer_index);
  }
  void step(const StepRecord& s) override {
    rest += fmt::format("step {} {} {} {} {} {} {}\n", s.step, s.start.count(), s.end.count(), s.slowest,
                        s.exposed.count(), s.awaited, s.awaited_for.count());
  }
  void pack(const PackRecord& p) override {
    rest += fmt::format("pack {} {} {} {}\n", p.step, p.pack, p.ready.count(), p.end.count());
  }
  void link(const LinkRecord& l) override {
    rest += fmt::format("link {} {} {}", l.name, l.bytes.count(), l.bin_width.count());
    for (const auto b : l.bins) rest += fmt::format(" {}", b);
  }
  void path(const PathPiece& p) override {
    rest += fmt::format("path {} {} {} {} {} {}\n", p.kind, p.device, p.layer, p.end.count(), p.parts.total().count(),
                        p.slowest_link);
  }
  void note(const std::string& text) override { rest += text; }
  void end() override { rest += "end"; }
};

void tell(TimelineSink& sink, int spans_per_track, std::uint64_t seed = 1) {
  Random random(seed);
  sink.begin(info());
  for (TrackId t = 0; t < 5; ++t)
    sink.track({t, static_cast<TrackKind>(t % 3), t / 2, "gpu" + std::to_string(t % 2), t, t % 3 == 2 ? 0 : -1});
  std::vector<Time> at(5);
  for (int i = 0; i < spans_per_track; ++i) {
    for (TrackId t = 0; t < 5; ++t) {
      Span span;
      at[static_cast<std::size_t>(t)] += Time(static_cast<std::int64_t>(random.below(1'000'000)));
      span.start = at[static_cast<std::size_t>(t)];
      span.duration = Time(static_cast<std::int64_t>(random.below(900'000)));
      at[static_cast<std::size_t>(t)] += span.duration;
      span.wait = Time(static_cast<std::int64_t>(random.below(10)));
      span.kind = t % 3 == 2 ? (t == 2 ? 1 : 2) : SpanKind::kFirstCompute + 1;
      span.step = i / 10;
      span.pack = i % 2;
      span.index = i;
      span.bytes = Bytes(i * 1000);
      if (t == 4) {  // receives from track 1's neighbour, the lane track 2… every message
        span.kind = 2;
        span.wait = Time(span.duration.count() / 2);
        span.peer = 2;
        span.peer_index = i;
      }
      sink.span(t, span);
    }
  }
  sink.step({0, Time(0), Time(500), "w0/gpu0", Time(1), Time(2), Time(3), Time(4), Time(5), "w1/gpu1", Time(6)});
  sink.pack({0, 1, Time(10), Time(11), Time(12), Time(13)});
  sink.link({"a→b", LinkKind::kNvlink, Bandwidth(1'000'000'000), Bytes(6), Time(6000), Time(1000), {1, 2, 3}});
  PathPiece piece;
  piece.kind = SpanKind::kPackInFlight;
  piece.pack = 0;
  piece.device = "w0/gpu0";
  piece.layer = "last";
  piece.end = Time(77);
  piece.parts.wire[3] = Time(70);
  piece.parts.queue = Time(7);
  piece.slowest_link = "a→b";
  sink.path(piece);
  sink.note("said late");
  sink.end();
}

std::string written(int spans_per_track) {
  std::ostringstream out;
  TimelineWriter writer(out);
  tell(writer, spans_per_track);
  EXPECT_TRUE(writer.good());
  EXPECT_EQ(writer.spans(), 5 * spans_per_track);
  return out.str();
}

TEST(Timeline, ComesBackAsItWasWritten) {
  for (const int spans : {0, 1, 100, 10'000}) {
    Transcript before, after;
    std::ostringstream out;
    TimelineWriter writer(out);
    TimelineTee tee(before, writer);
    tell(tee, spans);
    const auto reader = TimelineReader::from_bytes(out.str(), "t");
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_TRUE(reader->complete());
    ASSERT_TRUE(reader->replay(after));
    EXPECT_EQ(before.spans, after.spans);
    // The late note comes back with the early ones.
    EXPECT_EQ(before.rest.size(), after.rest.size());
    EXPECT_THAT(after.rest, HasSubstr("take notesaid late"));
  }
}

TEST(Timeline, ATruncatedFileIsReadAsFarAsItGoes) {
  const std::string whole = written(10'000);
  std::size_t last_spans = std::numeric_limits<std::size_t>::max();
  for (std::size_t length = whole.size() - 1; length > 16;
       length -= std::min<std::size_t>(length - 16, 1 + whole.size() / 97)) {
    const auto reader = TimelineReader::from_bytes(whole.substr(0, length), "t");
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->complete());
    std::size_t spans = 0;
    for (const auto& block : reader->span_blocks()) {
      const auto read = reader->read(block);
      ASSERT_TRUE(read);
      spans += read->size();
    }
    EXPECT_LE(spans, last_spans) << "less of the file cannot hold more";
    last_spans = spans;
  }
}

TEST(Timeline, DamageIsAnErrorNeverACrash) {
  const std::string whole = written(300);
  Random random(9);
  int damaged_blocks = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i)
      bytes[8 + random.below(bytes.size() - 8)] = static_cast<char>(random.next());
    const auto reader = TimelineReader::from_bytes(bytes, "t");
    ASSERT_TRUE(reader) << "the magic is whole";
    Transcript transcript;
    if (!reader->replay(transcript)) ++damaged_blocks;
    std::ostringstream out;
    static_cast<void>(export_perfetto(*reader, out));
    static_cast<void>(export_csv(*reader, CsvContent::kSpans, out));
    static_cast<void>(export_svg(*reader));
  }
  EXPECT_GT(damaged_blocks, 0);
}

TEST(Timeline, OtherFilesAreRefused) {
  EXPECT_THAT(TimelineReader::from_bytes("cluster { }", "t").error().message(), HasSubstr("t: this is not a timeline"));
  EXPECT_THAT(TimelineReader::from_bytes("", "t").error().message(), HasSubstr("this is not a timeline"));
  EXPECT_THAT(TimelineReader::open("/no/such/file").error().message(), HasSubstr("cannot be read"));
  EXPECT_THAT(TimelineReader::open("/tmp").error().message(), HasSubstr("this is a folder; name a timeline in a file"));
  EXPECT_THAT(TimelineReader::open("/dev/zero").error().message(), HasSubstr("this is a device"));
}

TEST(Timeline, CostsAbout25BytesPerSpan) {
  const double per_span = static_cast<double>(written(20'000).size() - written(0).size()) / (5 * 20'000);
  EXPECT_LT(per_span, 25);
}

// --- exports ---

/// What Perfetto insists on: begins and ends match on every track, a track is declared before it is used, interned names
/// are told before they are used, arrows end where one began.
TEST(Perfetto, TraceKeepsPerfettosRules) {
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
      receives_that_wait += span.peer >= 0 && (span.start + span.wait).count() / 1000 > span.start.count() / 1000;
  }
  EXPECT_EQ(slices, 5 * 500);
  EXPECT_EQ(slices_inside, receives_that_wait) << "as far as a nanosecond shows it";
  EXPECT_EQ(counters, 4) << "three bins and the end";
  EXPECT_EQ(begun_flows, ended_flows);
  EXPECT_EQ(begun_flows.size(), 500u);
}

/// An arrow as Perfetto draws it: from a slice to a slice, each named by its track and the nanosecond of its begin.
struct Arrow {
  std::string from, to;
  std::uint64_t from_ns = 0, to_ns = 0;
  auto operator<=>(const Arrow&) const = default;
};

/// What trace_processor makes of a trace's flows: events in order of time, equal times in the order of the file; an end
/// closes the slice that began last; the first slice of a flow is where an arrow comes from, the earlier of two slices
/// points to the later. SOURCE: google/perfetto, src/trace_processor: sorter/trace_sorter.h, importers/common/
/// slice_tracker.cc and flow_tracker.cc, importers/proto/track_event_event_importer.h (MaybeParseTrackEventFlows).
std::vector<Arrow> arrows(const perfetto::Trace& trace) {
  struct Slice {
    std::uint64_t track = 0;
    std::uint64_t begin = 0;
  };
  std::map<std::uint64_t, std::string> rows;
  std::vector<const perfetto::TracePacket*> events;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    if (packet.has_track_descriptor()) rows[packet.track_descriptor().uuid()] = packet.track_descriptor().name();
    if (packet.has_track_event()) events.push_back(&packet);
  }
  std::stable_sort(events.begin(), events.end(), [](auto* a, auto* b) { return a->timestamp() < b->timestamp(); });
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

/// Picoseconds: when a lane sends, when its message begins to move, and when another lane begins to wait for it and has
/// it.
struct Message {
  std::int64_t send, moves, waits, done;
};

/// A message from one lane to another; which of the two comes first in the file is up to `sender`.
std::string timeline_of(const Message& m, TrackId sender) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  for (TrackId t = 0; t < 2; ++t) writer.track({t, TrackKind::kLane, 0, "gpu0", 0, t == sender ? 0 : 1});
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
      {5'000, 5'000, 1'000, 9'000},  // waits first
      {5'000, 7'500, 1'000, 9'000},  // and the link is in use
      {1'000, 1'000, 5'000, 9'000},  // was there long ago
      {1'000, 1'000, 1'000, 9'000},  // both at once
      {1'600, 1'700, 1'500, 9'000},  // nearly so: all begin in one nanosecond
      {1'600, 1'700, 1'000, 2'000},  // done at the next
  };
  for (const TrackId sender : {0, 1}) {
    for (const Message& m : messages) {
      const std::uint64_t arrives = static_cast<std::uint64_t>(std::max(m.moves, m.waits) / 1000);
      EXPECT_EQ(
          arrows(trace_of(timeline_of(m, sender))),
          (std::vector<Arrow>{{"slot 0 lane 0", "slot 0 lane 1", static_cast<std::uint64_t>(m.send / 1000), arrives}}))
          << m.send << ' ' << m.waits << ' ' << sender;
    }
    // Within one nanosecond nothing is before anything else.
    EXPECT_THAT(arrows(trace_of(timeline_of({1'100, 1'200, 1'000, 1'900}, sender))), testing::SizeIs(1));
    EXPECT_THAT(arrows(trace_of(timeline_of({5'100, 5'200, 1'000, 5'900}, sender))), testing::SizeIs(1));
  }
}

TEST(Perfetto, ShowsWhenAMessageBeginsToMove) {
  const perfetto::Trace trace = trace_of(timeline_of({5'000, 7'000, 1'000, 9'000}, 0));
  std::vector<std::pair<std::string, std::uint64_t>> events;
  std::map<std::uint64_t, std::string> names;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    for (const auto& name : packet.interned_data().event_names()) names[name.iid()] = name.name();
    if (packet.has_track_event()) events.emplace_back(names[packet.track_event().name_iid()], packet.timestamp());
  }
  EXPECT_EQ(events, (std::vector<std::pair<std::string, std::uint64_t>>{
                        {"send", 5}, {"", 9}, {"receive", 1}, {"under way", 7}, {"", 9}, {"", 9}}));
}

TEST(Perfetto, RowsAreInOrderHoweverManyThereAre) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  TrackId id = 0;
  for (const char* device : {"cpu0", "gpu10", "gpu9"}) {
    writer.track({id++, TrackKind::kCompute, 0, device, 0, -1});
    for (std::int32_t slot = 0; slot < 120; ++slot) writer.track({id++, TrackKind::kPacks, 0, device, slot, -1});
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
    EXPECT_TRUE(children[row.parent_uuid()].emplace(row.sibling_order_rank(), row.name()).second) << row.name();
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
              testing::ElementsAre("slot 0 lane 0", "slot 0 lane 999", "slot 0 lane 1000", "slot 0 lane 1500",
                                   "slot 99 lane 0"));
  EXPECT_EQ(of_gpu9.back(), "slot 101 lane 1500");
}

TEST(Csv, HasEveryTable) {
  const auto reader = TimelineReader::from_bytes(written(3), "t");
  const auto table = [&](const char* name) {
    std::ostringstream out;
    EXPECT_TRUE(export_csv(*reader, *parse_csv_content(name), out));
    return out.str();
  };
  EXPECT_THAT(table("spans"), HasSubstr("w2/gpu0,packs,4,,"));
  EXPECT_THAT(table("spans"), HasSubstr(",w1/gpu0,0,2\n")) << "the sender's lane and step";
  EXPECT_EQ(table("packs"),
            "training_step,pack,bytes,gradients,ready_us,first_start_us,last_start_us,end_us\n"
            "0,1,7,1,0.000010,0.000011,0.000012,0.000013\n");
  EXPECT_THAT(table("steps"), HasSubstr("0,0.000000,0.000500,w0/gpu0,0.000001,"));
  EXPECT_THAT(table("links"), HasSubstr("a→b,nvlink,1,6,0.006000"));
  EXPECT_THAT(table("path"), HasSubstr("pack in flight,w0/gpu0,0,last,0.000000,0.000077,"));
  EXPECT_FALSE(parse_csv_content("trains"));
}

TEST(Svg, NeedsSomethingToDraw) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin(info());
  writer.end();
  EXPECT_THAT(export_svg(*TimelineReader::from_bytes(out.str(), "t")).error().message(), HasSubstr("nothing to draw"));
  EXPECT_THAT(*export_svg(*TimelineReader::from_bytes(written(5), "t")), HasSubstr("critical path"));
}

// --- summary ---

StepRecord step(int i, std::int64_t start, std::int64_t end) {
  StepRecord s;
  s.step = i;
  s.start = Time(start);
  s.end = Time(end);
  return s;
}

TEST(Summary, TheSteadyStateLeavesTheFirstStepOut) {
  Summary s;
  s.step(step(0, 0, 100));
  EXPECT_EQ(s.step_time(), Time(100));
  EXPECT_EQ(s.steady_from(), -1);
  s.step(step(1, 100, 190));
  EXPECT_EQ(s.step_time(), Time(90));
  s.step(step(2, 190, 280));
  EXPECT_EQ(s.step_time(), Time(90));
  EXPECT_EQ(s.steady_from(), 1);
  s.step(step(3, 280, 400));
  EXPECT_EQ(s.step_time(), Time(100));
  EXPECT_EQ(s.steady_from(), -1);
}

PathPiece piece(std::int32_t kind, const std::string& device, std::int64_t start_us, std::int64_t end_us,
                std::int32_t pack = -1) {
  PathPiece p;
  p.kind = kind;
  p.device = device;
  p.start = microseconds(start_us);
  p.end = microseconds(end_us);
  p.pack = pack;
  if (kind == SpanKind::kPackInFlight) p.parts.wire[static_cast<std::size_t>(LinkKind::kNetwork)] = p.end - p.start;
  return p;
}

TEST(Summary, TellsTheCriticalPathInWords) {
  Summary s;
  const std::int32_t compute = SpanKind::kFirstCompute;
  s.path(piece(compute + 0, "w0/gpu1", 0, 10));
  PathPiece backward = piece(compute + 1, "w0/gpu1", 10, 30);
  backward.layer = "conv5";
  s.path(backward);
  s.path(piece(compute + 2, "w0/gpu1", 30, 31, 0));
  backward = piece(compute + 1, "w0/gpu1", 31, 50);
  backward.layer = "conv1";
  s.path(backward);
  PathPiece flight = piece(SpanKind::kPackInFlight, "w1/gpu0", 50, 80, 3);
  flight.slowest_link = "w0/nic0→network";
  s.path(flight);
  s.path(piece(SpanKind::kPackInFlight, "w1/gpu0", 80, 90, 4));
  s.path(piece(compute + 4, "w1/gpu0", 90, 95, 4));
  EXPECT_EQ(s.path_in_words(),
            (std::vector<std::string>{
                "10.0 µs: forward pass on w0/gpu1",
                "40.0 µs: backward pass on w0/gpu1, until \"conv1\" is done; 1.00 µs of it for copies into 1 pack",
                "40.0 µs: 2 packs, 3 to 4 in flight, one after the other: 40.0 µs moving bytes over network links; the "
                "slowest link on the way is "
                "w0/nic0→network",
                "5.00 µs: update (pack 4) on w1/gpu0"}));
}

}  // namespace
}  // namespace tutti::core
