// Tables for NCCL's tuner plugin: written tables can be read again, and mistakes are rejected at
// their place. The plugin's own tests (tests/real/tuner) cover each kind of mistake.

#include "core/tuner_table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tutti::core::tuner_table {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Row made_row(std::mt19937_64& random, Reader reader) {
  Row row;
  row.collective = static_cast<int>(random() % kCollectives.size());
  row.algorithm = static_cast<int>(random() % kAlgorithms.size());
  row.protocol = static_cast<int>(random() % kProtocols.size());
  row.min_bytes = random() % 3 ? random() >> (random() % 64) : 0;
  row.max_bytes =
      random() % 3 ? row.min_bytes + ((UINT64_MAX - row.min_bytes) >> (random() % 64)) : UINT64_MAX;
  row.channels = static_cast<int>(random() % (kMaxChannels + 1));
  row.nodes = random() % 2 ? kAny : static_cast<int>(1 + random() % 1000);
  row.ranks = random() % 2 ? kAny : static_cast<int>(1 + random() % 8000);
  if (random() % 3 == 0) row.pipe_ops = static_cast<int>(1 + random() % 9);
  if (random() % 3 == 0) row.registered = static_cast<int>(random() % 2);
  const bool any_call = row.pipe_ops == kAny && row.registered == kAny;
  if (reader == Reader::kTutti && any_call && row.channels > 0 && random() % 2)
    row.chunk_bytes = 1 + random() % 1000000;
  return row;
}

TEST(TunerTable, AHeaderIsInTheFirstLineOrAbsent) {
  const std::string header(kHeader), row = "\nallreduce,0,98304,ring,ll,-1,2,16\n";
  ASSERT_TRUE(read_table(header + "  " + row));
  ASSERT_TRUE(read_table("# mine" + row)) << "NVIDIA's";
  for (const std::string& text :
       {"# mine\n" + header + row, "\n" + header + row, "# Tutti NCCL-Tuner Table 1" + row}) {
    const auto table = read_table(text);
    ASSERT_FALSE(table) << text;
    EXPECT_THAT(table.error().text, HasSubstr("must be the first line, without changes"));
  }
  const auto marked = read_table("\xEF\xBB\xBF" + header + row);
  ASSERT_FALSE(marked);
  EXPECT_THAT(marked.error().text, HasSubstr("byte-order mark"));
}

TEST(TunerTable, WritingAndReadingPreserveIt) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Table table;
    table.reader = round % 2 ? Reader::kTutti : Reader::kNvidiaExample;
    table.remarks = {"made for a test", "NCCL 2.28.9, 2 nodes"};
    const int rows = 1 + static_cast<int>(random() % 20);
    for (int i = 0; i < rows; ++i) table.rows.push_back(made_row(random, table.reader));
    const std::string text = write_table(table);
    const auto read = read_table(text);
    ASSERT_TRUE(read) << read.error().text << '\n' << text;
    EXPECT_EQ(read->reader, table.reader);
    EXPECT_EQ(read->remarks, table.remarks);
    ASSERT_EQ(read->rows.size(), table.rows.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      Row row = read->rows[i];
      row.line = 0;
      EXPECT_EQ(row, table.rows[i]) << text;
    }
  }
}

/// Tutti's plugin reads -1 channels as NCCL's own number. NVIDIA's example reads it as one channel,
/// contrary to its README.
TEST(TunerTable, ReadsChannelsLikeThePluginOfTheTable) {
  const std::string row = "allreduce,0,9,ring,ll,-1,-1,-1\n";
  EXPECT_EQ(read_table(std::string(kHeader) + "\n" + row)->rows[0].channels, 0);
  EXPECT_EQ(read_table(row)->rows[0].channels, 1);
}

TEST(TunerTable, CommentsHaveOneLine) {
  Table table;
  table.rows.push_back(Row{});
  table.remarks = {"two\nallreduce,0,1,ring,ll,1,1,1", std::string(1000, 'x')};
  const auto read = read_table(write_table(table));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rows.size(), 1u);
  EXPECT_THAT(read->remarks, ElementsAre("two allreduce,0,1,ring,ll,1,1,1", std::string(200, 'x')));
}

TEST(TunerTable, MatchesCallsByAllOfItsColumns) {
  Row row;
  row.collective = 4;
  row.min_bytes = 10;
  row.max_bytes = 20;
  const Call call{4, 15, 1, false};
  EXPECT_TRUE(matches(row, call));
  EXPECT_TRUE(matches(row, {4, 10, 1, {}}) && matches(row, {4, 20, 1, {}}));
  EXPECT_FALSE(matches(row, {4, 9, 1, {}}) || matches(row, {4, 21, 1, {}}));
  EXPECT_FALSE(matches(row, {3, 15, 1, {}}));
  row.pipe_ops = 2;
  EXPECT_FALSE(matches(row, call));
  EXPECT_TRUE(matches(row, {4, 15, 2, {}}));
  row.pipe_ops = kAny;
  row.registered = 0;
  EXPECT_TRUE(matches(row, call));
  EXPECT_FALSE(matches(row, {4, 15, 1, true})) << "registered";
  EXPECT_FALSE(matches(row, {4, 15, 1, {}})) << "an interface without this column";
  row.nodes = 2;
  EXPECT_TRUE(is_for(row, 2, 16) && is_for(row, 2, 999));
  EXPECT_FALSE(is_for(row, 3, 16));
}

TEST(TunerTable, RefusesLinesThatAreTooLongForNvidiasExample) {
  const auto table = read_table("allreduce,0,1,ring,ll,1,1,8" + std::string(300, ' '));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().line, 1);
  EXPECT_THAT(table.error().text, HasSubstr("254"));
}

}  // namespace
}  // namespace tutti::core::tuner_table
