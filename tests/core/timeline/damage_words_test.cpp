// The messages about timelines that are damaged or incomplete, and the parts of them that can be
// read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "core/timeline/export_csv.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"
#include "tests/core/timeline/made_blocks.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(TimelineDamage, ReportsDamagedBlocksAndKeepsTheOthers) {
  const Indexed whole = indexed();
  EXPECT_EQ(reader_of(whole.bytes).damage(), "");
  // Damages the content of a block, and then its length, which scanning could not pass.
  for (const std::size_t inside : {std::size_t{1}, std::size_t{0}}) {
    std::string bytes = whole.bytes;
    bytes.replace(whole.at[0] + inside, 4, "\xff\xff\xff\xff");
    const TimelineReader reader = reader_of(bytes);
    EXPECT_EQ(
        reader.damage(),
        "is damaged at byte 8: 1 of its 4 blocks is damaged, and the contents of this block are "
        "missing");
    EXPECT_FALSE(reader.complete());
    EXPECT_THAT(reader.tracks(), IsEmpty());
    EXPECT_THAT(reader.span_blocks(), SizeIs(1));
    EXPECT_THAT(reader.steps(), SizeIs(1));
    EXPECT_THAT(reader.path(), SizeIs(1));
    use(reader);
  }
  // Without an index, blocks are found by scanning.
  std::string scanned = without_index({tracks_block(), steps_block(), path_block()});
  scanned.replace(whole.at[0] + 1, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(reader_of(scanned).damage(),
              testing::AllOf(HasSubstr("1 of its 3 blocks"), HasSubstr("ends before its index")));
  EXPECT_THAT(reader_of(scanned).steps(), SizeIs(1));
}

/// Returns three lanes of two devices, each with a sequence of spans of 1 µs.
std::string three_lanes(int spans) {
  std::ostringstream out;
  TimelineWriter writer(out);
  writer.begin({});
  for (TrackId t = 0; t < 3; ++t)
    writer.track({t, TrackKind::kLane, 0, t < 2 ? "gpu0" : "gpu1", 0, t});
  for (int i = 0; i < spans; ++i) {
    for (TrackId t = 0; t < 3; ++t) {
      Span span;
      span.start = microseconds(i);
      span.duration = microseconds(1);
      span.index = i;
      writer.span(t, span);
    }
  }
  writer.step({0, Time(), microseconds(spans), "w0/gpu0", Time(), Time(), Time(), Time(), Time()});
  writer.end();
  return out.str();
}

/// Damages the content of the block, but not its length.
void damage_block(std::string& bytes, const TimelineReader::SpanBlock& block) {
  bytes.replace(static_cast<std::size_t>(block.offset) + 8, 16, std::string(16, '\xff'));
}

TEST(TimelineDamage, ADamagedSpanBlockCausesOneNote) {
  constexpr int kSpans = 10'000;
  const std::string whole = three_lanes(kSpans);
  const TimelineReader sane = reader_of(whole);
  std::vector<TimelineReader::SpanBlock> of_gpu0;
  for (const auto& block : sane.span_blocks()) {
    if (block.track == 0) of_gpu0.push_back(block);
  }
  ASSERT_THAT(of_gpu0, SizeIs(3)) << "of at most 4096 spans each";
  std::string bytes = whole;
  damage_block(bytes, of_gpu0[1]);
  const TimelineReader reader = reader_of(bytes);
  EXPECT_EQ(
      reader.damage(),
      fmt::format("is damaged at byte {}: 4096 of its 30000 spans are missing, on w0/gpu0, between "
                  "4.10 ms and 8.19 ms",
                  of_gpu0[1].offset));
  EXPECT_THAT(reader.tracks(), SizeIs(3));
  EXPECT_THAT(reader.steps(), SizeIs(1));
  use(reader);
  std::ostringstream table;
  ASSERT_TRUE(export_csv(reader, *parse_csv_content("spans"), table));
  const std::string lines = table.str();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 3 * kSpans - 4096);
  // A reader that finds the damage only while reading reports the same.
  auto later = TimelineReader::from_bytes(bytes, "t", TimelineReader::Check::kWhenRead);
  ASSERT_TRUE(later && later->complete());
  std::vector<TimelineReader::SpanBlock> damaged;
  for (const auto& block : later->span_blocks()) {
    if (!later->read(block)) damaged.push_back(block);
  }
  later->leave_out(damaged);
  later->leave_out(damaged);  // a repeated call has no effect
  EXPECT_EQ(later->damage(), reader.damage());
  EXPECT_EQ(later->span_blocks(), reader.span_blocks());
  // Blocks of several devices are damaged, in addition to other damage.
  damage_block(bytes, sane.span_blocks().back());
  EXPECT_THAT(reader_of(bytes).damage(), HasSubstr("spans are missing, on 2 devices, between"));
  bytes.replace(kTimelineMagic.size() + 1, 2, "\xff\xff");
  EXPECT_THAT(reader_of(bytes).damage(),
              testing::AllOf(testing::StartsWith("is damaged at byte 8: 1 of its "),
                             HasSubstr("; besides, "), HasSubstr("spans are missing")));
}

TEST(TimelineDamage, TruncatedFilesAreNotDamaged) {
  const Indexed whole = indexed();
  const auto damage_of = [](const std::string& bytes) { return reader_of(bytes).damage(); };
  EXPECT_THAT(damage_of(whole.bytes.substr(0, whole.at[1])),
              HasSubstr("ends before its index: the run was interrupted"));
  EXPECT_THAT(damage_of(whole.bytes.substr(0, whole.at[2] + 3)),
              HasSubstr(fmt::format("ends before its index, in a block that begins at byte {}",
                                    whole.at[2])));
  std::string index_lost = whole.bytes;
  index_lost[index_lost.size() - 9] = 'x';  // the offset of the index
  EXPECT_THAT(damage_of(index_lost), HasSubstr("has a damaged index"));
  EXPECT_THAT(damage_of(whole.bytes.substr(0, whole.bytes.size() - 3)),
              HasSubstr("is truncated within its index"));
  EXPECT_THAT(reader_of(index_lost).path(), SizeIs(1)) << "nothing is missing";
}

TEST(TimelineDamage, RefusesAFileWithoutAnUndamagedBlock) {
  const Indexed whole = indexed();
  for (const std::string& bytes : {whole.bytes.substr(0, 8), whole.bytes.substr(0, 10)}) {
    const auto reader = TimelineReader::from_bytes(bytes, "t");
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message(),
                HasSubstr("t: no block of this timeline is intact: the file ends before"));
  }
}

}  // namespace
}  // namespace tutti::core
