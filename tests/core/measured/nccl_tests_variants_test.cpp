// Logs of nccl-tests that lack something: a column, a part of the list of ranks, or decimal points.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measured/nccl_tests.h"
#include "tests/core/measured/parsed.h"

namespace tutti::core {
namespace {

using test::parsed;
using testing::SizeIs;

/// Titles of nccl-tests 2.8 (with an empty column redop) and of later releases.
constexpr const char* kOldTitles =
    "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   "
    "busbw  error\n";
constexpr const char* kNewTitles =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n";

TEST(NcclTestsVariants, TheColumnOfTheReductionIsEmptyInOldReleases) {
  const auto tables = parsed(
      std::string(kOldTitles) +
      "          64             2   float            86.83    0.00    0.00    N/A    85.77    0.00 "
      "   0.00    N/A\n"
      "    16777216        524288   float            160.4  104.62   91.55    N/A    158.8  105.64 "
      "  92.43    N/A\n");
  ASSERT_THAT(tables, SizeIs(1));
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  EXPECT_EQ(tables[0].rows[1].redop, "");
  EXPECT_EQ(tables[0].rows[1].out_of_place->us, 160.4);
  EXPECT_EQ(tables[0].rows[1].in_place->busbw_gb_per_s, 92.43);
  EXPECT_FALSE(tables[0].rows[1].in_place->is_checked);
}

TEST(NcclTestsVariants, AShortenedListOfRanksStatesTheHighestRank) {
  const std::string head = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n# Using devices\n";
  const auto rank = [](int number, const std::string& host) {
    return "#  Rank " + std::to_string(number) + " Group  0 Pid  " + std::to_string(50 + number) +
           " on " + host + " device  0 [0000:0f:00] NVIDIA A100-SXM4-40GB\n";
  };
  const auto tables =
      parsed(head + rank(0, "a") + rank(7, "a") + "...\n" + rank(8, "b") + rank(15, "b") +
             kNewTitles + "1048576 262144 float sum -1 20 52.43 98.3 0 20 52.43 98.3 0\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].ranks, 16);
  EXPECT_EQ(tables[0].run.hosts, 2);
  EXPECT_EQ(tables[0].run.ranks_of_host, 8);
  EXPECT_EQ(tables[0].run.driving(), nccl::Driving::kProcessPerGpu);
}

TEST(NcclTestsVariants, NumbersMayHaveDecimalCommasAndTitlesUnits) {
  const auto commas = parsed(std::string(kNewTitles) +
                             "1048576 262144 float sum -1 28,15 37,25 65,19 0 27,52 38,10 "
                             "66,67 0\n");
  EXPECT_EQ(commas.at(0).rows.at(0).out_of_place->us, 28.15);
  EXPECT_EQ(commas.at(0).rows.at(0).in_place->busbw_gb_per_s, 66.67);
  const auto units = parsed(
      "size(B)    count(elems)  type    time(us)   algbw(GB/s)  busbw(GB/s)\n"
      "1048576    262144        fp32    2156.2     0.49         15.11\n");
  EXPECT_EQ(units.at(0).rows.at(0).out_of_place->us, 2156.2);
  EXPECT_EQ(units.at(0).rows.at(0).elements, 262'144);
}

}  // namespace
}  // namespace tutti::core
