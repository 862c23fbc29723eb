// The reader of nccl-tests logs: columns of different releases, values of the header, lines of
// other programs, and errors in truncated or inconsistent rows.

#include "core/measured/nccl_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/core/measured/parsed.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::parsed;
using testing::SizeIs;

/// The output of nccl-tests 2.13 to 2.17.
constexpr const char* kModern =
    "# nThread 1 nGpus 4 minBytes 1024 maxBytes 4194304 step: 4096(factor) warmup iters: 5 iters: "
    "20 agg iters: 1 "
    "validation: 1 graph: 0\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  12345 on      node0 device  0 [0x07] NVIDIA A100\n"
    "#  Rank  1 Group  0 Pid  12345 on      node0 device  1 [0x0f] NVIDIA A100\n"
    "#  Rank  2 Group  0 Pid  12345 on      node0 device  2 [0x47] NVIDIA A100\n"
    "#  Rank  3 Group  0 Pid  12345 on      node0 device  3 [0x4e] NVIDIA A100\n"
    "#\n"
    "#                                                              out-of-place                   "
    "    in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " (GB/s)  (GB/s)\n"
    "        1024           256     float     sum      -1    21.36    0.05    0.07      0    20.99 "
    "   0.05    0.07     "
    " "
    "0\n"
    "     4194304       1048576     float     sum      -1    83.20   50.41   75.62      0    82.10 "
    "  51.09   76.63    "
    "N/A\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 38.1\n";

/// The output of nccl-tests before 2.10: no root column, "error" instead of "#wrong", a line of
/// another tool between the rows, and results for only one of out of place and in place.
constexpr const char* kOld =
    "# nThread 8 nGpus 1 minBytes 64 maxBytes 64 step: 2(factor) warmup iters: 2 iters: 5 "
    "validation: 0 \n"
    "# Using devices\n"
    "#   Rank  0 Pid 519864 on oneflow-27 device  0 [0x0f] NVIDIA GeForce RTX 3090\n"
    "#   Rank  1 Pid 519864 on oneflow-27 device  1 [0x10] NVIDIA GeForce RTX 3090\n"
    "#                                                       out-of-place                       "
    "in-place          \n"
    "#       size         count      type   redop     time   algbw   busbw  error     time   algbw "
    "  busbw  error\n"
    "#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s) "
    " (GB/s)       \n"
    "hostname:3442:3442 [0] NCCL INFO Launch mode Parallel\n"
    "           0             0   float     sum    35.20    0.00    0.00    N/A\n"
    "          64            16     float     sum    55.57    0.00    0.00    N/A\n";

constexpr const char* kPerf =
    "# all-reduce by nccl, 2 × dgx1-v100, 16 GPUs, simulated; no elements are compared\n"
    "#\n"
    "#                                                                               in-place\n"
    "#         size         count      type   redop   root       time    algbw    busbw #wrong\n"
    "#          (B)    (elements)                                (us)   (GB/s)   (GB/s)\n"
    "          1024           256     float     sum     -1      39.18    0.026    0.049    N/A\n"
    "       4194304       1048576     float     sum     -1     175.74    23.87    44.75    N/A\n";

/// Expects that parsing the text as a file "log" reports only this mistake.
void expect_refused(const std::string& text, const std::string& mark, ProblemCode code,
                    const std::string& field) {
  EXPECT_THAT(parse_nccl_tests(text, "log"),
              test::FailsWithAll(std::vector{test::at(text, mark, code, field)}))
      << text;
}

TEST(NcclTests, ReadsBothHalvesOfARow) {
  const auto tables = parsed(kModern);
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].ranks, 4);
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  const NcclTestsRow& row = tables[0].rows[1];
  EXPECT_EQ(row.where, (Location{"log", 13, 6}));
  EXPECT_EQ(row.bytes, 4'194'304);
  EXPECT_EQ(row.elements, 1'048'576);
  EXPECT_EQ(row.type, "float");
  EXPECT_EQ(row.redop, "sum");
  EXPECT_EQ(row.out_of_place->us, 83.20);
  EXPECT_EQ(row.out_of_place->algbw_gb_per_s, 50.41);
  EXPECT_EQ(row.in_place->us, 82.10);
  EXPECT_EQ(row.in_place->busbw_gb_per_s, 76.63);
}

TEST(NcclTests, ReadsTablesWithoutRootAndOfOneHalfAndLeavesOutEmptyMessages) {
  const auto tables = parsed(kOld);
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].ranks, 8);  // eight threads with one GPU each; the list is shortened
  ASSERT_THAT(tables[0].rows, SizeIs(1));
  EXPECT_EQ(tables[0].rows[0].out_of_place->us, 55.57);
  EXPECT_FALSE(tables[0].rows[0].in_place);
}

TEST(NcclTests, ReadsWhatTuttiPerfPrints) {
  const auto tables = parsed(kPerf);
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[0].ranks, 16);
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  EXPECT_EQ(tables[0].rows[0].in_place->us, 39.18);
  EXPECT_FALSE(tables[0].rows[0].out_of_place);
}

TEST(NcclTests, ConcatenatedLogsAreSeparateTables) {
  const auto tables = parsed(std::string(kModern) + kOld + kPerf);
  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_EQ(tables[0].ranks, 4);
  EXPECT_EQ(tables[1].ranks, 8);
  EXPECT_EQ(tables[2].ranks, 16);
  EXPECT_EQ(tables[1].rows[0].bytes, 64);
}

TEST(NcclTests, IgnoresPrefixesOfLaunchers) {
  for (const std::string prefix : {"[1,0]<stdout>:",
                                   "[1,0]<stdout>: ",
                                   "0: ",
                                   "12: ",
                                   "[1,mpirank:0,algo-1]<stdout>:",
                                   "[prterun-node0-42@1,0]<stdout>: ",
                                   "[0] ",
                                   "[rank0]:",
                                   "[default0]:",
                                   "node0: ",
                                   "    ",
                                   "(head, rank=0, pid=3808) [1,0]<stdout>:",
                                   "[pod/launcher-x7z/launcher] ",
                                   "launcher-1  | ",
                                   "2025-03-04T12:00:00.123456789Z ",
                                   "2025-03-04T12:00:00Z [1,0]<stdout>:",
                                   "[2025-03-04 12:00:00] ",
                                   "2025-03-04 12:00:00,123 ",
                                   "Mar  4 12:00:00 ",
                                   "12:00:00.5 ",
                                   "Tue Mar  4 12:00:00 2025<stdout>:",
                                   "> ",
                                   "\x1b[32m",
                                   "2025-03-04T12:00:00Z \x1b[36;1m",
                                   "gpu-17: 0: ",
                                   "\xC2\xA0 "}) {
    std::string text = prefix;
    for (const char c : std::string(kModern)) text += c == '\n' ? "\n" + prefix : std::string(1, c);
    const auto tables = parsed(text);
    ASSERT_THAT(tables, SizeIs(1)) << prefix;
    EXPECT_EQ(tables[0].ranks, 4) << prefix;
    EXPECT_EQ(tables[0].run.hosts, 1) << prefix;
    ASSERT_THAT(tables[0].rows, SizeIs(2)) << prefix;
    EXPECT_EQ(tables[0].rows[1].out_of_place->us, 83.20) << prefix;
    EXPECT_EQ(tables[0].rows[1].where, (Location{"log", 13, static_cast<int>(prefix.size()) + 6}))
        << prefix;
  }
}

TEST(NcclTests, ReadsTextThatHasLostItsNumberSigns) {
  // Markdown renders the lines of the header as headings.
  for (const std::string log : {kModern, kOld}) {
    std::string text;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (log[i] != '#' || (i > 0 && log[i - 1] != '\n')) text += log[i];
    }
    const auto tables = parsed(text);
    ASSERT_THAT(tables, SizeIs(1)) << text;
    EXPECT_EQ(tables[0].ranks, log == kModern ? 4 : 8);
    EXPECT_EQ(tables[0].run.gpus_of_thread, log == kModern ? 4 : 1);
  }
}

TEST(NcclTests, ACommandNamesTheCollective) {
  const std::string titles = "# size count type redop root time algbw busbw #wrong\n";
  const auto tables = parsed("$ mpirun -np 4 ./build/all_gather_perf -b 8\n" + titles +
                             "4194304 262144 float none -1 100 41.94 31.46 0\n"
                             "+ /opt/reduce_scatter_perf_mpi -b 8\n" +
                             titles + "4194304 262144 float sum -1 100 41.94 31.46 0\n");
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].collective, "all_gather");
  EXPECT_EQ(tables[1].collective, "reduce_scatter");
  EXPECT_EQ(check_collective(tables[0], 4), CollectiveKind::kAllGather);
}

TEST(NcclTests, LeavesOutRowsInWhichAMessageLies) {
  const auto tables = parsed(
      "# size count type redop root time algbw busbw #wrong\n"
      "1024 256 float sum -1 21.36 0.05 0.07 0\n"
      "2048 512 float sum -1 21.node1:9:44 [1] NCCL INFO Channel 00/0 : 9[1] -> 10[2] via P2P\n"
      "36 0.05 0.07 0\n"
      "4096 1024 float sum -1 22.36 0.18 0.27 0\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(tables[0].rows, SizeIs(2));
  EXPECT_EQ(tables[0].damaged_rows, 1);
  EXPECT_EQ(tables[0].first_damaged, (Location{"log", 3, 1}));
  EXPECT_THAT(damaged_rows_note(tables), testing::HasSubstr("1 damaged row (log:3)"));
}

TEST(NcclTests, ReadsColumnsByTheirTitles) {
  // The output of nccl-tests 2.19: the name of the collective, and statistics after the
  // out-of-place and the in-place columns.
  const auto tables = parsed(
      "# Collective test starting: /opt/all_reduce_perf\n"
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw "
      "busbw #wrong i_min "
      "i_max "
      "i_p99 i_cv%\n"
      "4194304 1048576 bfloat16 sum -1 100.0 41.94 62.91 2 90 120 119 1.0 50.0 83.89 125.8 0 40 60 "
      "59 1.0 2026-01-01 "
      "10:00:00\n");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[0].rows[0].out_of_place->wrong, 2);
  EXPECT_EQ(tables[0].rows[0].in_place->us, 50);
  EXPECT_EQ(tables[0].rows[0].in_place->busbw_gb_per_s, 125.8);
}

TEST(NcclTests, ReadsItsOwnJson) {
  const auto tables = parsed(R"({"version": 3, "args": ["./build/all_reduce_perf", "-b", "1K"],
 "devices": [{"rank": 0}, {"rank": 1}, {"rank": 2}],
 "results": [
  {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "-1",
   "out_of_place": {"time": 100.5, "alg_bw": 10.43, "bus_bw": 13.91, "nwrong": "0"},
   "in_place": {"cpu_time": 99.5, "alg_bw": 10.54, "bus_bw": 14.05, "nwrong": 7}},
  {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "-1",
   "out_of_place": null, "in_place": {"time": 98.5, "alg_bw": 10.65, "bus_bw": 14.19, "nwrong": "nan"}}]})");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].collective, "all_reduce");
  EXPECT_EQ(tables[0].ranks, 3);
  ASSERT_THAT(tables[0].rows, SizeIs(2));
  EXPECT_EQ(tables[0].rows[0].out_of_place->us, 100.5);
  EXPECT_EQ(tables[0].rows[0].in_place->wrong, 7);
  EXPECT_FALSE(tables[0].rows[1].out_of_place);
  EXPECT_EQ(tables[0].rows[1].in_place->wrong, 0);
  EXPECT_TRUE(check_collective(tables[0], 3));
}

TEST(NcclTests, ReadsTheJsonOfTuttiPerf) {
  const auto tables = parsed(R"({"backend": "sim", "ranks": 16, "type": "float16",
   "rows": [{"bytes": 2048, "count": 1024,
             "out_of_place": {"time_us": 14.5, "algbw_gb_per_s": 0.141, "busbw_gb_per_s": 0.265},
             "in_place": {"time_us": 12.25, "algbw_gb_per_s": 0.167, "busbw_gb_per_s": 0.313}}]})");
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].ranks, 16);
  EXPECT_EQ(tables[0].rows[0].type, "half");
  EXPECT_EQ(tables[0].rows[0].in_place->us, 12.25);
}

TEST(NcclTests, ReadsTablesThatItPrints) {
  Random random(7);
  for (int table = 0; table < 50; ++table) {
    std::string text =
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
    std::vector<std::pair<std::int64_t, double>> rows;
    for (int r = 0; r < 20; ++r) {
      const auto elements =
          static_cast<std::int64_t>(1 + random.below(std::uint64_t{1} << (1 + r)));
      const double us = static_cast<double>(1 + random.below(10'000'000)) / 100;
      const double algbw = static_cast<double>(8 * elements) / us / 1e3;
      text += fmt::format(
          "{:>12} {:>12} double sum -1 {:7.2f} {:6.2f} {:6.2f} 0 {:7.2f} {:6.2f} {:6.2f} 0\n",
          8 * elements, elements, us, algbw, algbw * 1.5, us, algbw, algbw * 1.5);
      rows.emplace_back(8 * elements, us);
    }
    const auto tables = parsed(text);
    ASSERT_THAT(tables, SizeIs(1));
    ASSERT_THAT(tables[0].rows, SizeIs(20));
    EXPECT_TRUE(check_collective(tables[0], 4));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_EQ(tables[0].rows[r].bytes, rows[r].first);
      EXPECT_NEAR(tables[0].rows[r].out_of_place->us, rows[r].second, 1e-9);
      EXPECT_EQ(tables[0].rows[r].in_place->us, tables[0].rows[r].out_of_place->us);
    }
  }
}

TEST(NcclTests, HeadersStateTheProcessesAndThreadsThatCalledNccl) {
  const NcclTestsRun one_thread = parsed(kModern)[0].run;
  EXPECT_EQ(one_thread.driving(), nccl::Driving::kOneThread);
  EXPECT_EQ(one_thread.hosts, 1);
  EXPECT_EQ(one_thread.ranks_of_host, 4);
  EXPECT_EQ(one_thread.device, "NVIDIA A100");
  EXPECT_EQ(parsed(kOld)[0].run.driving(), nccl::Driving::kThreadPerGpu);
  std::string text = kModern;
  text.replace(text.find("Pid  12345 on      node0 device  1"), 10, "Pid  12346");
  text.replace(text.find("Pid  12345 on      node0 device  2"), 10, "Pid  12347");
  text.replace(text.find("Pid  12345 on      node0 device  3"), 10, "Pid  12348");
  EXPECT_EQ(parsed(text)[0].run.driving(), nccl::Driving::kProcessPerGpu);
  EXPECT_EQ(parsed(kPerf)[0].run.driving(), std::nullopt);
}

TEST(NcclTests, HeadersAndMessagesStateReleaseAndVariables) {
  const std::string before =
      std::string("# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22907\n") + kModern;
  EXPECT_EQ(parsed(before)[0].run.nccl_version, "22907");
  std::string text = kModern;
  text.insert(text.find("        1024 "),
              "node0:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
              "node0:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n"
              "node0:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n");
  const NcclTestsRun run = parsed(text)[0].run;
  EXPECT_EQ(run.nccl_version, "2.21.5+cuda12.4");
  ASSERT_THAT(run.environment, SizeIs(1));
  EXPECT_EQ(run.environment[0].second, "Ring");
  // A second run without such lines has no release and no variables.
  const auto both = parsed(text + kModern);
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].run.nccl_version, "2.21.5+cuda12.4");
  EXPECT_EQ(both[1].run.nccl_version, "");
}

TEST(NcclTests, LeavesOutATruncatedLastRow) {
  const std::string text = kModern;
  const std::size_t row = text.find("     4194304");
  for (std::size_t length = row + 40; length < row + 75; ++length) {
    const auto tables = parsed(text.substr(0, length));
    ASSERT_THAT(tables, SizeIs(1)) << length;
    EXPECT_THAT(tables[0].rows, SizeIs(1)) << length;
    EXPECT_EQ(tables[0].damaged_rows, 1) << length;
    EXPECT_EQ(tables[0].first_damaged.line, 13) << length;
  }
}

TEST(NcclTests, RefusesTruncatedRowsAtTheirEnd) {
  const std::string text = kModern;
  const std::size_t row = text.find("     4194304");
  for (std::size_t length = row + 40; length < row + 75; ++length) {
    const auto cut = parse_nccl_tests(text.substr(0, length) + "\n# a later line\n", "log");
    ASSERT_FALSE(cut) << length;
    // A row that is cut inside a number ends with a shorter number. Then the columns contradict
    // each other, or columns are missing.
    for (const Problem& problem : cut.error().problems()) {
      EXPECT_EQ(problem.where.line, 13) << length;
      EXPECT_THAT(problem.kind,
                  testing::AnyOf(ProblemKind{ProblemCode::kMissing, "out-of-place time"},
                                 ProblemKind{ProblemCode::kMissing, "in-place time"},
                                 ProblemKind{ProblemCode::kConflict, "algbw"}))
          << length;
    }
  }
}

TEST(NcclTests, RefusesInvalidNumbersAtTheirPosition) {
  const std::string titles = "# size count type redop root time algbw busbw #wrong\n";
  using enum ProblemCode;
  expect_refused(titles + "1024 256 float sum -1 abc 0.05 0.07 0\n", "abc", kWrongType, "time");
  expect_refused(titles + "1024 256 float sum -1 nan 0.05 0.07 0\n", "nan", kWrongType, "time");
  expect_refused(titles + "1024 256 float sum -1 -3 0.05 0.07 0\n", "-3", kTooSmall, "time");
  expect_refused(titles + "1024 256 float sum -1 0.00 0.05 0.07 0\n", "1024", kTooSmall, "time");
  expect_refused(titles + "99999999999999999999 256 float sum -1 1 1 1 0\n", "9999", kTooLarge,
                 "size");
  expect_refused(titles + "1048576 262144 float sum -1 10 1.05 2.1 0\n", "1048576", kConflict,
                 "algbw");
  expect_refused(R"({"results": [{"size": "x", "count": 3}]})", "\"x\"", kWrongType, "size");
  expect_refused(R"({"results": [{"count": 3}]})", "{\"count", kMissing, "size");
  expect_refused("{\"results\": [", "[^", kSyntax, "");
}

TEST(NcclTests, RefusesFilesWithoutATable) {
  for (const std::string text :
       {"", "hello\n", "# size count type\n1 2 float\n", "{}", "{\"results\": 3}",
        "# size count type redop root time algbw busbw #wrong\n"}) {
    EXPECT_THAT(parse_nccl_tests(text, "log"),
                test::FailsWithAll(std::vector{test::Mistake{ProblemCode::kMissing}}))
        << text;
  }
}

TEST(NcclTests, DistinguishesTablesOfOtherCollectives) {
  const NcclTestsTable table = parsed(kModern).front();
  EXPECT_TRUE(check_collective(table, 4));
  const auto against = [](const NcclTestsTable& one, std::int64_t ranks,
                          const test::Mistake& mistake) {
    EXPECT_THAT(check_collective(one, ranks), test::FailsWithAll(std::vector{mistake}));
  };
  using enum ProblemCode;
  against(table, 8, {kConflict, "ranks", 10, 9});
  NcclTestsTable unknown = table;
  unknown.ranks.reset();
  EXPECT_TRUE(check_collective(unknown, 4));
  against(unknown, 8, {kConflict, "busbw", 13, 6});
  NcclTestsTable gather = table;
  gather.collective = "all_gather";
  against(gather, 4, {kConflict, "busbw", 13, 6});
  gather.collective = "hypercube";
  against(gather, 4, {kUnknownName, "collective", 10, 9});
  NcclTestsTable plain = table;
  plain.rows[0].redop.clear();
  against(plain, 4, {kConflict, "redop", 12, 9});
}

TEST(NcclTests, AcceptsBothNamesOfTypes) {
  for (const DataType type : kDataTypes) {
    EXPECT_EQ(data_type_of_nccl_name(nccl_name(type)), type);
  }
  EXPECT_EQ(data_type_of_nccl_name("uint64"), DataType::kInt64);
  EXPECT_FALSE(data_type_of_nccl_name("f8e4m3"));
}

TEST(NcclTests, OnlyReductionsDependOnTheType) {
  NcclTestsRow row;
  row.bytes = row.elements = 4096;
  row.type = "uint8";
  NcclTestsRow reduced = row, odd = row;
  EXPECT_EQ(modelled_type(reduced, CollectiveKind::kAllReduce), std::nullopt);
  EXPECT_EQ(modelled_type(row, CollectiveKind::kAllGather), DataType::kFloat32);
  EXPECT_EQ(row.type, "float");
  EXPECT_EQ(row.elements, 1024);
  odd.elements = 4095;
  EXPECT_EQ(modelled_type(odd, CollectiveKind::kBroadcast), std::nullopt);
}

}  // namespace
}  // namespace tutti::core
