#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/random.h"
#include "core/plan/compute_kind.h"
#include "core/schedule/step.h"
#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"
#include "tests/core/timeline/written_timeline.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

/// Records everything that a sink receives as text. Two timelines are equal if their texts are.
class Transcript : public TimelineSink {
 public:
  std::map<TrackId, std::string> spans;
  std::string rest;

  void begin(const RunInfo& r) override {
    rest += fmt::format("run {} {} {} {} {} {}\n", r.scenario, r.scenario_text, r.version,
                        r.executor, r.steps, r.devices_in_memory);
    for (const RunInfo::PackInfo& p : r.packs)
      rest += fmt::format("of {} {} {} {} {} {} {}\n", fmt::join(p.gradients, " "), p.bytes.count(),
                          p.type, p.nccl, p.band_low, p.band_high, p.capped_at);
    for (const std::string& layer : r.layers) rest += layer;
    for (const std::string& n : r.notes) rest += n;
  }
  void track(const Track& t) override {
    rest += fmt::format("track {} {} {} {} {} {}\n", t.id, static_cast<int>(t.kind), t.worker,
                        t.device, t.slot, t.lane);
  }
  void span(TrackId track, const Span& s) override {
    spans[track] += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", s.start.count(),
                                s.duration.count(), s.wait.count(), s.kind, s.step, s.pack, s.index,
                                s.bytes.count(), s.peer, s.peer_index);
  }
  void step(const StepRecord& s) override {
    rest += fmt::format("step {} {} {} {} {} {} {} {}\n", s.step, s.start.count(), s.end.count(),
                        s.slowest, s.exposed.count(), s.awaited, s.awaited_for.count(),
                        s.core_wait.count());
  }
  void pack(const PackRecord& p) override {
    rest += fmt::format("pack {} {} {} {}\n", p.step, p.pack, p.ready.count(), p.end.count());
  }
  void link(const LinkRecord& l) override {
    rest += fmt::format("link {} {} {}", l.name, l.bytes.count(), l.bin_width.count());
    for (const auto b : l.bins) rest += fmt::format(" {}", b);
  }
  void path(const PathPiece& p) override {
    rest += fmt::format("path {} {} {} {} {} {}\n", p.kind, p.device, p.layer, p.end.count(),
                        p.parts.total().count(), p.slowest_link);
  }
  void steady(const SteadyState& s) override {
    rest += fmt::format("steady {} {} {} {} {} {}\n", s.step_time.count(), s.low.count(),
                        s.high.count(), s.first_step, s.end_step, s.steady);
  }
  void note(const std::string& text) override { rest += text; }
  void end() override { rest += "end"; }
};

TEST(Timeline, WritingAndReadingPreserveIt) {
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
    // The reader reports the late note together with the early ones.
    EXPECT_EQ(before.rest.size(), after.rest.size());
    EXPECT_THAT(after.rest, HasSubstr("take notesaid late"));
  }
}

TEST(Timeline, PreservesEveryKindOfSpanAlsoOnTheCriticalPath) {
  std::vector<std::int32_t> kinds{SpanKind::kPackInFlight, SpanKind::kChannel, SpanKind::kExchange};
  for (int step = 0; step <= static_cast<int>(StepKind::kSwitchReduce); ++step)
    kinds.push_back(step);
  for (int compute = 0; compute <= static_cast<int>(ComputeKind::kConvertBack); ++compute)
    kinds.push_back(SpanKind::kFirstCompute + compute);
  std::ostringstream out;
  Transcript before, after;
  TimelineWriter writer(out);
  TimelineTee tee(before, writer);
  tee.begin({});
  tee.track({0, TrackKind::kCompute, 0, "gpu0", 0, -1});
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Span span;
    span.start = Time(static_cast<std::int64_t>(10 * i));
    span.duration = Time(10);
    span.kind = kinds[i];
    tee.span(0, span);
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    PathPiece piece;
    piece.kind = kinds[i];
    piece.start = Time(static_cast<std::int64_t>(10 * i));
    piece.end = piece.start + Time(10);
    tee.path(piece);
  }
  tee.end();
  const auto reader = TimelineReader::from_bytes(out.str(), "t");
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_EQ(reader->damage(), "");
  ASSERT_TRUE(reader->replay(after));
  EXPECT_EQ(before.spans, after.spans);
  EXPECT_EQ(before.rest, after.rest);
}

TEST(Timeline, ReadsATruncatedFileUpToItsEnd) {
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
    EXPECT_LE(spans, last_spans) << "a shorter file cannot contain more records";
    last_spans = spans;
  }
}

TEST(Timeline, ReadsTheUndamagedPartOfADamagedFile) {
  const std::string whole = written(300);
  Random random(9);
  int damaged = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (std::uint64_t i = 1 + random.below(8); i > 0; --i)
      bytes[8 + random.below(bytes.size() - 8)] = static_cast<char>(random.next());
    const auto reader = TimelineReader::from_bytes(bytes, "t");
    ASSERT_TRUE(reader) << "the magic is whole";
    Transcript transcript;
    damaged += !reader->complete();
    EXPECT_TRUE(reader->replay(transcript)) << "what is damaged was left out";
    std::ostringstream out;
    static_cast<void>(export_perfetto(*reader, out));
    static_cast<void>(export_csv(*reader, CsvContent::kSpans, out));
    static_cast<void>(export_svg(*reader));
  }
  EXPECT_GT(damaged, 1000);
}

/// Returns a file of three blocks (steps, packs and spans) for each of `steps` steps, as a real run
/// writes it.
std::string of_many_blocks(int steps) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  Track track;
  track.device = "gpu0";
  writer.track(track);
  for (int s = 0; s < steps; ++s) {
    Span span;
    span.start = Time(1000 * s);
    span.duration = Time(1 + s % 7);
    span.step = s;
    writer.span(track.id, span);
    StepRecord step;
    step.step = s;
    step.start = Time(1000 * s);
    step.end = Time(1000 * s + 1000);
    writer.step(step);
    PackRecord pack;
    pack.step = s;
    writer.pack(pack);
    writer.flush();
  }
  writer.end();
  return std::move(out).str();
}

/// Reads the spans of all steps, and returns the number of spans that are as of_many_blocks() wrote
/// them.
int right_spans(const TimelineReader& reader) {
  int right = 0;
  for (const auto& block : reader.span_blocks()) {
    const auto spans = reader.read(block);
    if (!spans) continue;
    for (const Span& s : *spans)
      right += s.start == Time(1000 * s.step) && s.duration == Time(1 + s.step % 7);
  }
  return right;
}

/// Returns the offsets of the blocks of earlier_index, without their lengths.
std::vector<std::size_t> earlier_indexes(const std::string& bytes) {
  constexpr char kTag = 14 << 3 | 2;  // of the field Block.earlier_index
  std::vector<std::size_t> found;
  for (std::size_t at = kTimelineMagic.size(); at < bytes.size() - 16;) {
    std::size_t length = 0;
    int shift = 0;
    do {
      length |= static_cast<std::size_t>(bytes[at] & 0x7f) << shift;
      shift += 7;
    } while ((bytes[at++] & 0x80) != 0);
    if (bytes[at] == kTag) found.push_back(at);
    at += length;
  }
  return found;
}

TEST(Timeline, TheIndexOfALongFileHasSeveralBlocks) {
  constexpr int kSteps = 5'000;
  const std::string whole = of_many_blocks(kSteps);
  for (const auto check : {TimelineReader::Check::kNow, TimelineReader::Check::kWhenRead}) {
    const auto reader = TimelineReader::from_bytes(whole, "t", check);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->complete()) << reader->damage();
    EXPECT_EQ(std::ssize(reader->steps()), kSteps);
    EXPECT_EQ(std::ssize(reader->packs()), kSteps);
    EXPECT_EQ(std::ssize(reader->span_blocks()), kSteps);
    EXPECT_EQ(right_spans(*reader), kSteps);
  }
  // The writer's memory is bounded, because the index at the end lists at most 4096 blocks and one
  // entry for each 4096 blocks before.
  std::uint64_t index_at = 0;
  for (std::size_t i = 0; i < 8; ++i)
    index_at |= std::uint64_t{static_cast<std::uint8_t>(whole[whole.size() - 16 + i])} << 8 * i;
  EXPECT_LT(whole.size() - index_at, kSpansPerBlock * 30);
}

TEST(Timeline, ReadsATruncatedLongFileAndOneWithADamagedIndex) {
  constexpr int kSteps = 3'000;
  const std::string whole = of_many_blocks(kSteps);
  const auto cut = TimelineReader::from_bytes(whole.substr(0, whole.size() - 20), "t");
  ASSERT_TRUE(cut);
  EXPECT_FALSE(cut->complete());
  EXPECT_EQ(right_spans(*cut), kSteps);
  const std::vector<std::size_t> pieces = earlier_indexes(whole);
  ASSERT_EQ(pieces.size(), 2U) << "9000 blocks of records, and one each of run and tracks";
  for (const std::size_t piece : pieces) {
    std::string bytes = whole;
    bytes[piece + 1'000] = static_cast<char>(bytes[piece + 1'000] ^ 0x10);
    const auto damaged = TimelineReader::from_bytes(bytes, "t");
    ASSERT_TRUE(damaged);
    EXPECT_FALSE(damaged->complete());
    EXPECT_EQ(right_spans(*damaged), kSteps) << "the blocks are found without the index";
  }
  // The blocks before the first piece of the index are found, although the length of one is wrong.
  std::string bytes = whole;
  bytes[pieces[0] / 2] = static_cast<char>(bytes[pieces[0] / 2] ^ 0x7f);
  const auto damaged = TimelineReader::from_bytes(bytes, "t");
  ASSERT_TRUE(damaged);
  EXPECT_FALSE(damaged->complete());
  EXPECT_GE(right_spans(*damaged), kSteps - 1);
}

TEST(Timeline, RefusesOtherFiles) {
  const auto refused = [](const auto& read, ProblemCode code, const std::string& file) {
    EXPECT_THAT(read, test::FailsWithAll(std::vector{test::Mistake{code, "", 0, 0, file}}));
  };
  for (const char* other : {"cluster { }", ""})
    refused(TimelineReader::from_bytes(other, "t"), ProblemCode::kWrongType, "t");
  refused(TimelineReader::open("/no/such/file"), ProblemCode::kMissing, "/no/such/file");
  for (const char* none : {"/tmp", "/dev/zero"})
    refused(TimelineReader::open(none), ProblemCode::kWrongType, none);
}

TEST(Timeline, CostsAbout25BytesPerSpan) {
  const double per_span =
      static_cast<double>(written(20'000).size() - written(0).size()) / (5 * 20'000);
  EXPECT_LT(per_span, 25);
}

}  // namespace
}  // namespace tutti::core
