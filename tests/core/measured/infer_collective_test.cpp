// Infers the collective of tables of nccl-tests that do not name their program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measured/nccl_tests.h"
#include "tests/core/measured/parsed.h"

namespace tutti::core {
namespace {

using test::parsed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTitles =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n";

TEST(InferCollective, ColumnsDetermineTheCollectiveOfAnUnnamedTable) {
  // 8 ranks: the factor of an all-reduce is 1.75, that of collectives on blocks 0.875.
  const auto kinds = [](const std::string& row, const std::string& file = "log") {
    return possible_collectives(parsed(kTitles + row + "\n", file).at(0), 8);
  };
  using enum CollectiveKind;
  EXPECT_THAT(kinds("1048576 262144 float sum -1 20 52.43 91.75 0 20 52.43 91.75 0"),
              ElementsAre(kAllReduce));
  EXPECT_THAT(kinds("1048576 262144 float sum 0 20 52.43 91.75 0 20 52.43 91.75 0"),
              ElementsAre(kAllReduce));  // some releases print a root
  EXPECT_THAT(kinds("1048576 262144 float sum 0 20 52.43 52.43 0 20 52.43 52.43 0"),
              ElementsAre(kReduce));
  EXPECT_THAT(kinds("1048576 32768 float sum -1 20 52.43 45.88 0 20 52.43 45.88 0"),
              ElementsAre(kReduceScatter));
  EXPECT_THAT(kinds("1048576 262144 float none 0 20 52.43 52.43 0 20 52.43 52.43 0"),
              ElementsAre(kBroadcast));
  EXPECT_THAT(kinds("1048576 262144 float none -1 20 52.43 52.43 0 20 52.43 52.43 N/A"),
              ElementsAre(kSendReceive));
  const std::string all_to_all = "1048576 32768 float none -1 20 52.43 45.88 0 20 52.43 45.88 N/A";
  EXPECT_THAT(kinds(all_to_all), ElementsAre(kAllToAll));
  const std::string blocks = "1048576 32768 float none -1 20 52.43 45.88 0 20 52.43 45.88 0";
  EXPECT_THAT(kinds(blocks), ElementsAre(kAllGather, kAllToAll));
  EXPECT_THAT(kinds(blocks, "logs/nccl_alltoall-8.log"), ElementsAre(kAllToAll));
  EXPECT_THAT(kinds(blocks, "all_gather/out.txt"), SizeIs(2));  // a folder is no evidence
}

TEST(InferCollective, AnAmbiguousTableIsRefusedUnlessTheUserExpectsACollective) {
  const auto table = parsed(std::string(kTitles) +
                            "1048576 32768 float none -1 20 52.43 45.88 0 20 52.43 45.88 0\n")
                         .at(0);
  const auto refused = check_collective(table, 8);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("may measure all_gather or alltoall"));
  EXPECT_EQ(check_collective(table, 8, CollectiveKind::kAllToAll), CollectiveKind::kAllToAll);
  EXPECT_FALSE(check_collective(table, 8, CollectiveKind::kBroadcast));
  // The factor of 0.875 excludes 4 ranks.
  EXPECT_FALSE(check_collective(table, 4, CollectiveKind::kAllToAll));
}

TEST(InferCollective, ATableThatFitsNoCollectiveIsRefusedAtItsPosition) {
  const auto refused = [](const std::string& row, std::int64_t ranks) {
    const NcclTestsTable table = parsed(kTitles + row + "\n").at(0);
    EXPECT_THAT(possible_collectives(table, ranks), IsEmpty());
    const auto read = check_collective(table, ranks);
    EXPECT_FALSE(read);
    return read ? Problem() : read.error().problems().front();
  };
  // The factor of a broadcast is 1, and that of an all-gather on 4 ranks 0.75.
  const Problem broadcast = refused("1048576 262144 float none 0 20 52.43 47 0 20 52.43 47 0", 8);
  EXPECT_EQ(broadcast.kind, (ProblemKind{ProblemCode::kConflict, "busbw"}));
  EXPECT_EQ(broadcast.where, (Location{"log", 2, 1}));
  const Problem gather =
      refused("1048576 32768 float none -1 20 52.43 45.88 0 20 52.43 45.88 0", 4);
  EXPECT_EQ(gather.kind, (ProblemKind{ProblemCode::kConflict, "busbw"}));
  EXPECT_THAT(gather.text, HasSubstr("the factor of all_gather is 0.75"));
  // The count is that of a block, but the factor is that of an all-reduce.
  const Problem blocks = refused("1048576 32768 float sum -1 20 52.43 91.75 0 20 52.43 91.75 0", 8);
  EXPECT_EQ(blocks.kind, (ProblemKind{ProblemCode::kConflict, "collective"}));
  EXPECT_EQ(blocks.where, (Location{"log", 1, 9}));
}

TEST(InferCollective, LowBandwidthsAreAsPreciseAsTheirTwoDecimals) {
  // 1048576 bytes in 2076 µs are 0.5051 GB/s, and 1.75 times this is 0.8839 GB/s. The ratio of the
  // rounded bandwidths is 1.725.
  const auto table = parsed(std::string(kTitles) +
                            "1048576 262144 float sum -1 2076 0.51 0.88 0 2076 0.51 0.88 0\n")
                         .at(0);
  EXPECT_THAT(possible_collectives(table, 8), ElementsAre(CollectiveKind::kAllReduce));
  EXPECT_EQ(check_collective(table, 8), CollectiveKind::kAllReduce);
}

TEST(InferCollective, JsonWithoutItsCommandStatesARootAndUncheckedResults) {
  const auto kinds = [](const std::string& rest) {
    return possible_collectives(
        parsed(R"({"results": [{"size": 1048576, "type": "float", "redop": "none", )" + rest +
               "}]}")
            .at(0),
        8);
  };
  EXPECT_THAT(kinds(R"("count": 262144, "root": "0",
                       "out_of_place": {"time": 20, "alg_bw": 52.43, "bus_bw": 52.43})"),
              ElementsAre(CollectiveKind::kBroadcast));
  EXPECT_THAT(kinds(R"("count": 32768, "root": "-1",
                       "out_of_place": {"time": 20, "alg_bw": 52.43, "bus_bw": 45.88, "nwrong": "0"},
                       "in_place": {"time": 20, "alg_bw": 52.43, "bus_bw": 45.88, "nwrong": "N/A"})"),
              ElementsAre(CollectiveKind::kAllToAll));
}

}  // namespace
}  // namespace tutti::core
