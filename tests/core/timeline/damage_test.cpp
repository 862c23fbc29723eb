// Timelines that no writer produces: blocks with impossible values, an index that contradicts the
// blocks, and single flipped bits. Such timelines must be rejected or read without the damaged
// part.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include <fmt/format.h>

#include "core/timeline/export_svg.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"
#include "tests/core/timeline/made_blocks.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(TimelineDamage, ImpossibleRecordsAreDamage) {
  ASSERT_EQ(records(reader_of(without_index(sane_blocks()))), 6u) << "every block holds one thing";
  using Spoil = std::function<void(std::vector<proto::Block>&)>;
  const auto track = [](auto set) {
    return [set](auto& b) { set(*b[0].mutable_tracks()->mutable_track(0)); };
  };
  const auto spans = [](auto set) { return [set](auto& b) { set(*b[1].mutable_spans()); }; };
  const auto steps = [](auto set) { return [set](auto& b) { set(*b[2].mutable_steps()); }; };
  const auto packs = [](auto set) { return [set](auto& b) { set(*b[3].mutable_packs()); }; };
  const auto link = [](auto set) {
    return [set](auto& b) { set(*b[4].mutable_links()->mutable_link(0)); };
  };
  const auto piece = [](auto set) {
    return [set](auto& b) { set(*b[5].mutable_path()->mutable_piece(0)); };
  };
  const std::vector<std::pair<const char*, Spoil>> ways{
      {"track below 0", track([](auto& t) { t.set_id(-1); })},
      {"worker below 0", track([](auto& t) { t.set_worker(-1); })},
      {"worker + 1 overflows",
       track([](auto& t) { t.set_worker(std::numeric_limits<std::int32_t>::max()); })},
      {"slot · 1000 overflows",
       track([](auto& t) { t.set_slot(std::numeric_limits<std::int32_t>::max()); })},
      {"lane", track([](auto& t) { t.set_lane(-2); })},
      {"kind of track", track([](auto& t) { t.set_kind(3); })},
      {"spans of no track", spans([](auto& s) { s.set_track(-1); })},
      {"span before the run", spans([](auto& s) { s.set_start_ps(0, -1); })},
      {"span beyond the horizon", spans([](auto& s) { s.set_start_ps(0, kHuge - 3); })},
      {"negative duration", spans([](auto& s) { s.set_duration_ps(0, -1); })},
      {"start + duration overflows",
       spans([](auto& s) { s.set_start_ps(0, 9), s.set_duration_ps(0, kHuge - 3); })},
      {"negative wait", spans([](auto& s) { s.set_wait_ps(0, -1); })},
      {"kind of span",
       spans([](auto& s) { s.set_kind(0, std::numeric_limits<std::int32_t>::min()); })},
      {"step of span", spans([](auto& s) { s.set_step(0, -1); })},
      {"bytes of span", spans([](auto& s) { s.set_bytes(0, -1); })},
      {"peer", spans([](auto& s) { s.set_peer(0, -2); })},
      {"columns", spans([](auto& s) { s.add_bytes(0); })},
      {"step that lasts for ever", steps([](auto& s) { s.set_end_ps(0, kHuge); })},
      {"step that ends before it starts", steps([](auto& s) { s.set_start_ps(0, 101); })},
      {"negative part of a step", steps([](auto& s) { s.set_exposed_ps(0, -1); })},
      {"negative wait for a core", steps([](auto& s) { s.add_core_wait_ps(-1); })},
      {"more waits for a core than steps",
       steps([](auto& s) { s.add_core_wait_ps(1), s.add_core_wait_ps(1); })},
      {"step number", steps([](auto& s) { s.set_step(0, -1); })},
      {"time of a pack", packs([](auto& p) { p.set_end_ps(0, kHuge); })},
      {"pack number", packs([](auto& p) { p.set_pack(0, -2); })},
      {"kind of link", link([](auto& l) { l.set_kind(kLinkKinds); })},
      {"bandwidth", link([](auto& l) { l.set_bandwidth_bytes_per_s(-1); })},
      {"busy", link([](auto& l) { l.set_busy_ps(-1); })},
      {"bins · width overflows",
       link([](auto& l) { l.set_bin_width_ps(kHorizon.count()), l.add_bin_bytes(1); })},
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

TEST(TimelineDamage, OmitsAnImpossibleSteadyState) {
  const auto steady = [](auto spoil) {
    proto::Block block;
    proto::SteadyState& s = *block.mutable_steady();
    s.set_low_ps(9), s.set_step_time_ps(10), s.set_high_ps(11), s.set_first_step(8),
        s.set_end_step(32);
    spoil(s);
    const TimelineReader reader = reader_of(without_index({steps_block(), block}));
    use(reader);
    return reader.steady().has_value();
  };
  EXPECT_TRUE(steady([](auto&) {}));
  EXPECT_FALSE(steady([](auto& s) { s.set_low_ps(11); }));
  EXPECT_FALSE(steady([](auto& s) { s.set_low_ps(-1); }));
  EXPECT_FALSE(steady([](auto& s) { s.set_high_ps(9); }));
  EXPECT_FALSE(steady([](auto& s) { s.set_high_ps(kHuge); }));
  EXPECT_FALSE(steady([](auto& s) { s.set_step_time_ps(-1); }));
  EXPECT_FALSE(steady([](auto& s) { s.set_first_step(-1); }));
  EXPECT_FALSE(steady([](auto& s) { s.set_end_step(8); }));
  // The steps do not exist.
  EXPECT_TRUE(
      steady([](auto& s) { s.set_first_step(1'000'000'000), s.set_end_step(2'000'000'000); }));
}

TEST(TimelineDamage, PiecesOfTheCriticalPathMustBeInOrder) {
  // If pieces of the path overlapped, their sum would exceed the length of the run.
  proto::Block late = path_block();
  late.mutable_path()->mutable_piece(0)->set_end_ps(kHorizon.count());
  late.mutable_path()->mutable_piece(0)->set_launch_ps(kHorizon.count());
  const TimelineReader reader = reader_of(without_index({late, late, late}));
  EXPECT_THAT(reader.path(), SizeIs(1));
  use(reader);
}

TEST(TimelineDamage, OmitsASpanBlockThatDiffersFromTheIndex) {
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
    const std::string bytes = with_index(without_index(blocks), wrong);
    // The block itself is intact, so scanning the blocks finds more than this index does.
    const TimelineReader reader = reader_of(bytes);
    EXPECT_EQ(reader.damage(), "has a damaged index; everything before the index is intact");
    EXPECT_THAT(reader.span_blocks(), SizeIs(1));
    EXPECT_TRUE(reader.replay(summary));
    // A reader that checks blocks only when it reads them reports the problem at that time.
    auto later = TimelineReader::from_bytes(bytes, "t", TimelineReader::Check::kWhenRead);
    ASSERT_TRUE(later && later->complete());
    const auto replayed = later->replay(summary);
    EXPECT_THAT(replayed, test::FailsWith(test::Mistake{ProblemCode::kSyntax, "", 0, 0, "t"}));
    ASSERT_THAT(later->span_blocks(), SizeIs(1));
    EXPECT_EQ(later->span_blocks().front().offset, spans_at);
    later->leave_out(later->span_blocks());
    EXPECT_THAT(later->span_blocks(), IsEmpty());
    EXPECT_FALSE(later->complete());
    EXPECT_TRUE(later->replay(summary));
  }
}

TEST(TimelineDamage, IgnoresAnIndexWithOverlappingBlocks) {
  const std::vector<proto::Block> blocks{tracks_block(), spans_block(), steps_block()};
  const std::size_t spans_at = without_index({blocks[0]}).size();
  const std::size_t steps_at = without_index({blocks[0], blocks[1]}).size();
  const auto read = [&](const std::vector<std::pair<std::size_t, int>>& entries) {
    proto::BlockIndex index;
    for (const auto& [offset, block] : entries) add_entry(index, offset, blocks[block]);
    return reader_of(with_index(without_index(blocks), index));
  };
  EXPECT_TRUE(read({{8, 0}, {spans_at, 1}, {steps_at, 2}}).complete());
  for (const auto& entries : std::vector<std::vector<std::pair<std::size_t, int>>>{
           {{8, 0}, {spans_at, 1}, {spans_at, 1}, {spans_at, 1}, {steps_at, 2}},  // repeated
           {{8, 0}, {steps_at, 2}, {spans_at, 1}},                     // in reverse order
           {{8, 0}, {spans_at, 1}, {steps_at, 2}, {steps_at + 1, 2}},  // inside another block
           {{8, 0}, {steps_at, 2}},                                    // incomplete
           {{0, 0}, {spans_at, 1}, {steps_at, 2}},                     // the magic number
           {{8, 0}, {spans_at, 1}, {kHuge, 2}}}) {                     // past the end
    const TimelineReader reader = read(entries);
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(records(reader), 3u) << "each block was read once";
  }
}

TEST(TimelineDamage, IgnoresAnIndexThatPointsOutsideOfTheFile) {
  const std::string blocks = without_index({tracks_block(), steps_block()});
  for (const std::uint64_t at :
       {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{blocks.size() + 16},
        std::numeric_limits<std::uint64_t>::max()}) {
    const TimelineReader reader = reader_of(blocks + fixed64(at) + std::string(kTimelineEnd));
    EXPECT_FALSE(reader.complete());
    EXPECT_EQ(records(reader), 2u);
  }
}

TEST(TimelineDamage, OmitsBlocksWithTooManyRecords) {
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

TEST(TimelineDamage, DoesNotParseBlocksThatAreTooLong) {
  proto::Block block;
  for (std::uint64_t i = 0; i < kLongestBlock; ++i) block.mutable_notes()->add_note();
  const TimelineReader reader = reader_of(without_index({tracks_block(), block, steps_block()}));
  EXPECT_THAT(reader.run().notes, IsEmpty());
  EXPECT_FALSE(reader.complete());
  EXPECT_THAT(reader.steps(), IsEmpty()) << "the step block follows the block that is too long";
}

TEST(TimelineDamage, ZerosEndTheFile) {
  const std::string whole = without_index({tracks_block()});
  const TimelineReader reader = reader_of(whole + std::string(64u << 20, '\0'));
  EXPECT_EQ(reader.damage(),
            fmt::format("is damaged at byte {}; the rest cannot be read", whole.size()));
  EXPECT_THAT(reader.tracks(), SizeIs(1));
}

TEST(TimelineDamage, RefusesATrackThatIsDeclaredTwice) {
  EXPECT_THAT(reader_of(without_index({tracks_block(), tracks_block()})).tracks(), SizeIs(1));
}

TEST(TimelineDamage, DrawsTheLongestPossibleStep) {
  std::vector<proto::Block> blocks = sane_blocks();
  blocks[2].mutable_steps()->set_end_ps(0, kHorizon.count());
  EXPECT_THAT(*export_svg(reader_of(without_index(blocks))), HasSubstr("critical path"));
}

// --- single bits ---

/// Returns a file with blocks of every kind.
std::string written_timeline() {
  std::ostringstream out;
  TimelineWriter writer(out);
  RunInfo run;
  run.scenario = "s", run.scenario_text = std::string(400, 't'), run.layers = {"a", "b"};
  run.packs.emplace_back().gradients = {"g"};
  writer.begin(run);
  writer.track({0, TrackKind::kCompute, 0, "gpu0", 0, -1});
  Span span;
  for (int i = 0; i < 40; ++i) {
    span.start += Time(1000 + i), span.duration = Time(900 - i), span.bytes = Bytes(i);
    writer.span(0, span);
  }
  writer.step({0, {}, Time(100'000), "w0/gpu0", {}, {}, {}, {}, {}});
  writer.pack({0, 0, Time(1), Time(2), Time(3), Time(4)});
  writer.note("a note");
  writer.end();
  return out.str();
}

TEST(TimelineDamage, ReportsEveryFlippedBitWithItsPosition) {
  const std::string whole = written_timeline();
  const auto good = TimelineReader::from_bytes(whole, "f");
  ASSERT_TRUE(good && good->complete());
  int with_place = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const auto read = TimelineReader::from_bytes(flipped, "f");
    if (!read) {
      EXPECT_LT(bit / 8, kTimelineMagic.size()) << "only the first bytes make it another file";
      continue;
    }
    EXPECT_NE(read->damage(), "") << "byte " << bit / 8 << ", bit " << bit % 8;
    with_place += read->damage().find("at byte ") != std::string::npos;
  }
  // The other bits are in the index or at the end of the file.
  EXPECT_GT(with_place, static_cast<int>(8 * whole.size()) / 2);
}

TEST(TimelineDamage, ReadsFilesOfOlderVersionsWithoutChecksums) {
  proto::Block header;
  header.mutable_run()->set_scenario("s");
  std::vector<proto::Block> blocks = sane_blocks();
  blocks.insert(blocks.begin(), header);
  const TimelineReader old_one = reader_of(without_index(blocks));
  EXPECT_EQ(old_one.run().scenario, "s");
  EXPECT_EQ(records(old_one), 6u);
  // The same blocks are damaged if the header of the file promises checksums.
  blocks[0].mutable_run()->set_checked(true);
  const auto promised = TimelineReader::from_bytes(without_index(blocks), "f");
  EXPECT_FALSE(promised);
}

}  // namespace
}  // namespace tutti::core
