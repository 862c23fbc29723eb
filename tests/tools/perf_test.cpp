// tutti perf, which prints the table of nccl-tests for simulated and real runs: times, busbw,
// collectives, operations, sizes, columns, notes, and options that are rejected.

#include <sstream>
#include <tuple>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(Perf, TimesAreThoseOfASingleAllReduce) {
  // Computed by hand for scenario 01: 2 (latency + half of the bytes / 10 GB/s) + half of the bytes
  // / 100 GB/s. For two ranks, busbw equals algbw.
  const Outcome o =
      run_tutti({"perf", scenario("01_two_ranks"), "-b", "1M", "-e", "4M", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const std::vector<Data> rows = Data(document)["rows"].items();
  ASSERT_EQ(rows.size(), 3u);
  for (const Data& row : rows) {
    const double half = row["bytes"].real() / 2;
    const Data in_place = row["in_place"];
    EXPECT_NEAR(in_place["time_us"].real(), 2 * (2 + half / 10e3) + half / 100e3, 1e-5);
    EXPECT_NEAR(in_place["algbw_gb_per_s"].real(),
                row["bytes"].real() / in_place["time_us"].real() / 1e3, 1e-9);
    EXPECT_NEAR(in_place["busbw_gb_per_s"].real(), in_place["algbw_gb_per_s"].real(), 1e-9);
    EXPECT_EQ(row["out_of_place"]["time_us"].real(), in_place["time_us"].real())
        << "a ring sends no further bytes";
  }
}

TEST(Perf, RealRunsHaveTheColumnsOfNcclTests) {
  const Outcome o = run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "-b",
                               "4", "-e", "4K", "-f", "32", "-n", "2", "-w", "1"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("over tcp"));
  const Outcome shm =
      run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "--transport", "shm",
                 "-b", "1K", "-e", "1K", "-n", "30", "-w", "0"});
  ASSERT_EQ(shm.status, 0) << shm.err;
  EXPECT_THAT(shm.out, HasSubstr("over shared memory"));
  EXPECT_THAT(o.out,
              testing::ContainsRegex("size +count +type +redop +root +time +algbw +busbw +#wrong"));
  EXPECT_THAT(o.out, testing::ContainsRegex("4096 +1024 +float +sum +-1 .* 0\n"));
}

/// Every row is one buffer, which is reduced by the matching entry of the spec.
TEST(Perf, UsesTheEntryOfASpecForEachSize) {
  const TemporaryFolder folder;
  const auto times = [&](const std::string& strategy) {
    const std::string file = folder.write("s.textproto",
                                          "cluster { workers { machine: \"cpu-host\" count: 4 } "
                                          "network { kind: ONE_SWITCH latency_us: 1 } } workload { "
                                          "variable { name: \"v\" shape: 8 } } strategy { " +
                                              strategy + " }");
    const Outcome o = run_tutti(
        {"perf", file, "-b", "1K", "-e", "64K", "-f", "64", "--place", "in", "--format", "json"});
    EXPECT_EQ(o.status, 0) << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    std::vector<double> us;
    for (const Data& row : Data(document)["rows"].items())
      us.push_back(row["in_place"]["time_us"].real());
    return us;
  };
  const std::vector<double> mixed = times(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:1k:xring\" } } }");
  const std::vector<double> pscpu = times("algorithm: \"pscpu\""),
                            xring = times("algorithm: \"xring\"");
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(mixed, (std::vector<double>{pscpu[0], xring[1]}));
  EXPECT_NE(pscpu, xring);
}

/// With the implementation NCCL, TensorFlow broadcasts with its own tree. The default collective is
/// that of the scenario.
TEST(Perf, NamesTheCollectiveAndAlgorithm) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("s.textproto",
                   "cluster { workers { machine: \"hgx-h100\" count: 2 } network { kind: "
                   "ONE_SWITCH latency_us: 1 } }\nworkload { "
                   "variable { name: \"v\" shape: 1000 } }\nstrategy { tensorflow { "
                   "multi_worker_mirrored { communication_options { "
                   "implementation: NCCL } } } collective: BROADCAST }\n");
  const auto named = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{"perf", file, "-b", "1K", "-e", "1K", "--format", "json"};
    command.insert(command.end(), more.begin(), more.end());
    const Outcome o = run_tutti(command);
    const core::Value document = test::parse_or_throw(o.out, "out");
    return Data(document)["strategy"].text();
  };
  EXPECT_EQ(named({}), named({"--collective", "broadcast"}));
  EXPECT_NE(named({}), named({"--collective", "all_reduce"}));
  EXPECT_THAT(named({}), testing::Not(testing::HasSubstr("nccl")));
}

TEST(Perf, ReducesByEveryOperationOfNcclTests) {
  for (const std::string op : {"sum", "prod", "max", "min", "avg"}) {
    for (const std::string type : {"float32", "int32", "float16"}) {
      const Outcome o =
          run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "-b", "1K", "-e",
                     "1K", "--place", "in", "-n", "1", "-w", "0", "-o", op, "--type", type});
      ASSERT_EQ(o.status, 0) << op << " " << type << ": " << o.err;
      EXPECT_THAT(o.out, testing::ContainsRegex("1024 +[0-9]+ +[a-z0-9]+ +" + op + " +-1 "))
          << type;
    }
  }
  // Among the operations, only the mean changes the time of rings, by the cost of the division. On
  // GPUs this is one pass over memory.
  const auto time = [](const std::string& op) {
    const Outcome o = run_tutti({"perf", scenario("06_resnet50_nccl"), "--set", "run.nccl=RINGS",
                                 "-b", "1M", "-e", "1M", "-o", op, "--format", "json"});
    const core::Value document = test::parse_or_throw(o.out, "out");
    EXPECT_EQ(Data(document)["redop"].text(), op);
    return Data(document)["rows"].items().at(0)["in_place"]["time_us"].real();
  };
  EXPECT_EQ(time("sum"), time("max"));
  EXPECT_LT(time("sum"), time("avg"));
}

/// Expected values from nccl-tests' GetCollByteCount and GetBw, for 8 ranks and sizes that start at
/// 1000 bytes and double.
struct OfNcclTests {
  const char* collective;
  const char* algorithm;
  double busbw;        ///< relative to algbw
  std::int64_t bytes;  ///< printed size for a requested size of 1000
  std::int64_t count;
  const char* columns;  ///< redop and root
  bool in_place = true;
};
constexpr OfNcclTests kOfNcclTests[] = {
    {"all_reduce", "ring", 1.75, 1000, 250, "sum +-1"},
    {"reduce_scatter", "ring", 0.875, 896, 28, "sum +-1"},
    {"all_gather", "recursive_doubling", 0.875, 896, 28, "none +-1"},
    {"broadcast", "ring", 1, 1000, 250, "none +5"},
    {"reduce", "halving_doubling", 1, 1000, 250, "sum +5"},
    {"alltoall", "pscpu", 0.875, 896, 28, "none +-1", false},
    {"gather", "halving_doubling", 0.875, 896, 28, "none +5"},
    {"scatter", "pscpu", 0.875, 896, 28, "none +5"},
    {"sendrecv", "ring", 1, 1000, 250, "sum +-1", false}};

std::string eight_hosts(const std::string& algorithm) {
  return "cluster { workers { machine: \"cpu-host\" count: 8 } network { kind: ONE_SWITCH "
         "latency_us: 1 } }\n"
         "workload { variable { name: \"a\" shape: 8 } } strategy { algorithm: \"" +
         algorithm + "\" }\n";
}

TEST(Perf, SupportsEveryCollectiveOfNcclTestsWithItsSizesAndFactors) {
  const TemporaryFolder folder;
  for (const OfNcclTests& c : kOfNcclTests) {
    const std::string file = folder.write("s.textproto", eight_hosts(c.algorithm));
    std::vector<std::string> words{"perf", file, "--collective", c.collective, "-b",
                                   "1000", "-e", "1M",           "-f",         "8"};
    if (std::string(c.columns).ends_with('5')) words.insert(words.end(), {"-r", "5"});
    const Outcome text = run_tutti(words);
    ASSERT_EQ(text.status, 0) << c.collective << text.err;
    const std::string na = c.in_place ? "" : " +N/A +N/A +N/A +N/A\n";
    EXPECT_THAT(text.out, testing::ContainsRegex(std::to_string(c.bytes) + " +" +
                                                 std::to_string(c.count) + " +float +" + c.columns +
                                                 " +[0-9.]+ +[0-9.]+ +[0-9.]+ +N/A" + na));
    words.insert(words.end(), {"--format", "json"});
    const Outcome json = run_tutti(words);
    ASSERT_EQ(json.status, 0) << c.collective << json.err;
    const core::Value document = test::parse_or_throw(json.out, "out");
    const std::vector<Data> rows = Data(document)["rows"].items();
    ASSERT_EQ(rows.size(), 4u);
    for (const char* half : {"out_of_place", "in_place"}) {
      if (half == std::string("in_place") && !c.in_place) continue;
      const Data time = rows.back()[half];
      EXPECT_NEAR(time["busbw_gb_per_s"].real() / time["algbw_gb_per_s"].real(), c.busbw, 1e-9)
          << c.collective;
    }
  }
}

TEST(Perf, RunsEveryCollectiveForRealAndComparesIt) {
  const TemporaryFolder folder;
  for (const OfNcclTests& c : kOfNcclTests) {
    const std::string file = folder.write("s.textproto", eight_hosts(c.algorithm));
    std::vector<std::string> words{
        "perf", file,   "--backend", "tcp", "--collective", c.collective, "-b",          "1000",
        "-e",   "1000", "-n",        "20",  "-w",           "0",          "--transport", "shm"};
    if (std::string(c.columns).ends_with('5')) words.insert(words.end(), {"-r", "5"});
    const Outcome ran = run_tutti(words);
    ASSERT_EQ(ran.status, 0) << c.collective << ran.err;
    EXPECT_THAT(ran.out,
                testing::ContainsRegex(c.in_place ? " 0 .* 0\n# Out of bounds values : 0 OK"
                                                  : " 0 +N/A +N/A +N/A +N/A\n# Out of bounds"));
  }
}

TEST(Perf, MeasuresTheSelectedHalves) {
  const auto table = [](const char* place) {
    return run_tutti(
               {"perf", scenario("02_eight_hosts_ring"), "-b", "1K", "-e", "1K", "--place", place})
        .out;
  };
  EXPECT_THAT(table("both"), AllOf(HasSubstr("out-of-place"), HasSubstr(" in-place")));
  EXPECT_THAT(table("in"), AllOf(testing::Not(HasSubstr("out-of-place")), HasSubstr(" in-place")));
  EXPECT_THAT(table("out"), AllOf(HasSubstr("out-of-place"), testing::Not(HasSubstr(" in-place"))));
}

TEST(Perf, TimesOneCollectiveWithoutTheOtherCommunicationOfTheScenario) {
  const TemporaryFolder folder;
  const std::string plain =
      "cluster { workers { machine: \"dgx-a100\" count: 2 } network { kind: ONE_SWITCH latency_us: "
      "2 } }"
      "workload { variable { name: \"a\" shape: 7 } }";
  const std::string more =
      plain +
      "strategy { algorithm: \"ring\" pad_packs: true compression { type: FLOAT16 } } communicator "
      "{ name: \"t\" size: 8 splits_model: true exchange { bytes: 100000 per_backward: 2 } }";
  const auto rows = [&](const std::string& name, const std::string& text) {
    const Outcome o =
        run_tutti({"perf", folder.write(name, text), "-b", "1K", "-e", "64K", "-f", "8"});
    EXPECT_EQ(o.status, 0) << o.err;
    std::string lines_of_table;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line[0] != '#') lines_of_table += line + "\n";
    }
    return std::pair(lines_of_table, o.out);
  };
  const auto [alone, said] = rows("plain.textproto", plain + "strategy { algorithm: \"ring\" }");
  const auto [same, also] = rows("more.textproto", more);
  EXPECT_EQ(alone, same);
  EXPECT_THAT(alone, Not(IsEmpty()));
  EXPECT_THAT(said, Not(HasSubstr("pad_packs")));
  EXPECT_THAT(also, HasSubstr("communicators, compression, pad_packs"));
}

TEST(Perf, NotesOfTheRunAreInTextAndJson) {
  for (const char* format : {"text", "json"}) {
    const Outcome o = run_tutti({"perf", scenario("02_eight_hosts_ring"), "--backend", "tcp", "-b",
                                 "1K", "-e", "2K", "-n", "1", "--format", format});
    ASSERT_EQ(o.status, 0) << o.err;
    const std::string note =
        "every element is correct in one iteration before and in one iteration after the timed "
        "iterations";
    const std::size_t first = o.out.find(note);
    ASSERT_NE(first, std::string::npos) << o.out;
    EXPECT_EQ(o.out.find(note, first + 1), std::string::npos) << "once";
  }
}

TEST(Perf, ErrorsHaveNoPositionsOfGeneratedText) {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "one_line.textproto",
      "cluster { workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH latency_us: "
      "1 } } "
      "workload { variable { name: \"a\" shape: 10 } } strategy { algorithm: \"ring\" }");
  test::expect_refused({"perf", file, "--collective", "alltoall"}, folder,
                       {ProblemCode::kConflict, "Strategy.algorithm", 0, 0, file});
}

TEST(Perf, IterationsOfNcclTestsDoNotChangeAPrediction) {
  const std::vector<std::string> sizes = {"-b", "1K", "-e", "4K", "-f", "2"};
  for (const std::vector<std::string>& predict : std::vector<std::vector<std::string>>{
           {"perf", scenario("01_two_ranks")},
           {"perf", scenario("01_two_ranks"), "--format", "json"},
           {"perf", scenario("01_two_ranks"), "--algorithms", "ring,nccl", "--format", "csv"},
           {"perf", "--cluster", "hgx-h100", "--nodes", "1", "--format", "json"}}) {
    const std::vector<std::string> without = test::with(predict, sizes);
    const Outcome plain = run_tutti(without);
    const Outcome pasted = run_tutti(test::with(without, {"-n", "50", "-w", "10"}));
    ASSERT_EQ(pasted.status, 0) << pasted.err;
    EXPECT_EQ(pasted.out, plain.out);
    EXPECT_THAT(plain.err, Not(HasSubstr("-n and -w")));
    EXPECT_THAT(pasted.err, HasSubstr("-n and -w do not change a prediction"));
  }
}

TEST(Perf, RefusesInvalidSizes) {
  using Words = std::vector<std::string>;
  const TemporaryFolder folder;
  for (const auto& [bad, code, option] : std::vector<std::tuple<Words, ProblemCode, std::string>>{
           {{"-b", "x"}, ProblemCode::kSyntax, "-b"},
           {{"-b", "8", "-e", "4"}, ProblemCode::kConflict, "-b"},
           {{"-e", "1T"}, ProblemCode::kSyntax, "-e"},
           {{"-f", "1"}, ProblemCode::kTooSmall, "-f"},
           {{"--backend", "nccl"}, ProblemCode::kConflict, "--backend"},
           {{"-n", "0"}, ProblemCode::kTooSmall, "-n"},
           {{"-z", "1"}, ProblemCode::kUnsupported, "-z"},
           {{"-c", "-1"}, ProblemCode::kTooSmall, "-c"},
           {{"--backend", "tcp", "-c", "0"}, ProblemCode::kTooSmall, "-c"},
           {{"--transport", "shm"}, ProblemCode::kUnused, "--transport"},
           {{"--backend", "tcp", "--transport", "x"}, ProblemCode::kUnknownName, "--transport"},
           {{"--backend", "tcp", "-n", "0"}, ProblemCode::kTooSmall, "-n"},
           {{"--listen", "127.0.0.1:4711"}, ProblemCode::kUnused, "--listen"},
           {{"--launcher", "none"}, ProblemCode::kUnused, "--launcher"},
           {{"--rendezvous", "/tmp"}, ProblemCode::kUnused, "--rendezvous"},
           {{"--secret-file", "/dev/null"}, ProblemCode::kUnused, "--secret-file"},
           {{"--wait-seconds", "1"}, ProblemCode::kUnused, "--wait-seconds"},
           {{"--timeout-seconds", "1"}, ProblemCode::kUnused, "--timeout-seconds"},
           {{"--backend", "tcp", "--timeout-seconds", "0"},
            ProblemCode::kTooSmall,
            "--timeout-seconds"},
           {{"--op", "mean"}, ProblemCode::kUnknownName, "--op"},
           {{"--type", "f"}, ProblemCode::kUnknownName, "--type"},
           {{"--collective", "allreduce"}, ProblemCode::kUnknownName, "--collective"},
           {{"--collective", "all_gather", "-o", "max"}, ProblemCode::kUnused, "-o"},
           {{"--collective", "all_gather", "-b", "1", "-e", "31"}, ProblemCode::kTooSmall, "-e"},
           {{"--collective", "sendrecv", "--place", "in"}, ProblemCode::kConflict, "--place"},
           {{"--collective", "broadcast", "-r", "2"}, ProblemCode::kConflict, "Strategy.root"},
           {{"--collective", "broadcast", "-r", "-1"}, ProblemCode::kTooSmall, "Strategy.root"},
           {{"-r", "0"}, ProblemCode::kUnused, "-r"},
           {{"--place", "elsewhere"}, ProblemCode::kUnknownName, "--place"}}) {
    Words arguments{"perf", scenario("01_two_ranks")};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    test::expect_refused(arguments, folder, {code, option});
  }
}

}  // namespace
}  // namespace tutti
