// Reads logs of the Intel MPI Benchmarks: tables for several numbers of processes, tables that are
// not used, and damaged rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measured/nccl_tests.h"
#include "tests/core/measured/parsed.h"

namespace tutti::core {
namespace {

using test::parsed;
using testing::HasSubstr;
using testing::SizeIs;

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
  const auto tables = parsed(kImb);
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[0].ranks, 2);
  EXPECT_TRUE(tables[0].is_mpi);
  ASSERT_THAT(tables[0].rows, SizeIs(1));  // an empty collective is not predicted
  EXPECT_EQ(tables[0].rows[0].out_of_place->us, 3.36);
  EXPECT_EQ(check_collective(tables[0], 2), CollectiveKind::kAllReduce);
  const NcclTestsTable& all_to_all = tables[1];
  ASSERT_THAT(all_to_all.rows, SizeIs(2));  // no type has one byte
  EXPECT_EQ(all_to_all.rows[0].bytes, 4096);
  EXPECT_EQ(all_to_all.rows[0].elements, 256);
  EXPECT_EQ(all_to_all.rows[1].out_of_place->wrong, 1);
  EXPECT_FALSE(check_collective(tables[1], 2));
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

constexpr const char* kImbTitles =
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n";

TEST(ImbLog, OnlyReductionsHaveTheTypeOfReductions) {
  const std::string rest = std::string("# #processes = 2\n") + kImbTitles +
                           "            4         1000         0.65         6.07         3.36\n"
                           "            8         1000         0.65         6.07         3.36\n";
  const auto tables = parsed(
      "# MPI_Datatype for reductions    :   MPI_DOUBLE\n"
      "# Benchmarking Allreduce\n" +
      rest + "# Benchmarking Bcast\n" + rest);
  ASSERT_THAT(tables, SizeIs(2));
  ASSERT_THAT(tables[0].rows, SizeIs(1));  // 4 bytes are no double
  EXPECT_EQ(tables[0].rows[0].type, "double");
  ASSERT_THAT(tables[1].rows, SizeIs(2));
  EXPECT_EQ(tables[1].rows[0].type, "float");
}

TEST(ImbLog, RowsBelongToTheTitlesAboveThemAndATruncatedRowIsOmitted) {
  const std::string row = "            8         1000         0.65         6.07         3.36\n";
  // The number of processes is missing above the first titles.
  const auto tables = parsed(std::string("# Benchmarking Allreduce\n") + kImbTitles +
                             "# #processes = 4\n" + row + kImbTitles + row + "16 1000 0.65\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].where, (Location{"log", 5, 8}));
  EXPECT_EQ(tables[0].ranks, 4);
  EXPECT_THAT(tables[0].rows, SizeIs(1));
  EXPECT_EQ(tables[0].damaged_rows, 1);
  EXPECT_EQ(tables[0].first_damaged, (Location{"log", 7, 1}));
}

}  // namespace
}  // namespace tutti::core
