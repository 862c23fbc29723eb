// The writer of timelines. For any records, the written file must never be read as a damaged one,
// and its blocks must have limited lengths.

#include "core/timeline/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include "core/proto/perfetto.pb.h"
#include "core/text/utf8.h"
#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/summary.h"
#include "tests/core/timeline/made_blocks.h"

namespace tutti::core {
namespace {

using google::protobuf::io::CodedInputStream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

RunInfo with_texts(const std::string& text) {
  RunInfo run;
  run.scenario = run.scenario_file = run.scenario_text = run.version = run.executor =
      run.network_model = text;
  run.cluster = run.workload = run.strategy = run.timing = run.bound_reason = text;
  run.notes = {text};
  run.layers = {text};
  run.packs = {{{text, text}, Bytes(4), text, text, 0.5, 2, text}};
  return run;
}

/// Returns a timeline in which every text is `text`.
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
  for (const std::string& text :
       {std::string("Gefäß→"), std::string("\xff\xfe/a\x80"), std::string("a\0b\x01\n", 5)}) {
    const TimelineReader reader = reader_of(timeline_of(text));
    ASSERT_TRUE(reader.complete());
    const RunInfo& run = reader.run();
    for (const std::string& field : {run.scenario,
                                     run.scenario_file,
                                     run.scenario_text,
                                     run.version,
                                     run.executor,
                                     run.network_model,
                                     run.cluster,
                                     run.workload,
                                     run.strategy,
                                     run.timing,
                                     run.bound_reason,
                                     run.packs.at(0).type,
                                     run.packs.at(0).nccl,
                                     reader.tracks().at(0).device,
                                     reader.steps().at(0).slowest,
                                     reader.links().at(0).name,
                                     reader.path().at(0).device,
                                     reader.path().at(0).layer,
                                     reader.path().at(0).slowest_link,
                                     reader.path().at(0).queued_at}) {
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
  EXPECT_THAT(svg, HasSubstr("a\uFFFDb\uFFFD\uFFFD")) << "XML does not allow character 1";
}

TEST(TimelineTexts, AreTruncatedAfterWholeCharacters) {
  std::string text;
  while (text.size() <= kLongestText) text += "ä→";
  const TimelineReader reader = reader_of(timeline_of(text));
  const std::string& cut = reader.run().scenario;
  EXPECT_LE(cut.size(), kLongestText);
  EXPECT_GT(cut.size(), kLongestText - 8);
  EXPECT_EQ(valid_utf8(cut), cut.size());
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_TRUE(text.starts_with(cut.substr(0, cut.size() - std::string("…").size())));
  EXPECT_EQ(reader.run().scenario_text, text)
      << "the scenario is whole, so that the run can be repeated";
}

/// Returns the lengths of a file's blocks, including the index.
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

TEST(TimelineBlocks, HaveALimitedSize) {
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
  for (std::size_t i = 0; i < 200'000; ++i)
    ASSERT_EQ(reader.links()[0].bins[i], kHuge - static_cast<std::int64_t>(i));
  EXPECT_THAT(reader.links()[1].bins, ElementsAre(7));
  EXPECT_THAT(reader.path(), SizeIs(50));
}

TEST(TimelineBlocks, TheIndexMayNeedSeveralBlocks) {
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

/// After a flush, the file of a run that is then killed has all records up to the flush.
TEST(TimelineBlocks, FlushedRecordsAreReadableWithoutAnEnd) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  Span span;
  span.duration = Time(5);
  for (std::int32_t step = 0; step < 3; ++step) {
    writer.track({step, TrackKind::kCompute, 0, "gpu" + std::to_string(step), 0, -1});
    writer.span(step, span);
    writer.step({step, Time(), Time(100), "w0/gpu0", Time(), Time(), Time(), Time(), Time()});
    writer.pack({step, 0, Time(1), Time(2), Time(3), Time(4)});
    writer.note("step " + std::to_string(step));
    writer.flush();
    writer.flush();  // nothing is new, so no block is written
    const TimelineReader reader = reader_of(out.str());
    const auto count = static_cast<std::size_t>(step) + 1;
    EXPECT_THAT(reader.steps(), SizeIs(count));
    EXPECT_THAT(reader.packs(), SizeIs(count));
    EXPECT_THAT(reader.tracks(), SizeIs(count));
    EXPECT_THAT(reader.span_blocks(), SizeIs(count));
    EXPECT_THAT(reader.run().notes, SizeIs(count));
    EXPECT_FALSE(reader.complete()) << "it has no index";
  }
  writer.end();
  const TimelineReader reader = reader_of(out.str());
  EXPECT_TRUE(reader.complete());
  EXPECT_THAT(reader.steps(), SizeIs(3));
}

/// A simulation does not flush, so that its file is always the same. A truncated file of a
/// simulation has all spans of the steps that it contains.
TEST(TimelineBlocks, StepsFollowTheirSpans) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, TrackKind::kCompute, 0, "gpu0", 0, -1});
  Span span;
  constexpr int kSpansOfAStep = 10'000, kSteps = 60;
  for (std::int32_t step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kSpansOfAStep; ++i) writer.span(0, span);
    writer.step({step, Time(), Time(100), "w0/gpu0", Time(), Time(), Time(), Time(), Time()});
  }
  const TimelineReader reader = reader_of(out.str());
  std::int64_t spans = 0;
  for (const auto& block : reader.span_blocks()) spans += block.spans;
  EXPECT_GT(spans, kSpansOfAStep * kSteps / 2);
  EXPECT_GT(reader.steps().size(), kSteps - 5u);
}

}  // namespace
}  // namespace tutti::core
