// The commands about algorithms, for built-in algorithms and those of users: tutti perf
// --algorithms, tutti explain --algorithm and tutti export --to mscclpp.

#include <fstream>
#include <sstream>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

constexpr const char* kFour = R"(
cluster { workers { machine: "dgx-a100" count: 2 } network { kind: RAILS latency_us: 2 } }
workload { variable { name: "buffer" shape: 65536 } update_ms: 0 }
strategy { algorithm: "ring" staging: DIRECT }
run { steps: 1 }
)";

double time_alone(const std::string& file, const std::vector<std::string>& set,
                  const std::string& bytes) {
  const Outcome o = run_tutti(test::with(
      {"perf", file, "-b", bytes, "-e", bytes, "--place", "in", "--format", "json"}, set));
  EXPECT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  return Data(document)["rows"].items().front()["in_place"]["time_us"].real();
}

TEST(PerfAlgorithms, TimesMatchThoseOfEachAlgorithmAlone) {
  const std::string file = scenario("02_eight_hosts_ring");
  const Outcome o =
      run_tutti({"perf", file, "--algorithms", "ring,recursive_doubling,swing", "-b", "1K", "-e",
                 "64M", "-f", "256", "--place", "in", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const std::vector<Data> rows = Data(document)["rows"].items();
  ASSERT_EQ(rows.size(), 3u);
  for (const Data& row : rows) {
    const std::string bytes = std::to_string(row["bytes"].number());
    EXPECT_EQ(row["time_us"]["ring"].real(), time_alone(file, {}, bytes));
    EXPECT_EQ(
        row["time_us"]["swing"].real(),
        time_alone(file, {"--set", "strategy.algorithm=", "--set", "strategy.custom.file=swing"},
                   bytes));
    for (const char* name : {"ring", "recursive_doubling", "swing"})
      EXPECT_LE(row["lower_bound_us"].real(), row["time_us"][name].real());
  }
  EXPECT_NE(rows.front()["fastest"].text(), "ring") << "many latencies";
  const std::vector<Data> crossings = Data(document)["crossings"].items();
  ASSERT_FALSE(crossings.empty());
  for (const Data& one : crossings) {
    EXPECT_LE(one["above_bytes"].number(), one["about_bytes"].number());
    EXPECT_LE(one["about_bytes"].number(), one["at_most_bytes"].number());
  }
}

TEST(PerfAlgorithms, ParametersBelongToOneAlgorithm) {
  const TemporaryFolder folder;
  std::string text = kFour;
  text.replace(text.find("algorithm: \"ring\""), 17,
               "custom { file: \"double_binary_tree\" set: \"slices=2\" }");
  const std::string file = folder.write("s.textproto", text);
  const Outcome o = run_tutti({"perf", file, "--algorithms",
                               "torus_2d,double_binary_tree,double_binary_tree:slices=16", "-b",
                               "1M", "-e", "1M", "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data times = Data(document)["rows"].items().front()["time_us"];
  EXPECT_NE(times["double_binary_tree:slices=16"].real(), times["double_binary_tree"].real());
  test::expect_refused({"perf", file, "--algorithms", "torus_2d:slices=8"}, folder,
                       HasSubstr("no parameter \"slices\""));
}

constexpr const char* kTrees = R"(<Algo nchunkspernode="1">
<tree root="0" nchunks="1"><send src="0" dst="1"/></tree>
<tree root="1" nchunks="1"><send src="1" dst="0"/></tree>
</Algo>
)";
constexpr const char* kTwoGpus = R"(
cluster { workers { machine: "dgx-a100" count: 1 replicas: 2 } }
workload { variable { name: "buffer" shape: 262144 } update_ms: 0 }
strategy { collective: ALL_GATHER custom { file: "trees.xml" } }
run { steps: 1 }
)";

TEST(PerfAlgorithms, ForestCollTreesTakeTheTimeOfASimulation) {
  const TemporaryFolder folder;
  static_cast<void>(folder.write("trees.xml", kTrees));
  const std::string file = folder.write("s.textproto", kTwoGpus);
  for (const auto& [option, field] : {std::pair{"all_gather", "ALL_GATHER"},
                                      {"reduce_scatter", "REDUCE_SCATTER"},
                                      {"all_reduce", "ALL_REDUCE"}}) {
    const std::string set = std::string("strategy.collective=") + field;
    const Outcome one = run_tutti({"simulate", file, "--set", set, "--format", "json"});
    ASSERT_EQ(one.status, 0) << one.err;
    const core::Value simulated = test::parse_or_throw(one.out, "out");
    const double expected = Data(simulated)["step_time_us"].real();
    const std::vector<std::string> sizes{"-b", "1M", "-e", "1M", "--format", "json"};
    for (const auto& collective : {std::vector<std::string>{"--set", set},
                                   std::vector<std::string>{"--collective", option}}) {
      const Outcome o = run_tutti(test::with(
          test::with({"perf", file, "--algorithms", "ring,trees.xml"}, collective), sizes));
      ASSERT_EQ(o.status, 0) << o.err;
      const core::Value document = test::parse_or_throw(o.out, "out");
      const Data row = Data(document)["rows"].items().front();
      EXPECT_EQ(row["time_us"]["trees.xml"].real(), expected) << option;
      EXPECT_LE(row["lower_bound_us"].real(), expected) << option;
    }
    const Outcome alone =
        run_tutti(test::with({"perf", file, "--collective", option, "--place", "in"}, sizes));
    ASSERT_EQ(alone.status, 0) << alone.err;
    const core::Value document = test::parse_or_throw(alone.out, "out");
    EXPECT_EQ(Data(document)["rows"].items().front()["in_place"]["time_us"].real(), expected);
  }
  test::expect_refused({"perf", file, "--algorithms", "trees.xml", "--collective", "broadcast"},
                       folder, HasSubstr("describes all_gather"));
}

TEST(PerfAlgorithms, ErrorsNameTheAlgorithmAsWritten) {
  const TemporaryFolder folder;
  static_cast<void>(folder.write("trees.xml", kTrees));
  const std::string file = folder.write("s.textproto", kTwoGpus);
  const auto refused = [&](const std::string& algorithm, const std::string& why) {
    expect_refused({"perf", file, "--algorithms", algorithm}, folder, HasSubstr(why));
  };
  refused("ring:slices=3",
          "--algorithms: \"ring:slices=3\": the built-in algorithm ring has no parameters; to");
  refused("ring:slices=3", "/ring.tutti-algorithm:slices=3");
  refused("nccl:x=1",
          "--algorithms: \"nccl:x=1\": the built-in algorithm nccl has no parameters\n");
  refused("trees.xml:pieces=x", "--algorithms: \"trees.xml:pieces=x\": custom: set: \"pieces=x\"");
  refused("trees.xml:pieces=2:foo=3",
          "--algorithms: \"trees.xml:pieces=2:foo=3\": custom: set: the "
          "algorithm has no parameter \"foo\"");
  refused("trees.xml:pieces=0", "pieces must be at least 1");
  refused("none", "--algorithms: \"none\": there is no algorithm");
}

TEST(PerfAlgorithms, NarrowTerminalsShowTheFastest) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const Outcome o =
      run_tutti({"perf", file, "--algorithms", "ring,recursive_doubling,halving_doubling,torus_2d",
                 "-b", "64K", "-e", "64K"},
                {.environment = {{"COLUMNS", "60"}}});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("fastest"), HasSubstr("of bound"), HasSubstr("also show")));
}

TEST(PerfAlgorithms, PrintsTextAndTable) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const std::vector<std::string> words{"perf", file,  "--algorithms", "ring,torus_2d",
                                       "-b",   "64K", "-e",           "64K"};
  const Outcome text = run_tutti(words);
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("lower bound"), HasSubstr("torus_2d"),
                              HasSubstr("is the fastest algorithm for all sizes")));
  const Outcome csv = run_tutti(test::with(words, {"--format", "csv"}));
  ASSERT_EQ(csv.status, 0) << csv.err;
  EXPECT_THAT(csv.out, StartsWith("bytes,lower_bound_us,\"ring_us\",\"torus_2d_us\",fastest\n"));
}

TEST(PerfAlgorithms, RefusesAlgorithmsThatCannotBeCompared) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const auto refused = [&](const std::vector<std::string>& more, core::ProblemCode code,
                           const std::string& option) {
    expect_refused(test::with({"perf", file}, more), folder, {.code = code, .field = option});
  };
  refused({"--algorithms", "ring,ring"}, ProblemCode::kDuplicate, "--algorithms");
  refused({"--algorithms", "ring,bruck"}, ProblemCode::kConflict, "--algorithms");
  refused({"--algorithms", "ring", "--backend", "mpi"}, ProblemCode::kUnknownName, "--backend");
}

TEST(PerfAlgorithms, RealRunsCompareAlgorithms) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", R"(
cluster { workers { machine: "cpu-host" count: 4 } network { kind: ONE_SWITCH latency_us: 2 } }
workload { variable { name: "buffer" shape: 65536 } update_ms: 0 }
strategy { algorithm: "ring" }
run { steps: 1 }
)");
  for (const char* transport : {"tcp", "shm"}) {
    const Outcome o =
        run_tutti({"perf",      file,  "--algorithms", "ring,recursive_doubling,swing",
                   "--backend", "tcp", "--transport",  transport,
                   "-b",        "4K",  "-e",           "64K",
                   "-f",        "16",  "-n",           "2",
                   "-w",        "1",   "--format",     "json"});
    ASSERT_EQ(o.status, 0) << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    EXPECT_EQ(Data(document)["backend"].text(), "tcp");
    EXPECT_EQ(Data(document)["transport"].text(), transport);
    const std::vector<Data> rows = Data(document)["rows"].items();
    ASSERT_EQ(rows.size(), 2u);
    for (const Data& row : rows) {
      EXPECT_FALSE(row.has("lower_bound_us")) << "the bound of the scenario's links is of no use";
      for (const char* name : {"ring", "recursive_doubling", "swing"})
        EXPECT_GT(row["time_us"][name].real(), 0) << name;
      EXPECT_LE(row["time_us"][row["fastest"].text()].real(), row["time_us"]["ring"].real());
    }
  }
  const Outcome text = run_tutti({"perf", file, "--algorithms", "ring,swing", "--backend", "tcp",
                                  "-b", "4K", "-e", "4K", "-n", "1", "-w", "0"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("run over tcp"), Not(HasSubstr("lower bound"))));
  const Outcome wrong = run_tutti({"perf", file, "--algorithms", "wrong_ring", "--backend", "tcp",
                                   "-b", "4K", "-e", "4K", "-n", "1", "-w", "0"});
  EXPECT_EQ(wrong.status, 2) << wrong.out;
  EXPECT_THAT(wrong.err, HasSubstr("the algorithm is wrong"));
}

TEST(ExplainAlgorithm, HasRoundsLinksAndBounds) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const Outcome o = run_tutti({"explain", "--algorithm", file, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data json(document);
  EXPECT_EQ(json["rounds"].number(), 30) << "a ring of 16";
  EXPECT_EQ(json["min_rounds"].number(), 4);
  EXPECT_EQ(json["messages"].number(), 30 * 16);
  EXPECT_LE(json["lower_bound_us"].real(), json["time_us"].real());
  EXPECT_LE(json["small_lower_bound_us"].real(), json["small_time_us"].real());
  double busiest = 1e300;
  for (const Data& link : json["links"].items()) {
    EXPECT_LE(link["busy_us"].real(), busiest);
    EXPECT_LE(link["busy_us"].real(), json["time_us"].real());
    busiest = link["busy_us"].real();
  }
  double sum = 0;
  for (const Data& loss : json["losses"].items()) sum += loss["time_us"].real();
  EXPECT_NEAR(sum, json["time_us"].real(), 1e-5) << "the parts add up to the whole";
  const Outcome text = run_tutti({"explain", "--algorithm", file});
  EXPECT_THAT(text.out, AllOf(HasSubstr("30 messages in the longest chain"),
                              HasSubstr("where the time goes")));
}

constexpr const char* kSwitches = R"(
cluster { workers { machine: "hgx-h100" count: 1 } }
workload { variable { name: "buffer" shape: 16777216 } update_ms: 0 }
strategy { custom { file: "in_switch" } staging: DIRECT }
run { steps: 1 }
)";

TEST(ExplainAlgorithm, StatesWhatInNetworkReductionWouldChange) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSwitches);
  const std::vector<std::string> words{"explain", "--algorithm", file, "--format", "json"};
  const Outcome with_switches = run_tutti(words);
  ASSERT_EQ(with_switches.status, 0) << with_switches.err;
  const Outcome ring = run_tutti(
      test::with(words, {"--set", "strategy.custom=", "--set", "strategy.algorithm=ring"}));
  ASSERT_EQ(ring.status, 0) << ring.err;
  const core::Value a = test::parse_or_throw(with_switches.out, "out");
  const core::Value b = test::parse_or_throw(ring.out, "out");
  EXPECT_EQ(Data(a)["sums_in_switches"].value().text, "true");
  EXPECT_EQ(Data(b)["sums_in_switches"].value().text, "false");
  EXPECT_EQ(Data(b)["multicasts_in_switches"].value().text, "false");
  EXPECT_EQ(Data(a)["min_rounds"].number(), 1) << "one multicast reaches all";
  EXPECT_EQ(Data(a)["rounds"].number(), 3) << "a signal, a sum and a multicast";
  for (const core::Value* document : {&a, &b}) {
    const Data json(*document);
    EXPECT_LT(json["lower_bound_us"].real(), json["message_bound_us"].real());
    EXPECT_GE(json["rounds"].number(), json["min_rounds"].number());
    double sum = 0;
    for (const Data& loss : json["losses"].items()) sum += loss["time_us"].real();
    EXPECT_NEAR(sum, json["time_us"].real(), 1e-5);
  }
  EXPECT_THAT(with_switches.out, Not(HasSubstr("the switches could reduce and multicast")));
  EXPECT_THAT(ring.out, HasSubstr("the switches could reduce and multicast"));
  EXPECT_GE(Data(b)["time_us"].real(), Data(b)["message_bound_us"].real());
  const Outcome text = run_tutti({"explain", "--algorithm", file, "--set",
                                  "strategy.custom=", "--set", "strategy.algorithm=ring"});
  EXPECT_THAT(text.out, HasSubstr("the switches could reduce and multicast"));
}

/// GPUs exchange messages to reduce one chunk each, and switches multicast the sums.
constexpr const char* kMulticastOnly = R"(algorithm multicast_only
collective all_reduce
symmetry shift
chunks gpus

let first = node * gpus

lane main {
  for k from 1 to gpus - 1 {
    send data[(gpu + k) % gpus] to first + (gpu + k) % gpus lane sum
  }
  wait for lane sum
  multicast data[gpu] to first count gpus lane shard[gpu]
}

lane sum {
  for k from 1 to gpus - 1 {
    reduce data[gpu] from first + (gpu + gpus - k) % gpus lane main
  }
}

lane shard for g from 0 to gpus - 1 {
  if g != gpu {
    receive data[g] from first + g lane main
  }
}
)";

TEST(ExplainAlgorithm, CountsMulticastsOfSwitchesSeparatelyFromMessages) {
  const TemporaryFolder folder;
  const std::string algorithm = folder.write("multicast_only.tutti-algorithm", kMulticastOnly);
  const std::string file = folder.write("s.textproto", kSwitches);
  const std::vector<std::string> words{"explain", "--algorithm", file, "--set",
                                       "strategy.custom.file=" + algorithm};
  const Outcome json = run_tutti(test::with(words, {"--format", "json"}));
  ASSERT_EQ(json.status, 0) << json.err;
  const core::Value document = test::parse_or_throw(json.out, "out");
  EXPECT_EQ(Data(document)["sums_in_switches"].value().text, "false");
  EXPECT_EQ(Data(document)["multicasts_in_switches"].value().text, "true");
  const Outcome text = run_tutti(words);
  EXPECT_THAT(text.out, HasSubstr("lets switches multicast, but not reduce"));
  EXPECT_THAT(text.out, Not(HasSubstr("the algorithm only sends messages")));
}

TEST(ExplainAlgorithm, ReportsWrongAlgorithms) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const Outcome o = run_tutti({"explain", "--algorithm", file, "--set",
                               "strategy.algorithm=", "--set", "strategy.custom.file=wrong_ring"});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("the algorithm is wrong for 16 ranks"));
}

TEST(SimulateUnproved, RecordsAWrongAlgorithmForTheWindow) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const std::string timeline = folder.file("wrong.tutti");
  const std::vector<std::string> words{
      "simulate", file, "--set", "strategy.algorithm=", "--set", "strategy.custom.file=wrong_ring"};
  EXPECT_EQ(run_tutti(words).status, 2) << "wrong algorithms are refused by default";
  const Outcome o = run_tutti(test::with(words, {"--unproved", "--timeline", timeline}));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("the algorithm is wrong for 16 ranks"));
  EXPECT_EQ(run_tutti({"export", timeline, "--to", "csv", "-o", folder.file("w.csv")}).status, 0);
  test::expect_refused({"simulate", file, "--unproved"}, folder, HasSubstr("--unproved"));
}

TEST(ExportMscclPp, IsReadAgainAndTakesTheSameTime) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kFour);
  const std::string plan = folder.file("ring.json");
  const Outcome o = run_tutti({"export", file, "--to", "mscclpp", "-o", plan});
  ASSERT_EQ(o.status, 0) << o.err;
  const std::vector<std::string> set{"--set", "strategy.algorithm=", "--set",
                                     "strategy.custom.file=" + plan};
  const Outcome check = run_tutti(test::with({"plan", "--check", file}, set));
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_EQ(time_alone(file, set, "256K"), time_alone(file, {}, "256K"));
}

}  // namespace
}  // namespace tutti
