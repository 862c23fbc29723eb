// Logs that lack something: the name of the program, a column, a part of the list of ranks, or the
// decimal points. Also logs of the Intel MPI Benchmarks, and of OSU's persistent collectives.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measured/nccl_tests.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<NcclTestsTable> parsed_log(const std::string& text, const std::string& file = "log") {
  const auto tables = parse_nccl_tests(text, file);
  EXPECT_TRUE(tables) << (tables ? "" : tables.error().message());
  return tables.value_or(std::vector<NcclTestsTable>{});
}

// ------------------------------------------------------------------------------ nccl-tests

/// Titles of nccl-tests 2.8 (with an empty column redop) and of later releases.
constexpr const char* kOldTitles =
    "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   "
    "busbw  error\n";
constexpr const char* kNewTitles =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n";

TEST(NcclTestsVariants, TheColumnOfTheReductionIsEmptyInOldReleases) {
  const auto tables = parsed_log(
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

TEST(NcclTestsVariants, ColumnsTellTheCollectiveOfAnUnnamedTable) {
  // 8 ranks: the factor of an all-reduce is 1.75, that of collectives on blocks 0.875.
  const auto kinds = [](const std::string& row, const std::string& file = "log") {
    return possible_collectives(parsed_log(kNewTitles + row + "\n", file).at(0), 8);
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

TEST(NcclTestsVariants, AnAmbiguousTableIsRefusedUnlessTheUserExpectsACollective) {
  const auto table = parsed_log(std::string(kNewTitles) +
                                "1048576 32768 float none -1 20 52.43 45.88 0 20 52.43 45.88 0\n")
                         .at(0);
  const auto refused = check_collective(table, 8);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("may be of all_gather or alltoall"));
  EXPECT_EQ(check_collective(table, 8, CollectiveKind::kAllToAll), CollectiveKind::kAllToAll);
  EXPECT_FALSE(check_collective(table, 8, CollectiveKind::kBroadcast));
  // The factor of 0.875 excludes 4 ranks.
  EXPECT_FALSE(check_collective(table, 4, CollectiveKind::kAllToAll));
}

TEST(NcclTestsVariants, AShortenedListOfRanksStatesTheHighestRank) {
  const std::string head = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n# Using devices\n";
  const auto rank = [](int number, const std::string& host) {
    return "#  Rank " + std::to_string(number) + " Group  0 Pid  " + std::to_string(50 + number) +
           " on " + host + " device  0 [0000:0f:00] NVIDIA A100-SXM4-40GB\n";
  };
  const auto tables =
      parsed_log(head + rank(0, "a") + rank(7, "a") + "...\n" + rank(8, "b") + rank(15, "b") +
                 kNewTitles + "1048576 262144 float sum -1 20 52.43 98.3 0 20 52.43 98.3 0\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].ranks, 16);
  EXPECT_EQ(tables[0].run.hosts, 2);
  EXPECT_EQ(tables[0].run.ranks_of_host, 8);
  EXPECT_EQ(tables[0].run.driving(), nccl::Driving::kProcessPerGpu);
}

TEST(NcclTestsVariants, NumbersMayHaveDecimalCommasAndTitlesUnits) {
  const auto commas = parsed_log(std::string(kNewTitles) +
                                 "1048576 262144 float sum -1 28,15 37,25 65,19 0 27,52 38,10 "
                                 "66,67 0\n");
  EXPECT_EQ(commas.at(0).rows.at(0).out_of_place->us, 28.15);
  EXPECT_EQ(commas.at(0).rows.at(0).in_place->busbw_gb_per_s, 66.67);
  const auto units = parsed_log(
      "size(B)    count(elems)  type    time(us)   algbw(GB/s)  busbw(GB/s)\n"
      "1048576    262144        fp32    2156.2     0.49         15.11\n");
  EXPECT_EQ(units.at(0).rows.at(0).out_of_place->us, 2156.2);
  EXPECT_EQ(units.at(0).rows.at(0).elements, 262'144);
}

// ------------------------------------------------------------------------------ MPI

TEST(OsuVariants, PersistentAndNonBlockingCollectivesTakeTheTimeOfTheirCommunication) {
  const auto tables = parsed_log(
      "# OSU MPI Persistent Allreduce Latency Test v7.5\n"
      "# Datatype: MPI_INT.\n"
      "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
      "# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      "
      "MPI_Wait(us)    Pure Comm.(us)        Overlap(%)\n"
      "8                       3.06              1.40              0.24              0.00          "
      " "
      "   1.40              1.36             0.00\n"
      "# OSU MPI Non-blocking All-to-All Latency Test v5.6.3\n\n"
      "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n"
      "4                      11.09              6.10              5.18              3.46\n"
      "# OSU MPI Bcast Latency Test v7.5\n"
      "# Size       Avg Latency(us)\n"
      "8                       1,34\n");
  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[0].rows.at(0).out_of_place->us, 1.36);
  EXPECT_EQ(tables[1].collective, "alltoall");
  EXPECT_EQ(tables[1].rows.at(0).out_of_place->us, 5.18);
  EXPECT_EQ(tables[2].rows.at(0).out_of_place->us, 1.34);
}

constexpr const char* kImb =
    "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
    "# MPI_Datatype for reductions    :   MPI_FLOAT\n"
    "#----------------------------------------------------------------\n"
    "# Benchmarking PingPong\n"
    "# #processes = 2\n"
    "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    "            4         1000         1.66         0.00\n"
    "# Benchmarking Allreduce\n"
    "# #processes = 2\n"
    "# ( 2 additional processes waiting in MPI_Barrier)\n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "            0         1000         0.07         0.07         0.07\n"
    "            4         1000         0.65         6.07         3.36\n"
    "# Benchmarking Alltoall\n"
    "# #processes = 4\n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects\n"
    "            1         1000         0.65         6.07         3.37         0.00\n"
    "         1024         1000         9.00        11.00        10.50         0.00\n"
    "         2048         1000         9.00        11.00        10.75         3.00\n"
    "# Benchmarking Bcast\n"
    "# ( 2 groups of 2 processes each running simultaneous )\n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "         1024         1000         9.00        11.00        10.50\n";

TEST(ImbLog, TablesStateTheirCollectiveAndRanks) {
  const auto tables = parsed_log(kImb);
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[0].ranks, 2);
  EXPECT_TRUE(tables[0].is_mpi);
  ASSERT_THAT(tables[0].rows, SizeIs(1));  // an empty collective is not predicted
  EXPECT_EQ(tables[0].rows[0].out_of_place->us, 3.36);
  EXPECT_EQ(check_collective(with_ranks(tables[0], 2), 2), CollectiveKind::kAllReduce);
  const NcclTestsTable all_to_all = with_ranks(tables[1], 4);
  ASSERT_THAT(all_to_all.rows, SizeIs(2));  // no type has one byte
  EXPECT_EQ(all_to_all.rows[0].bytes, 4096);
  EXPECT_EQ(all_to_all.rows[0].elements, 256);
  EXPECT_EQ(all_to_all.rows[1].out_of_place->wrong, 1);
  EXPECT_FALSE(check_collective(with_ranks(tables[1], 2), 2));
}

TEST(ImbLog, RefusesLogsWithoutACollectiveAtTheirPosition) {
  const auto refused = parse_nccl_tests(
      "# Benchmarking PingPong\n# #processes = 2\n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            4         1000         1.66         0.00\n",
      "log");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().problems().front().where, (Location{"log", 1, 1}));
  EXPECT_THAT(refused.error().message(), HasSubstr("PingPong"));
}

}  // namespace
}  // namespace tutti::core
