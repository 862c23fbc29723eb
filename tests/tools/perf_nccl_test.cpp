// tutti perf --cluster: NCCL's choice on a kind of machine, and the predicted times. The tests
// cover variables, releases, in-network reduction, faster settings, and machines for which NCCL's
// times are unknown.

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(PerfNccl, NotesSettingsThatWouldBeFasterThanNcclsChoice) {
  const std::vector<std::string> words{"perf", "--cluster", "dgx1-v100", "--nodes",
                                       "2",    "-b",        "64K",       "-e",
                                       "1M",   "-f",        "2",         "--format"};
  const auto rows_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    const Outcome o = run_tutti(more);
    EXPECT_EQ(o.status, 0) << o.err;
    return test::parse_or_throw(o.out, "out");
  };
  const core::Value document = rows_of({"json"});
  std::size_t marked = 0;
  double before = 0;
  const auto rows = Data(document)["rows"].items();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // If the time falls as the size grows, the previous size is marked.
    const double us = rows[i]["time_us"].real();
    if (us < 0.9 * before) {
      EXPECT_TRUE(rows[i - 1].has("quicker")) << rows[i]["bytes"].number();
    }
    before = us;
    if (!rows[i].has("quicker")) continue;
    ++marked;
    // With the suggested setting, the prediction must be the promised time.
    std::vector<std::string> again{"json"};
    std::string set = rows[i]["quicker"]["set"].text();
    for (std::size_t at = 0; at < set.size();
         at = set.find(' ', at) == std::string::npos ? set.size() : set.find(' ', at) + 1)
      again.insert(again.end(), {"--set", set.substr(at, set.find(' ', at) - at)});
    const core::Value told = rows_of(again);
    EXPECT_EQ(Data(told)["rows"].items()[i]["time_us"].real(), rows[i]["quicker"]["time_us"].real())
        << set;
    EXPECT_LT(rows[i]["quicker"]["time_us"].real(), rows[i]["time_low_us"].real());
  }
  EXPECT_GT(marked, 0u);
  EXPECT_LT(marked, rows.size());
  std::vector<std::string> text = words;
  text.emplace_back("text");
  EXPECT_THAT(run_tutti(text).out, HasSubstr("131072 B: NCCL_ALGO=Tree"));
}

TEST(PerfNccl, ChoicesAndEstimatesMatchNcclOnEightH100) {
  // The expected values are the choices and estimates of NCCL 2.28.9 itself (tests/reference/nccl).
  const Outcome o = run_tutti(
      {"perf", "--cluster", "hgx-h100", "-b", "64K", "-e", "64M", "-f", "32", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const auto rows = Data(document)["rows"].items();
  ASSERT_EQ(rows.size(), 3u);
  struct Expected {
    std::int64_t bytes;
    const char* algorithm;
    const char* protocol;
    int channels, threads;
    double estimate_us;
  };
  constexpr Expected kExpected[] = {{65536, "Ring", "LL", 2, 512, 15.813},
                                    {2097152, "NVLS", "Simple", 16, 640, 32.710},
                                    {67108864, "NVLS", "Simple", 16, 640, 271.724}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i]["bytes"].number(), kExpected[i].bytes);
    EXPECT_EQ(rows[i]["algorithm"].text(), kExpected[i].algorithm);
    EXPECT_EQ(rows[i]["protocol"].text(), kExpected[i].protocol);
    EXPECT_EQ(rows[i]["channels"].number(), kExpected[i].channels);
    EXPECT_EQ(rows[i]["threads"].number(), kExpected[i].threads);
    EXPECT_NEAR(rows[i]["nccl_estimate_us"].real(), kExpected[i].estimate_us, 5e-4);
    const double us = rows[i]["time_us"].real();
    EXPECT_NEAR(rows[i]["algbw_gb_per_s"].real(), rows[i]["bytes"].real() / us / 1e3, 1e-9);
    EXPECT_NEAR(rows[i]["busbw_gb_per_s"].real(), rows[i]["algbw_gb_per_s"].real() * 14 / 8, 1e-9);
    EXPECT_LT(rows[i]["time_low_us"].real(), us);
    EXPECT_GT(rows[i]["time_high_us"].real(), us);
  }
}

TEST(PerfNccl, VariablesAndVersionsChangeTheChoice) {
  const auto algorithm = [](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"perf", "--cluster", "hgx-h100", "-b",  "64M",
                                          "-e",   "64M",       "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome o = run_tutti(arguments);
    EXPECT_EQ(o.status, 0) << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    return Data(document)["rows"].items()[0]["algorithm"].text();
  };
  EXPECT_EQ(algorithm({}), "NVLS");
  EXPECT_EQ(algorithm({"--set", "NCCL_ALGO=Ring"}), "Ring");
  EXPECT_EQ(algorithm({"--set", "NCCL_NVLS_ENABLE=0"}), "Ring");
  EXPECT_EQ(algorithm({"--nccl-version", "2.16.2"}), "Ring");  // older than NVLS
}

TEST(PerfNccl, ExplainsNcclsChoice) {
  const std::vector<std::string> words{"perf", "--cluster", "hgx-h100", "-b",
                                       "1M",   "-e",        "1M",       "--explain"};
  const Outcome o = run_tutti(words);
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out,
              AllOf(testing::ContainsRegex(
                        "Ring/LL has the lowest estimate; the estimate of NVLS/Simple is 3.0 %"),
                    HasSubstr("28.014"), HasSubstr("predicted ")));
  std::vector<std::string> as_json = words;
  as_json.insert(as_json.end(), {"--format", "json"});
  const core::Value document = test::parse_or_throw(run_tutti(as_json).out, "out");
  const Data row = Data(document)["rows"].items()[0];
  std::map<std::string, Data> candidates;
  for (const Data& one : row["candidates"].items())
    candidates.emplace(one["algorithm"].text() + "/" + one["protocol"].text(), one);
  EXPECT_EQ(row["algorithm"].text() + "/" + row["protocol"].text(), "Ring/LL");
  for (const auto& [name, one] : candidates) {
    if (one["off"].is_null()) {
      EXPECT_GE(one["estimate_us"].real(), row["nccl_estimate_us"].real()) << name;
    }
  }
  EXPECT_TRUE(candidates.at("NVLS/Simple")["off"].is_null());
  EXPECT_NEAR(candidates.at("NVLS/Simple")["estimate_us"].real(),
              1.03 * row["nccl_estimate_us"].real(), 0.05);
  EXPECT_FALSE(candidates.at("NVLSTree/Simple")["off"].is_null()) << "it is for several nodes";
}

TEST(PerfNccl, ComparingItsOwnTableGivesNoError) {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {"perf", "--cluster", "dgx-a100", "--nodes", "2", "-b",
                                              "1K",   "-e",        "16M",      "-f",      "4"};
  for (const bool json : {false, true}) {
    std::vector<std::string> first = arguments;
    if (json) first.insert(first.end(), {"--format", "json"});
    const Outcome o = run_tutti(first);
    ASSERT_EQ(o.status, 0) << o.err;
    // If the input is JSON, only the reader of nccl-tests' text is tested.
    if (json) continue;
    std::ofstream(folder.path() + "/run.log") << o.out;
    std::vector<std::string> second = arguments;
    second.insert(second.end(), {"--against", folder.path() + "/run.log"});
    const Outcome against = run_tutti(second);
    ASSERT_EQ(against.status, 0) << against.err;
    EXPECT_THAT(against.out, testing::ContainsRegex("8 sizes, .* 0.0 %, .* 0.0 %"));
  }
}

TEST(PerfNccl, ComparesALogWithThePrediction) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/run.log")
      << "#       size         count      type   redop    root     time   algbw  "
         " busbw #wrong     time   algbw   busbw #wrong\n"
         "     1048576        262144     float     sum      -1    40.00   26.21  "
         " 45.88      0    40.00   26.21   45.88      0\n";
  const Outcome o = run_tutti({"perf", "--cluster", "hgx-h100", "-b", "1M", "-e", "2M", "--against",
                               folder.path() + "/run.log", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const auto rows = Data(document)["rows"].items();
  EXPECT_EQ(rows[0]["measured_us"].real(), 40);
  EXPECT_FALSE(rows[1].has("measured_us"));
}

TEST(PerfNccl, PredictsWhatTheLogStates) {
  const TemporaryFolder folder;
  std::string log = "# nThread 1 nGpus 8 minBytes 8192 maxBytes 24576 step: 16384(bytes)\n";
  for (int i = 0; i < 8; ++i)
    log +=
        fmt::format("#  Rank  {} Group  0 Pid  77 on  node1 device  {} [0x07] NVIDIA H100\n", i, i);
  log +=
      "NCCL version 2.20.5+cuda12.4\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "        8192          2048     float     sum      -1    40.00    0.20    0.36      0\n"
      "       24576          6144     float     sum      -1    60.00    0.41    0.72      0\n";
  const std::string file = folder.write("run.log", log);
  const auto rows_of = [](const std::vector<std::string>& words) {
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    std::string rows;
    const core::Value document = test::parse_or_throw(o.out, "out");
    for (const auto& row : Data(document)["rows"].items())
      rows += fmt::format("{} {} ", row["bytes"].real(), row["time_us"].real());
    return std::pair(o.out, rows);
  };
  const std::vector<std::string> words = {"perf", "--cluster", "hgx-h100", "--format",
                                          "json", "--against", file};
  const auto [out, adopted] = rows_of(words);
  EXPECT_THAT(
      out,
      HasSubstr(
          "taken from the log: NCCL 2.20.5+cuda12.4 (--nccl-version), one_thread (--driving)"));
  EXPECT_THAT(adopted, testing::StartsWith("8192 "));
  EXPECT_THAT(adopted, HasSubstr(" 24576 "));
  std::vector<std::string> given = words;
  given.insert(given.end(), {"--nccl-version", "2.20.5", "--driving", "one_thread", "-b", "8K",
                             "-e", "24K", "-f", "3"});
  EXPECT_EQ(rows_of(given).second, adopted);
  given[given.size() - 7] = "process_per_gpu";
  EXPECT_NE(rows_of(given).second, adopted);
}

/// Returns a log of the OSU micro-benchmarks, which does not state the number of ranks.
std::string osu_log(const std::string& title) {
  return "\n# OSU " + title + " Allreduce Latency Test v7.5\n# Datatype: MPI_FLOAT.\n" +
         "# Size       Avg Latency(us)\n1048576                40.00\n";
}

TEST(PerfNccl, ALogOfMpiIsRefusedAndAssumedRanksAreNoted) {
  const TemporaryFolder folder;
  const auto words = [](const std::string& log) {
    return std::vector<std::string>{"perf", "--cluster", "hgx-h100", "-b",       "1M",  "-e",
                                    "1M",   "--against", log,        "--format", "json"};
  };
  const std::string mpi = folder.write("mpi.log", osu_log("MPI"));
  expect_refused(
      words(mpi), folder,
      {.code = ProblemCode::kConflict, .field = "--against", .line = 2, .column = 1, .file = mpi});
  const Outcome o = run_tutti(words(folder.write("nccl.log", osu_log("NCCL"))));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr(" does not list its ranks; assumed: 8 ranks"));
}

TEST(PerfNccl, RowsWithWrongResultsAreLeftOut) {
  const TemporaryFolder folder;
  const std::string head =
      "#       size         count      type   redop    root     time   algbw  "
      " busbw #wrong     time   algbw   busbw #wrong\n";
  const std::string wrong =
      "     1048576        262144     float     sum      -1    40.00   26.21  "
      " 45.88      3    40.00   26.21   45.88      0\n";
  const std::string correct =
      "     2097152        524288     float     sum      -1    80.00   26.21  "
      " 45.88      0    80.00   26.21   45.88      0\n";
  const Outcome o =
      run_tutti({"perf", "--cluster", "hgx-h100", "-b", "1M", "-e", "2M", "--against",
                 folder.write("run.log", head + wrong + correct), "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const auto rows = Data(document)["rows"].items();
  EXPECT_FALSE(rows[0].has("measured_us"));
  EXPECT_EQ(rows[1]["measured_us"].real(), 80);
  EXPECT_THAT(o.out, HasSubstr("ignored 1 rows with wrong results"));
  const std::string all_wrong = folder.write("wrong.log", head + wrong);
  expect_refused({"perf", "--cluster", "hgx-h100", "-b", "1M", "-e", "2M", "--against", all_wrong},
                 folder, {.code = ProblemCode::kMissing, .field = "--against", .file = all_wrong});
}

TEST(PerfNccl, SendsAndReceivesHaveTimesButNoEstimatesOfNccl) {
  const Outcome o = run_tutti({"perf", "--cluster", "dgx-a100", "--nodes", "2", "--collective",
                               "alltoall", "-b", "1M", "-e", "1M", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data row = Data(document)["rows"].items()[0];
  EXPECT_GT(row["time_us"].real(), 0);
  EXPECT_TRUE(row["algorithm"].is_null());
}

// Half of the root's data goes to the other node, most of it through NVLink to the GPUs beside the
// other cards. So 14 of 16 blocks leave the root over 450 GB/s of NVLink.
TEST(PerfNccl, ARootSendsNoFasterThanItsLinks) {
  const Outcome o = run_tutti({"perf", "--cluster", "hgx-h100", "--nodes", "2", "--collective",
                               "scatter", "-b", "8G", "-e", "8G", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const auto row = Data(document)["rows"].items()[0];
  const double us = row["time_us"].real();
  EXPECT_GT(us, 14.0 / 16 * static_cast<double>(std::int64_t{8} << 30) / 450e3);
  EXPECT_LT(row["busbw_gb_per_s"].real(), 421);
  EXPECT_THAT(o.out, testing::Not(HasSubstr("capped_at_bound")));
}

TEST(PerfNccl, ATimeBelowALinksLimitIsRaisedAndTheLinkIsNamed) {
  const TemporaryFolder folder;
  std::ifstream shipped(test::source_folder() + "/scenarios/machines/hgx-h100.textproto");
  std::string machine{std::istreambuf_iterator<char>(shipped), {}};
  const std::string lanes = "link { from: \"plx[0-7]\" to: \"gpu[0-7]\" kind: PCIE generation: 5";
  ASSERT_NE(machine.find(lanes), std::string::npos);
  // The time model assumes that all GPUs have the PCIe of the first.
  machine.replace(machine.find(lanes), lanes.size(),
                  "link { from: \"plx0\" to: \"gpu0\" kind: PCIE generation: 5 latency_us: 0.5 }\n"
                  "link { from: \"plx[1-7]\" to: \"gpu[1-7]\" kind: PCIE generation: 5 lanes: 2");
  const std::string file = folder.path() + "/starved.textproto";
  std::ofstream(file) << machine;
  const std::vector<std::string> arguments = {"perf", "--cluster", file, "--nodes", "2",
                                              "-b",   "1G",        "-e", "1G"};
  const Outcome text = run_tutti(arguments);
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("the times of these rows were raised to the bound"),
                              HasSubstr(" us, which ")));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Outcome json = run_tutti(as_json);
  const core::Value document = test::parse_or_throw(json.out, "out");
  const auto row = Data(document)["rows"].items()[0];
  EXPECT_THAT(row["capped_at_bound"].text(), HasSubstr("gpu"));
  // With NVLSTree over two nodes, each of the eight heads sends its eighth of the buffer once, over
  // two PCIe lanes of 3.94 GB/s.
  const double bound_us = static_cast<double>(1 << 30) / 8 / 7.877e3;
  EXPECT_NEAR(row["time_us"].real(), bound_us, 0.01 * bound_us);
  // The time of the suggested setting is limited by the same lanes. With this setting, the
  // prediction must be the promised time.
  if (!row.has("quicker")) return;
  const std::string set = row["quicker"]["set"].text();
  as_json.insert(as_json.end(), {"--set", set.substr(0, set.find(' '))});
  if (set.find(' ') != std::string::npos)
    as_json.insert(as_json.end(), {"--set", set.substr(set.find(' ') + 1)});
  const core::Value told = test::parse_or_throw(run_tutti(as_json).out, "out");
  EXPECT_EQ(Data(told)["rows"].items()[0]["time_us"].real(), row["quicker"]["time_us"].real())
      << set;
}

TEST(PerfNccl, OneThreadForAllGpusIsSlower) {
  const auto us = [](const std::string& driving) {
    const Outcome o = run_tutti({"perf", "--cluster", "hgx-h100", "-b", "8", "-e", "8", "--driving",
                                 driving, "--format", "json"});
    EXPECT_EQ(o.status, 0) << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    EXPECT_EQ(test::Data(document)["driving"].text(), driving);
    const auto row = test::Data(document)["rows"].items()[0];
    return std::pair(row["time_us"].real(), row["time_high_us"].real() / row["time_us"].real());
  };
  EXPECT_GT(us("one_thread").first, 1.5 * us("process_per_gpu").first);
  EXPECT_NEAR(us("thread_per_gpu").first, us("process_per_gpu").first, 0.1);
  EXPECT_NE(us("one_thread").second, us("process_per_gpu").second);
  test::TemporaryFolder folder;
  expect_refused({"perf", "--cluster", "hgx-h100", "--driving", "nobody"}, folder,
                 {ProblemCode::kUnknownName, "--driving"});
}

TEST(PerfNccl, RootsMustBeRanks) {
  const TemporaryFolder folder;
  const std::vector<std::string> words{
      "perf", "--cluster", "hgx-h100", "--collective", "broadcast", "-b", "8", "-e", "8", "-r"};
  const auto with = [&](const char* root) {
    std::vector<std::string> all = words;
    all.emplace_back(root);
    return all;
  };
  EXPECT_THAT(run_tutti(with("3")).out, testing::ContainsRegex("none +3 "));
  expect_refused(with("8"), folder, {ProblemCode::kTooLarge, "-r"});
  expect_refused(with("-1"), folder, {ProblemCode::kTooSmall, "-r"});
}

TEST(PerfNccl, UnknownReleasesAreTreatedAsTheNewest) {
  EXPECT_THAT(
      run_tutti({"perf", "--cluster", "hgx-h100", "-b", "8", "-e", "8", "--nccl-version", "2.31"})
          .out,
      testing::ContainsRegex("NCCL 2.31 .* 2.30"));
}

TEST(PerfNccl, FollowsTheNumberOfCardsAndTheReleaseOfTheEfaPlugin) {
  const auto on = [](const char* machine, std::vector<std::string> more) {
    std::vector<std::string> words{"perf", "--cluster", machine, "--nodes", "2",
                                   "-b",   "64K",       "-e",    "64K"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_THAT(run_tutti(on("hgx-h100", {"--cards-per-gpu", "1/2"})).out,
              HasSubstr("4 cards of 50 GB/s"));
  EXPECT_THAT(run_tutti(on("hgx-h100", {"--cards-per-gpu", "2", "--card-gbit-per-s", "200"})).out,
              HasSubstr("16 cards of 25 GB/s"));
  EXPECT_THAT(run_tutti(on("ec2-p5-48xlarge", {})).out, HasSubstr("network efa_v2, 8 cards"));
  EXPECT_THAT(run_tutti(on("ec2-p5-48xlarge", {"--ofi-plugin", "1.7.2"})).out,
              HasSubstr("aws-ofi-nccl 1.7.2 sets NCCL_PROTO=Simple"));
  const TemporaryFolder folder;
  expect_refused(on("hgx-h100", {"--cards-per-gpu", "3"}), folder,
                 {ProblemCode::kUnknownName, "--cards-per-gpu"});
  expect_refused(on("hgx-h100", {"--card-gbit-per-s", "100"}), folder,
                 {ProblemCode::kUnused, "--card-gbit-per-s"});
  expect_refused(on("hgx-h100", {"--ofi-plugin", "1.16"}), folder,
                 {ProblemCode::kUnused, "--ofi-plugin"});
}

TEST(PerfNccl, UsesNetworksThatReduce) {
  const std::vector<std::string> words{"perf", "--cluster", "hgx-h100", "--nodes", "8",
                                       "-b",   "64M",       "-e",       "64M",     "--explain"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_tutti(more).out;
  };
  /// Returns whether the network reduces, NCCL's choice, and the available algorithms.
  const auto choice = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json"});
    const core::Value document = test::parse_or_throw(with(more), "out");
    const Data row = Data(document)["rows"].items()[0];
    std::set<std::string> there;
    for (const Data& one : row["candidates"].items()) {
      if (one["off"].is_null()) there.insert(one["algorithm"].text());
    }
    return std::tuple(Data(document)["network_reduces"].value().text, row["algorithm"].text(),
                      there);
  };
  const std::string reduces = with({"--set", "NCCL_COLLNET_ENABLE=1"});
  EXPECT_THAT(reduces, HasSubstr("SHARP"));
  EXPECT_THAT(reduces, testing::ContainsRegex("NVLS/Simple +43.00 +195.048 .*chosen"));
  EXPECT_THAT(reduces, testing::ContainsRegex("CollNetChain/Simple +69.20 +192.000"));
  EXPECT_EQ(choice({"--set", "NCCL_COLLNET_ENABLE=1", "--set", "NCCL_ALGO=CollnetDirect"}),
            std::tuple("true", "CollNetDirect", std::set<std::string>{"CollNetDirect"}));
  // The first network cannot reduce. The second one could, but the user has not enabled it.
  for (const std::vector<std::string>& without :
       {std::vector<std::string>{"--set", "NCCL_COLLNET_ENABLE=1", "--network", "roce"}, {}}) {
    const auto [network_reduces, algorithm, there] = choice(without);
    EXPECT_EQ(network_reduces, "false");
    EXPECT_THAT(there, testing::Not(testing::AnyOf(testing::Contains("CollNetDirect"),
                                                   testing::Contains("CollNetChain"))));
  }
  EXPECT_THAT(with({"--set", "NCCL_COLLNET_ENABLE=1", "--network", "roce"}),
              HasSubstr("\n# NCCL_COLLNET_ENABLE=1 "));
}

TEST(PerfNccl, AppliesVariablesThatChangePaths) {
  const auto of = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"perf", "--cluster", "hgx-h100", "-b", "64M", "-e", "64M"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    return o.out;
  };
  EXPECT_THAT(
      of({"--set", "NCCL_P2P_DISABLE=1"}),
      AllOf(HasSubstr("2 nodes of 4 GPUs"), HasSubstr("network infiniband, 4 cards of 50 GB/s")));
  EXPECT_THAT(of({"--nodes", "2", "--set", "NCCL_IB_DISABLE=1"}),
              HasSubstr("network tcp, 8 cards"));
  EXPECT_THAT(of({"--nodes", "2", "--set", "NCCL_CROSS_NIC=0"}), HasSubstr("ring 8 x 45/45 GB/s"));
  EXPECT_THAT(of({"--nodes", "2"}), HasSubstr("ring 8 x 48/48 GB/s"));
}

TEST(PerfNccl, SearchesPartsOfACubeMesh) {
  // GPUs 0 to 3 have double links, which every ring over the first four GPUs uses.
  const Outcome o =
      run_tutti({"perf", "--cluster", "dgx1-v100", "--gpus", "4", "-b", "64M", "-e", "64M"});
  EXPECT_THAT(o.out, HasSubstr("channels 8 (ring 4 x 20/20 GB/s")) << o.err;
  // The root of a gather uses one card, however many its node has.
  const Outcome gathered =
      run_tutti({"perf", "--cluster", "hgx-h100", "--nodes", "8", "--collective", "gather", "-b",
                 "8G", "-e", "8G", "--format", "json"});
  const core::Value document = test::parse_or_throw(gathered.out, "out");
  EXPECT_LT(Data(document)["rows"].items()[0]["busbw_gb_per_s"].real(), 50 * 63.0 / 56);
}

TEST(PerfNccl, NotesValuesThatNcclInterpretsDifferently) {
  const std::vector<std::string> words{"perf", "--cluster", "hgx-h100",         "-b", "1G", "-e",
                                       "1G",   "--set",     "NCCL_NTHREADS=100"};
  const Outcome o = run_tutti(words);
  EXPECT_THAT(o.out, testing::ContainsRegex("# note: NCCL_NTHREADS=100 [^\n]* 512\n"));
  std::vector<std::string> as_json = words;
  as_json.insert(as_json.end(), {"--format", "json"});
  const core::Value document = test::parse_or_throw(run_tutti(as_json).out, "out");
  EXPECT_EQ(Data(document)["notes"].items().size(), 1U);
  const TemporaryFolder folder;
  expect_refused({"perf", "--cluster", "hgx-h100", "--set", "NCCL_BUFFSIZE=4M"}, folder,
                 {ProblemCode::kTooSmall, "NCCL_BUFFSIZE"});
}

TEST(PerfNccl, AsksForATransportThatNoNicStates) {
  const TemporaryFolder folder;
  const TemporaryFolder shipped;
  std::ifstream file(test::source_folder() + "/scenarios/machines/dgx-a100.textproto");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string stated = " transport: INFINIBAND";
  ASSERT_NE(text.find(stated), std::string::npos);
  text.erase(text.find(stated), stated.size());
  const std::string machine = shipped.write("mine.textproto", text);
  const std::vector<std::string> words{"perf", "--cluster", machine, "--nodes", "2",
                                       "-b",   "1M",        "-e",    "1M"};
  expect_refused(words, folder, {ProblemCode::kMissing, "Nic.transport"});
  std::vector<std::string> said = words;
  said.insert(said.end(), {"--network", "roce"});
  EXPECT_THAT(run_tutti(said).out, HasSubstr("# network roce"));
  // Here the transport between the parts of one machine is assumed, and the output says so.
  const Outcome apart = run_tutti(
      {"perf", "--cluster", machine, "--set", "NCCL_P2P_DISABLE=1", "-b", "1M", "-e", "1M"});
  EXPECT_THAT(apart.out,
              AllOf(HasSubstr("# network infiniband"),
                    testing::ContainsRegex("# note: machine dgx-a100: [^\n]*infiniband")));
}

TEST(PerfNccl, AllPredictionsNoteAnUnstatedTransport) {
  const TemporaryFolder folder;
  const auto with = [&](const char* transport) {
    return folder.write(
        "s.textproto",
        std::string(
            "cluster { workers { machine: \"dgx-a100\" count: 2 } network { kind: ONE_SWITCH "
            "latency_us: 2 source: \"Slingshot\" ") +
            transport +
            " } } workload { variable { name: \"v\" shape: 1000000 backward_ms: 1 } forward_ms: 1 "
            "update_ms: 0 } strategy { algorithm: \"nccl\" } run { steps: 2 }");
  };
  for (const std::vector<std::string>& command : {std::vector<std::string>{"simulate"},
                                                  {"plan"},
                                                  {"explain"},
                                                  {"tune", "--evaluations", "2"}}) {
    std::vector<std::string> words = command;
    words.insert(words.begin() + 1, with(""));
    EXPECT_THAT(run_tutti(words).out,
                testing::ContainsRegex("infiniband.*dgx-a100.*network . transport"))
        << command.front();
    words[1] = with("transport: INFINIBAND");
    const Outcome stated = run_tutti(words);
    EXPECT_EQ(stated.status, 0) << stated.err;
    EXPECT_THAT(stated.out, testing::Not(HasSubstr("transport"))) << command.front();
  }
  expect_refused(
      {"simulate", with("transport: PIGEONS")}, folder,
      {ProblemCode::kUnknownName, "Network.transport", 1, 124, folder.file("s.textproto")});
}

TEST(PerfNccl, WrongRequestsAreRefused) {
  const TemporaryFolder folder;
  expect_refused({"perf", "--cluster", "hgx-h100", "-f", "1.0000001"}, folder,
                 {ProblemCode::kTooSmall, "-f"});
  expect_refused({"perf"}, folder, {ProblemCode::kMissing, "--cluster"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--place", "in"}, folder,
                 {ProblemCode::kConflict, "--place"});
  EXPECT_THAT(run_tutti({"perf", "--cluster", "hgx-h100", "--place", "in"}).err,
              HasSubstr("use --place out"));
  expect_refused({"perf", "--cluster", "hgx-h10"}, folder,
                 {ProblemCode::kUnknownName, "--cluster"});
  expect_refused({"perf", "--cluster", "cpu-host", "--nodes", "2"}, folder,
                 {ProblemCode::kMissing, "Machine.device"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--gpus", "1"}, folder,
                 {ProblemCode::kTooSmall, "--gpus"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--nodes", "0"}, folder,
                 {ProblemCode::kTooSmall, "--nodes"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--nccl-version", "2.4"}, folder,
                 {ProblemCode::kUnsupported, "--nccl-version"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--set", "NCCL_ALGO=rnig"}, folder,
                 {ProblemCode::kUnknownName, "NCCL_ALGO"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--set", "NCCL_P2P_DISABLE=1", "--set",
                  "NCCL_SHM_DISABLE=1", "--set", "NCCL_NET_DISABLE_INTRA=1"},
                 folder, {ProblemCode::kConflict, "NCCL_NET_DISABLE_INTRA"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--set", "strategy.shards=2"}, folder,
                 {ProblemCode::kSyntax, "--set"});
  expect_refused({"perf", "--cluster", "gb200-nvl72", "--set", "NCCL_P2P_DISABLE=1"}, folder,
                 {ProblemCode::kMissing, "Machine.link"});
  expect_refused({"perf", "--cluster", "topo.xml"}, folder,
                 {.code = ProblemCode::kMissing, .file = "topo.xml"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--backend", "tcp"}, folder,
                 {ProblemCode::kConflict, "--backend"});
  expect_refused({"perf", test::scenario("01_two_ranks"), "--cluster", "hgx-h100"}, folder,
                 {ProblemCode::kConflict, "--cluster"});
  expect_refused({"perf", test::scenario("01_two_ranks"), "--nodes", "3"}, folder,
                 {ProblemCode::kUnused, "--nodes"});
  expect_refused({"perf", "--cluster", "hgx-h100", "--against", "none.log"}, folder,
                 {.code = ProblemCode::kMissing, .file = "none.log"});
}

TEST(PerfOfNccl, HasTheOptionsOfNcclTests) {
  const std::vector<std::string> perf{"perf", "--cluster", "hgx-h100", "-b", "1M"};
  const auto out = [&](const std::vector<std::string>& more) {
    const Outcome o = run_tutti(test::with(perf, more));
    EXPECT_EQ(o.status, 0) << o.err;
    return o.out;
  };
  EXPECT_EQ(out({"-e", "1M", "-t", "4"}),
            out({"-e", "1M", "-g", "4", "--driving", "thread_per_gpu"}));
  EXPECT_EQ(out({"-e", "1M", "-t", "1", "-g", "8"}), out({"-e", "1M", "--driving", "one_thread"}));
  EXPECT_EQ(out({"-e", "1M", "-R", "1"}), out({"-e", "1M", "--buffers", "registered"}));
  EXPECT_NE(out({"-e", "1M", "-t", "4"}), out({"-e", "1M", "-g", "4"}));
  const core::Value document =
      test::parse_or_throw(out({"-e", "4M", "-i", "1M", "--format", "json"}), "out");
  std::vector<std::int64_t> sizes;
  for (const Data& row : Data(document)["rows"].items()) sizes.push_back(row["bytes"].number());
  EXPECT_THAT(sizes, testing::ElementsAre(1 << 20, 2 << 20, 3 << 20, 4 << 20));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"-t", "2", "-g", "4"},
                                                {"-t", "0"},
                                                {"-R", "3"},
                                                {"-i", "0"},
                                                {"-i", "1M", "-f", "2"},
                                                {"--ranks", "2"}})
    EXPECT_EQ(run_tutti(test::with(perf, wrong)).status, 2) << wrong[0] << wrong[1];
}

}  // namespace
}  // namespace tutti
