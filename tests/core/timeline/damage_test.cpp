// Timelines that nobody's writer would write, and what writers have to do so that theirs are never taken for one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include "core/proto/perfetto.pb.h"
#include "core/proto/timeline.pb.h"
#include "core/text/utf8.h"
#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/reader.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"

namespace tutti::core {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::string prefixed(const std::string& block) {
  std::uint8_t prefix[10];
  const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(block.size(), prefix);
  return std::string(reinterpret_cast<const char*>(prefix), static_cast<std::size_t>(end - prefix)) + block;
}

std::string fixed64(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

/// A file that was cut off before its index.
std::string without_index(const std::vector<proto::Block>& blocks) {
  std::string bytes(kTimelineMagic);
  for (const proto::Block& block : blocks) bytes += prefixed(block.SerializeAsString());
  return bytes;
}

std::string with_index(const std::string& blocks, const proto::BlockIndex& index) {
  proto::Block block;
  *block.mutable_index() = index;
  return blocks + prefixed(block.SerializeAsString()) + fixed64(blocks.size()) + std::string(kTimelineEnd);
}

void add_entry(proto::BlockIndex& index, std::uint64_t offset, const proto::Block& block) {
  index.add_offset(offset);
  index.add_content(block.content_case());
  index.add_track(0);
  index.add_first_start_ps(0);
  index.add_last_end_ps(block.has_spans() ? 5 : 0);
  index.add_spans(block.has_spans() ? 1 : 0);
}

TimelineReader reader_of(std::string bytes) {
  auto reader = TimelineReader::from_bytes(std::move(bytes), "t");
  EXPECT_TRUE(reader);
  return std::move(*reader);
}

/// Everything that can be done with a timeline.
void use(const TimelineReader& reader) {
  Summary summary;
  static_cast<void>(reader.replay(summary));
  static_cast<void>(summary.step_time());
  static_cast<void>(summary.path_in_words());
  std::ostringstream out;
  static_cast<void>(export_perfetto(reader, out));
  for (const char* table : {"spans", "packs", "steps", "links", "path"})
    static_cast<void>(export_csv(reader, *parse_csv_content(table), out));
  static_cast<void>(export_svg(reader));
}

// --- blocks that are sane, to be spoilt ---

proto::Block tracks_block() {
  proto::Block block;
  proto::TrackInfo& track = *block.mutable_tracks()->add_track();
  track.set_device("gpu0");
  track.set_lane(-1);
  return block;
}

proto::Block spans_block(std::int64_t start = 0) {
  proto::Block block;
  proto::SpanColumns& c = *block.mutable_spans();
  c.add_start_ps(start);
  c.add_duration_ps(5);
  c.add_wait_ps(1);
  c.add_kind(SpanKind::kFirstCompute);
  c.add_step(0);
  c.add_pack(-1);
  c.add_index(0);
  c.add_bytes(0);
  c.add_peer(-1);
  c.add_peer_index(-1);
  return block;
}

proto::Block steps_block() {
  proto::Block block;
  proto::StepColumns& c = *block.mutable_steps();
  c.add_step(0);
  c.add_start_ps(0);
  c.add_end_ps(100);
  c.add_slowest("w0/gpu0");
  c.add_forward_ps(1);
  c.add_backward_ps(2);
  c.add_other_compute_ps(3);
  c.add_communication_ps(4);
  c.add_exposed_ps(5);
  return block;
}

proto::Block packs_block() {
  proto::Block block;
  proto::PackColumns& c = *block.mutable_packs();
  c.add_step(0);
  c.add_pack(0);
  c.add_ready_ps(1);
  c.add_first_start_ps(2);
  c.add_last_start_ps(3);
  c.add_end_ps(4);
  return block;
}

proto::Block links_block() {
  proto::Block block;
  proto::LinkLoad& link = *block.mutable_links()->add_link();
  link.set_name("a→b");
  link.set_bandwidth_bytes_per_s(1'000'000'000);
  link.set_bin_width_ps(10);
  link.add_bin_bytes(1);
  return block;
}

proto::Block path_block() {
  proto::Block block;
  proto::PathPiece& piece = *block.mutable_path()->add_piece();
  piece.set_kind(SpanKind::kPackInFlight);
  piece.set_end_ps(10);
  piece.set_launch_ps(10);
  for (int i = 0; i < kLinkKinds; ++i) piece.add_wire_ps(0);
  return block;
}

std::vector<proto::Block> sane_blocks() {
  return {tracks_block(), spans_block(), steps_block(), packs_block(), links_block(), path_block()};
}

std::size_t records(const TimelineReader& reader) {
  return reader.tracks().size() + reader.span_blocks().size() + reader.steps().size() + reader.packs().size() +
         reader.links().size() + reader.path().size();
}

TEST(TimelineDamage, WhatCannotBeIsDamaged) {
  ASSERT_EQ(records(reader_of(without_index(sane_blocks()))), 6u) << "every block holds one thing";
  using Spoil = std::function<void(std::vector<proto::Block>&)>;
  const auto track = [](auto set) { return [set](auto& b) { set(*b[0].mutable_tracks()->mutable_track(0)); }; };
  const auto spans = [](auto set) { return [set](auto& b) { set(*b[1].mutable_spans()); }; };
  const auto steps = [](auto set) { return [set](auto& b) { set(*b[2].mutable_steps()); }; };
  const auto packs = [](auto set) { return [set](auto& b) { set(*b[3].mutable_packs()); }; };
  const auto link = [](auto set) { return [set](auto& b) { set(*b[4].mutable_links()->mutable_link(0)); }; };
  const auto piece = [](auto set) { return [set](auto& b) { set(*b[5].mutable_path()->mutable_piece(0)); }; };
  const std::vector<std::pair<const char*, Spoil>> ways{
      {"track below 0", track([](auto& t) { t.set_id(-1); })},
      {"worker below 0", track([](auto& t) { t.set_worker(-1); })},
      {"worker + 1 overflows", track([](auto& t) { t.set_worker(std::numeric_limits<std::int32_t>::max()); })},
      {"slot · 1000 overflows", track([](auto& t) { t.set_slot(std::numeric_limits<std::int32_t>::max()); })},
      {"lane", track([](auto& t) { t.set_lane(-2); })},
      {"kind of track", track([](auto& t) { t.set_kind(3); })},
      {"spans of no track", spans([](auto& s) { s.set_track(-1); })},
      {"span before the run", spans([](auto& s) { s.set_start_ps(0, -1); })},
      {"span beyond the horizon", spans([](auto& s) { s.set_start_ps(0, kHuge - 3); })},
      {"negative duration", spans([](auto& s) { s.set_duration_ps(0, -1); })},
      {"start + duration overflows", spans([](auto& s) { s.set_start_ps(0, 9), s.set_duration_ps(0, kHuge - 3); })},
      {"negative wait", spans([](auto& s) { s.set_wait_ps(0, -1); })},
      {"kind of span", spans([](auto& s) { s.set_kind(0, std::numeric_limits<std::int32_t>::min()); })},
      {"step of span", spans([](auto& s) { s.set_step(0, -1); })},
      {"bytes of span", spans([](auto& s) { s.set_bytes(0, -1); })},
      {"peer", spans([](auto& s) { s.set_peer(0, -2); })},
      {"columns", spans([](auto& s) { s.add_bytes(0); })},
      {"step that lasts for ever", steps([](auto& s) { s.set_end_ps(0, kHuge); })},
      {"step that ends before it starts", steps([](auto& s) { s.set_start_ps(0, 101); })},
      {"negative part of a step", steps([](auto& s) { s.set_exposed_ps(0, -1); })},
      {"step number", steps([](auto& s) { s.set_step(0, -1); })},
      {"time of a pack", packs([](auto& p) { p.set_end_ps(0, kHuge); })},
      {"pack number", packs([](auto& p) { p.set_pack(0, -2); })},
      {"kind of link", link([](auto& l) { l.set_kind(kLinkKinds); })},
      {"bandwidth", link([](auto& l) { l.set_bandwidth_bytes_per_s(-1); })},
      {"busy", link([](auto& l) { l.set_busy_ps(-1); })},
      {"bins · width overflows", link([](auto& l) { l.set_bin_width_ps(kHorizon.count()), l.add_bin_bytes(1); })},
      {"bytes in a bin", link([](auto& l) { l.set_bin_bytes(0, -1); })},
      {"bins of no link", link([](auto& l) { l.set_goes_on(true); })},
      {"piece that ends before it starts", piece([](auto& p) { p.set_start_ps(11); })},
      {"piece longer than time", piece([](auto& p) { p.set_end_ps(kHuge); })},
      {"parts longer than the piece", piece([](auto& p) { p.set_queue_ps(1); })},
      {"negative part", piece([](auto& p) { p.set_wire_ps(0, -1); })},
      {"kinds of wire", piece([](auto& p) { p.clear_wire_ps(); })},
      {"kind of piece", piece([](auto& p) { p.set_kind(99); })},
  };
  for (const auto& [what, spoil] : ways) {
    std::vector<proto::Block> blocks = sane_blocks();
    spoil(blocks);
    const TimelineReader reader = reader_of(without_index(blocks));
    EXPECT_EQ(records(reader), 5u) << what;
    use(reader);
  }
}

TEST(TimelineDamage, PiecesOfThePathFollowEachOther) {
  // Otherwise their parts would add up to more than there is time.
  proto::Block late = path_block();
  late.mutable_path()->mutable_piece(0)->set_end_ps(kHorizon.count());
  late.mutable_path()->mutable_piece(0)->set_launch_ps(kHorizon.count());
  const TimelineReader reader = reader_of(without_index({late, late, late}));
  EXPECT_THAT(reader.path(), SizeIs(1));
  use(reader);
}

TEST(TimelineDamage, ASpanBlockThatTheIndexMisstatesIsAnError) {
  const std::vector<proto::Block> blocks{tracks_block(), spans_block()};
  const std::size_t spans_at = without_index({tracks_block()}).size();
  proto::BlockIndex index;
  add_entry(index, 8, blocks[0]);
  add_entry(index, spans_at, blocks[1]);
  Summary summary;
  const TimelineReader sane = reader_of(with_index(without_index(blocks), index));
  EXPECT_TRUE(sane.complete());
  EXPECT_TRUE(sane.replay(summary));
  for (const auto& misstate : std::vector<std::function<void(proto::BlockIndex&)>>{
           [](auto& i) { i.set_track(1, 1); }, [](auto& i) { i.set_first_start_ps(1, 1); },
           [](auto& i) { i.set_last_end_ps(1, 6); }, [](auto& i) { i.set_spans(1, 2); }}) {
    proto::BlockIndex wrong = index;
    misstate(wrong);
    const TimelineReader reader = reader_of(with_index(without_index(blocks), wrong));
    ASSERT_TRUE(reader.complete());
    const auto replayed = reader.replay(summary);
    ASSERT_FALSE(replayed);
    EXPECT_THAT(replayed.error().message(), HasSubstr(fmt::format("t: the block at byte {} is damaged", spans_at)));
  }
}

TEST(TimelineDamage, AnIndexThatNamesBytesTwiceIsNotBelieved) {
  const std::vector<proto::Block> blocks{tracks_block(), spans_block(), steps_block()};
  const std::size_t spans_at = without_index({blocks[0]}).size();
  const std::size_t steps_at = without_index({blocks[0], blocks[1]}).size();
  const auto read = [&](const std::vector<std::pair<std::size_t, int>>& entries) {
    proto::BlockIndex index;
    for (const auto& [offset, block] : entries) add_entry(index, offset, blocks[static_cast<std::size_t>(block)]);
    return reader_of(with_index(without_index(blocks), index));
  };
  EXPECT_TRUE(read({{8, 0}, {spans_at, 1}, {steps_at, 2}}).complete());
  for (const auto& entries : std::vector<std::vector<std::pair<std::size_t, int>>>{
           {{8, 0}, {spans_at, 1}, {spans_at, 1}, {spans_at, 1}, {steps_at, 2}},  // again and again
           {{8, 0}, {steps_at, 2}, {spans_at, 1}},                                // backwards
           {{8, 0}, {spans_at, 1}, {steps_at, 2}, {steps_at + 1, 2}},             // inside another
           {{8, 0}, {steps_at, 2}},                                               // not all
           {{0, 0}, {spans_at, 1}, {steps_at, 2}},                                // the magic
           {{8, 0}, {spans_at, 1}, {kHuge, 2}}}) {                                // behind the end
    const TimelineReader reader = read(entries);
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(records(reader), 3u) << "each block was read once";
  }
}

TEST(TimelineDamage, AnIndexThatPointsNowhereIsNotBelieved) {
  const std::string blocks = without_index({tracks_block(), steps_block()});
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{blocks.size() + 16},
                                 std::numeric_limits<std::uint64_t>::max()}) {
    const TimelineReader reader = reader_of(blocks + fixed64(at) + std::string(kTimelineEnd));
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(records(reader), 2u);
  }
}

TEST(TimelineDamage, NothingIsTakenOfBlocksWithMoreRecordsThanWritersMake) {
  constexpr int kMany = 400'000;  // two bytes each, so that the block is not too long
  const auto block = [](auto add) {
    proto::Block many;
    for (int i = 0; i < kMany; ++i) add(many);
    return many;
  };
  const TimelineReader reader = reader_of(without_index({
      block([](auto& b) { b.mutable_tracks()->add_track(); }),
      block([](auto& b) { b.mutable_links()->add_link(); }),
      block([](auto& b) { b.mutable_path()->add_piece(); }),
      block([](auto& b) { b.mutable_notes()->add_note(); }),
      block([](auto& b) { b.mutable_layers()->add_layer(); }),
      block([](auto& b) { b.mutable_plan()->add_pack(); }),
      steps_block(),
  }));
  EXPECT_EQ(records(reader), 1u) << "the step behind them";
  EXPECT_THAT(reader.run().notes, IsEmpty());
  EXPECT_THAT(reader.run().layers, IsEmpty());
  EXPECT_THAT(reader.run().packs, IsEmpty());
}

TEST(TimelineDamage, LongBlocksAreNotEvenParsed) {
  proto::Block block;
  for (std::uint64_t i = 0; i < kLongestBlock; ++i) block.mutable_notes()->add_note();
  const TimelineReader reader = reader_of(without_index({tracks_block(), block, steps_block()}));
  EXPECT_THAT(reader.run().notes, IsEmpty());
  EXPECT_THAT(reader.damage(), HasSubstr("what lies behind that cannot be read"));
}

TEST(TimelineDamage, ZerosAreTheEnd) {
  const std::string whole = without_index({tracks_block()});
  const TimelineReader reader = reader_of(whole + std::string(64u << 20, '\0'));
  EXPECT_EQ(reader.damage(), fmt::format("is damaged at byte {}; what lies behind that cannot be read", whole.size()));
  EXPECT_THAT(reader.tracks(), SizeIs(1));
}

TEST(TimelineDamage, ATrackIsDeclaredOnce) {
  EXPECT_THAT(reader_of(without_index({tracks_block(), tracks_block()})).tracks(), SizeIs(1));
}

TEST(TimelineDamage, TheLongestStepThereCanBeIsDrawn) {
  std::vector<proto::Block> blocks = sane_blocks();
  blocks[2].mutable_steps()->set_end_ps(0, kHorizon.count());
  EXPECT_THAT(*export_svg(reader_of(without_index(blocks))), HasSubstr("critical path"));
}

// --- what is said of it ---

/// A sane file with its index, and where its blocks begin.
struct Indexed {
  std::string bytes;
  std::vector<std::size_t> at;
};

Indexed indexed() {
  const std::vector<proto::Block> blocks{tracks_block(), spans_block(), steps_block(), path_block()};
  Indexed made{std::string(kTimelineMagic), {}};
  proto::BlockIndex index;
  for (const proto::Block& block : blocks) {
    made.at.push_back(made.bytes.size());
    add_entry(index, made.bytes.size(), block);
    made.bytes += prefixed(block.SerializeAsString());
  }
  made.bytes = with_index(made.bytes, index);
  return made;
}

TEST(TimelineDamage, BlocksThatAreDamagedAreToldAndTheOthersStay) {
  const Indexed whole = indexed();
  EXPECT_EQ(reader_of(whole.bytes).damage(), "");
  // Inside a block, and at its length, which scanning could not get past.
  for (const std::size_t inside : {std::size_t{1}, std::size_t{0}}) {
    std::string bytes = whole.bytes;
    bytes.replace(whole.at[0] + inside, 4, "\xff\xff\xff\xff");
    const TimelineReader reader = reader_of(bytes);
    EXPECT_EQ(reader.damage(), "is damaged at byte 8: 1 of its 4 blocks is not whole, and what it held is missing");
    EXPECT_FALSE(reader.complete());
    EXPECT_THAT(reader.tracks(), IsEmpty());
    EXPECT_THAT(reader.span_blocks(), SizeIs(1));
    EXPECT_THAT(reader.steps(), SizeIs(1));
    EXPECT_THAT(reader.path(), SizeIs(1));
    use(reader);
  }
  // Without an index: as far as one block lies behind the other.
  std::string scanned = without_index({tracks_block(), steps_block(), path_block()});
  scanned.replace(whole.at[0] + 1, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(reader_of(scanned).damage(),
              testing::AllOf(HasSubstr("1 of its 3 blocks"), HasSubstr("ends before its index")));
  EXPECT_THAT(reader_of(scanned).steps(), SizeIs(1));
}

TEST(TimelineDamage, WhatIsCutOffIsNotCalledDamaged) {
  const Indexed whole = indexed();
  const auto damage_of = [](const std::string& bytes) { return reader_of(bytes).damage(); };
  EXPECT_THAT(damage_of(whole.bytes.substr(0, whole.at[1])), HasSubstr("ends before its index: the run did not end"));
  EXPECT_THAT(damage_of(whole.bytes.substr(0, whole.at[2] + 3)),
              HasSubstr(fmt::format("ends before its index, in a block that begins at byte {}", whole.at[2])));
  std::string index_lost = whole.bytes;
  index_lost[index_lost.size() - 9] = 'x';  // where it says that the index begins
  EXPECT_THAT(damage_of(index_lost), HasSubstr("has an index that is damaged"));
  EXPECT_THAT(damage_of(whole.bytes.substr(0, whole.bytes.size() - 3)), HasSubstr("ends in its index"));
  EXPECT_THAT(reader_of(index_lost).path(), SizeIs(1)) << "nothing is missing";
}

TEST(TimelineDamage, WhereNothingIsWholeThereIsNoTimeline) {
  const Indexed whole = indexed();
  for (const std::string& bytes : {whole.bytes.substr(0, 8), whole.bytes.substr(0, 10)}) {
    const auto reader = TimelineReader::from_bytes(bytes, "t");
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message(), HasSubstr("t: nothing in this timeline is whole: the file ends before"));
  }
}

// --- what a writer is given ---

RunInfo with_texts(const std::string& text) {
  RunInfo run;
  run.scenario = run.scenario_file = run.scenario_text = run.version = run.executor = run.network_model = text;
  run.cluster = run.workload = run.strategy = run.timing = run.bound_reason = text;
  run.notes = {text};
  run.layers = {text};
  run.packs = {{{text, text}, Bytes(4), text}};
  return run;
}

/// A timeline in which every text is `text`.
std::string timeline_of(const std::string& text) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin(with_texts(text));
  writer.track({0, TrackKind::kCompute, 0, text, 0, -1});
  Span span;
  span.duration = Time(5);
  span.kind = SpanKind::kFirstCompute + 1;
  writer.span(0, span);
  writer.step({0, Time(), Time(100), text, Time(), Time(), Time(), Time(), Time()});
  writer.link({text, LinkKind::kPcie, Bandwidth(1), Bytes(1), Time(1), Time(1), {1, 2}});
  PathPiece piece;
  piece.kind = SpanKind::kFirstCompute;
  piece.device = piece.layer = piece.slowest_link = piece.queued_at = text;
  piece.end = Time(100);
  writer.path(piece);
  writer.note(text);
  writer.end();
  return out.str();
}

TEST(TimelineTexts, MayBeAnyBytes) {
  for (const std::string& text : {std::string("Gefäß→"), std::string("\xff\xfe/a\x80"), std::string("a\0b\x01\n", 5)}) {
    const TimelineReader reader = reader_of(timeline_of(text));
    ASSERT_TRUE(reader.complete());
    const RunInfo& run = reader.run();
    for (const std::string& field :
         {run.scenario, run.scenario_file, run.scenario_text, run.version, run.executor, run.network_model, run.cluster,
          run.workload, run.strategy, run.timing, run.bound_reason, run.packs.at(0).type, reader.tracks().at(0).device,
          reader.steps().at(0).slowest, reader.links().at(0).name, reader.path().at(0).device,
          reader.path().at(0).layer, reader.path().at(0).slowest_link, reader.path().at(0).queued_at}) {
      EXPECT_EQ(field, text);
    }
    EXPECT_THAT(run.notes, ElementsAre(text, text));
    EXPECT_THAT(run.layers, ElementsAre(text));
    EXPECT_THAT(run.packs.at(0).gradients, ElementsAre(text, text));
  }
}

TEST(TimelineTexts, AreUtf8InExports) {
  const TimelineReader reader =
      reader_of(timeline_of("a\xff"
                            "b\x80\x01"));
  std::ostringstream perfetto, csv;
  ASSERT_TRUE(export_perfetto(reader, perfetto));
  perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(perfetto.str()));
  std::vector<std::string> names;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    names.push_back(packet.track_descriptor().name());
    for (const auto& name : packet.interned_data().event_names()) names.push_back(name.name());
  }
  for (const std::string& name : names) EXPECT_EQ(valid_utf8(name), name.size()) << name;
  EXPECT_THAT(names, testing::Contains("a\uFFFDb\uFFFD\x01"));
  EXPECT_THAT(names, testing::Contains("backward a\uFFFDb\uFFFD\x01"));

  for (const char* table : {"spans", "packs", "steps", "links", "path"})
    ASSERT_TRUE(export_csv(reader, *parse_csv_content(table), csv));
  EXPECT_EQ(valid_utf8(csv.str()), csv.str().size());

  const std::string svg = *export_svg(reader);
  EXPECT_EQ(valid_utf8(svg), svg.size());
  EXPECT_THAT(svg, HasSubstr("a\uFFFDb\uFFFD\uFFFD")) << "XML knows no character 1";
}

TEST(TimelineTexts, WholeCharactersAreCutOfWhatIsTooLong) {
  std::string text;
  while (text.size() <= kLongestText) text += "ä→";
  const TimelineReader reader = reader_of(timeline_of(text));
  const std::string& cut = reader.run().scenario;
  EXPECT_LE(cut.size(), kLongestText);
  EXPECT_GT(cut.size(), kLongestText - 8);
  EXPECT_EQ(valid_utf8(cut), cut.size());
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_TRUE(text.starts_with(cut.substr(0, cut.size() - std::string("…").size())));
  EXPECT_EQ(reader.run().scenario_text, text) << "the scenario is whole, so that the run can be repeated";
}

/// The lengths of a file's blocks, the index among them.
std::vector<std::uint64_t> block_lengths(const std::string& bytes) {
  std::vector<std::uint64_t> lengths;
  std::size_t at = kTimelineMagic.size();
  while (at < bytes.size() - 16) {
    CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, 10);
    std::uint64_t length = 0;
    if (!in.ReadVarint64(&length)) break;
    lengths.push_back(length);
    at += static_cast<std::size_t>(in.CurrentPosition()) + length;
  }
  EXPECT_EQ(at, bytes.size() - 16);
  return lengths;
}

TEST(TimelineBlocks, AreShortHoweverMuchThereIs) {
  RunInfo run = with_texts("t");
  run.scenario_text = std::string(3'000'001, 'x');
  run.packs.clear();
  for (const std::size_t gradients : {30'000u, 0u, 3u}) {
    RunInfo::PackInfo& pack = run.packs.emplace_back();
    for (std::size_t i = 0; i < gradients; ++i) pack.gradients.push_back(fmt::format("{:0400}", i));
    pack.type = "float32";
    pack.bytes = Bytes(static_cast<std::int64_t>(gradients));
  }
  for (int i = 0; i < 20'000; ++i) run.layers.push_back(fmt::format("{:0200}", i));
  const std::string long_text(1'000'000, 'n');
  run.notes.assign(20, long_text);
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin(run);
  LinkRecord link{long_text, LinkKind::kPcie, Bandwidth(1), Bytes(1), Time(1), Time(1), {}};
  for (std::int64_t i = 0; i < 200'000; ++i) link.bins.push_back(kHuge - i);
  writer.link(link);
  link.bins = {7};
  for (int i = 0; i < 3'000; ++i) writer.link(link);
  std::int64_t at = 0;
  PathPiece piece;
  piece.device = piece.layer = piece.slowest_link = piece.queued_at = long_text;
  for (int i = 0; i < 50; ++i) {
    piece.start = Time(at);
    piece.end = Time(++at);
    writer.path(piece);
  }
  writer.end();

  for (const std::uint64_t length : block_lengths(out.str())) EXPECT_LE(length, kLongestBlock);
  const TimelineReader reader = reader_of(out.str());
  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(reader.run().scenario_text, run.scenario_text);
  EXPECT_EQ(reader.run().layers, run.layers);
  EXPECT_THAT(reader.run().notes, SizeIs(20));
  ASSERT_THAT(reader.run().packs, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reader.run().packs[i].gradients, run.packs[i].gradients);
    EXPECT_EQ(reader.run().packs[i].bytes, run.packs[i].bytes);
    EXPECT_EQ(reader.run().packs[i].type, "float32");
  }
  ASSERT_THAT(reader.links(), SizeIs(3'001));
  ASSERT_THAT(reader.links()[0].bins, SizeIs(200'000));
  for (std::size_t i = 0; i < 200'000; ++i) ASSERT_EQ(reader.links()[0].bins[i], kHuge - static_cast<std::int64_t>(i));
  EXPECT_THAT(reader.links()[1].bins, ElementsAre(7));
  EXPECT_THAT(reader.path(), SizeIs(50));
}

TEST(TimelineBlocks, TheIndexTakesAsManyAsItNeeds) {
  constexpr TrackId kTracks = 10'000;
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  for (TrackId t = 0; t < kTracks; ++t) writer.track({t, TrackKind::kLane, 0, "gpu0", 0, t});
  Span span;
  for (TrackId t = 0; t < kTracks; ++t) writer.span(t, span);
  writer.end();
  for (const std::uint64_t length : block_lengths(out.str())) EXPECT_LE(length, kLongestBlock);
  const TimelineReader reader = reader_of(out.str());
  ASSERT_TRUE(reader.complete());
  EXPECT_THAT(reader.tracks(), SizeIs(kTracks));
  ASSERT_THAT(reader.span_blocks(), SizeIs(kTracks));
  Summary summary;
  EXPECT_TRUE(reader.replay(summary));
}

}  // namespace
}  // namespace tutti::core
