// Reads logs of the OSU micro-benchmarks: titles of several releases and libraries, sizes of one
// block, launchers' prefixes, and tests that are not collectives.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measured/nccl_tests.h"
#include "tests/core/measured/parsed.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::parsed;
using testing::ElementsAre;
using testing::SizeIs;

TEST(OsuLog, AnAllReduceHasTheTypeAndSizesOfItsRows) {
  const auto tables = parsed(
      "mpirun: some line\n"
      "# OSU MPI-CUDA Allreduce Latency Test v7.5\n"
      "# Datatype: MPI_INT.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
      "4                       3.25              3.11              3.40        1000\n"
      "1048576               512.50            500.00            520.00         100\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_TRUE(tables[0].is_mpi);
  EXPECT_FALSE(tables[0].ranks);
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  const NcclTestsRow& row = tables[0].rows[1];
  EXPECT_EQ(row.where, (Location{"log", 6, 1}));
  EXPECT_EQ(row.bytes, 1'048'576);
  EXPECT_EQ(row.elements, 262'144);
  EXPECT_EQ(row.type, "int32");
  EXPECT_EQ(row.redop, "sum");
  EXPECT_EQ(row.out_of_place->us, 512.5);
  EXPECT_EQ(check_collective(with_ranks(tables[0], 6), 6), CollectiveKind::kAllReduce);
}

TEST(OsuLog, SizesOfBlocksAreThoseOfAllRanksWhenTheirNumberIsKnown) {
  const auto tables = parsed(
      "[1,0]<stdout>:# OSU NCCL Allgather Latency Test v7.4\n"
      "[1,0]<stdout>:# Datatype: MPI_CHAR.\n"
      "[1,0]<stdout>:1 2.0\n"
      "[1,0]<stdout>:8 2.5\n"
      "# OSU MPI Reduce_scatter Latency Test v5.9\n"
      "0: 16 4.5\n"
      "0: 24 4.75\n");
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_FALSE(tables[0].is_mpi);
  const NcclTestsTable gather = with_ranks(tables[0], 4);
  ASSERT_THAT(gather.rows, SizeIs(1));  // no type has one byte
  EXPECT_EQ(gather.rows[0].bytes, 32);
  EXPECT_EQ(gather.rows[0].elements, 2);
  EXPECT_EQ(gather.rows[0].type, "float");
  const NcclTestsTable scatter = with_ranks(tables[1], 4);
  ASSERT_THAT(scatter.rows, SizeIs(1));  // 6 floats are not 4 equal blocks
  EXPECT_EQ(scatter.rows[0].bytes, 16);
  EXPECT_EQ(scatter.rows[0].elements, 1);
  EXPECT_EQ(check_collective(scatter, 4), CollectiveKind::kReduceScatter);
}

TEST(OsuLog, ReductionsOfCharactersAreThoseOfFloats) {
  const auto tables = parsed(
      "# OSU MPI Allreduce Latency Test v7.1\n"
      "# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)\n"
      "1 10.0\n2 10.0\n4 10.25\n1024 12.5\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_TRUE(tables[0].has_chars);
  ASSERT_THAT(tables[0].rows, SizeIs(3));  // no type has one byte
  EXPECT_EQ(tables[0].rows[2].type, "float");
  EXPECT_EQ(tables[0].rows[2].elements, 256);
  EXPECT_FALSE(parsed("# OSU MPI Allreduce Latency Test v5.8\n4 10.25\n")[0].has_chars);
}

TEST(OsuLog, FailedValidationsAreWrongResults) {
  const auto tables = parsed(
      "# OSU MPI Broadcast Latency Test v7.1\n"
      "# Size  Avg Latency(us)  Validation\n"
      "8   2.0  Pass\n"
      "16  2.1  Fail\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].collective, "broadcast");
  EXPECT_EQ(tables[0].rows[0].out_of_place->wrong, 0);
  EXPECT_EQ(tables[0].rows[1].out_of_place->wrong, 1);
}

TEST(OsuLog, PersistentAndNonBlockingCollectivesTakeTheTimeOfTheirCommunication) {
  const auto tables = parsed(
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

TEST(OsuLog, RefusesOtherTestsAndDamagedRowsAtTheirPosition) {
  const auto problem = [](const std::string& text) {
    const auto read = parse_nccl_tests(text, "log");
    EXPECT_FALSE(read) << text;
    return read ? Problem() : read.error().problems().front();
  };
  const Problem bandwidth =
      problem("\n# OSU MPI Bandwidth Test v5.6\n# Size Bandwidth (MB/s)\n1 2.5\n");
  EXPECT_EQ(bandwidth.kind, (ProblemKind{ProblemCode::kUnsupported, "collective"}));
  EXPECT_EQ(bandwidth.where.line, 2);
  EXPECT_EQ(problem("# OSU MPI Latency Test v5.6\n# Size Latency (us)\n1 2.5\n").kind.code,
            ProblemCode::kUnsupported);
  EXPECT_EQ(problem("# OSU MPI Allreduce Latency Test v7.5\n8\n").where, (Location{"log", 2, 1}));
  EXPECT_EQ(problem("# OSU MPI Allreduce Latency Test v7.5\n8 x\n").where, (Location{"log", 2, 3}));
  EXPECT_EQ(problem("# OSU MPI Allreduce Latency Test v7.5\n8 0.0\n").kind.field, "time");
  EXPECT_EQ(problem("# OSU MPI Allreduce Latency Test v7.5\n99999999999999999999 1\n").kind.field,
            "size");
}

// ------------------------------------------------------------------------------ reduced JSON

TEST(NcclTestsJson, StoredResultsMayHaveBandwidthsOnly) {
  const auto tables = parsed(R"({"args": ["all_reduce_perf"], "nccl_version": 22703,
   "devices": [{"rank": 0}, {"rank": 1}, {"rank": 2}, {"rank": 3}],
   "results": [{"size": 1048576, "okay": "unchecked", "in_place": {"bus_bw": 15.0},
                "out_of_place": {"alg_bw": 8.0, "bus_bw": 12.0}}],
   "average_bus_bandwidth": {"bandwidth": 13.5, "okay": "unchecked"}})");
  ASSERT_THAT(tables, SizeIs(1));
  const NcclTestsRow& row = tables[0].rows[0];
  EXPECT_EQ(row.elements, 262'144);
  EXPECT_EQ(row.type, "float");
  EXPECT_DOUBLE_EQ(row.out_of_place->us, 1'048'576 / 8.0 / 1e3);
  EXPECT_DOUBLE_EQ(row.in_place->us, 1'048'576 * 1.5 / 15.0 / 1e3);  // busbw is 2 · 3 / 4 algbw
  EXPECT_EQ(tables[0].run.nccl_version, "22703");
  EXPECT_EQ(check_collective(tables[0], 4), CollectiveKind::kAllReduce);
}

TEST(NcclTestsJson, TheBusBandwidthNeedsTheNumberOfRanks) {
  const auto kinds = [](const std::string& text) {
    return test::kinds_of(parse_nccl_tests(text, "log"));
  };
  EXPECT_THAT(kinds(R"({"results": [{"size": 64, "in_place": {"bus_bw": 15.0}}]})"),
              ElementsAre("missing time"));
  EXPECT_THAT(kinds(R"({"args": ["all_gather_perf"],
                        "results": [{"size": 64, "in_place": {"time": 15.0}}]})"),
              ElementsAre("missing count"));
}

}  // namespace
}  // namespace tutti::core
