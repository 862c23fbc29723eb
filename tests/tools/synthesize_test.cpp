// tutti synthesize: the schedules that it finds and writes, and the requests that it rejects.

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(Synthesize, WritesAScheduleThatAScenarioCanUse) {
  const TemporaryFolder folder;
  const std::string file = folder.file("mine.tutti-algorithm");
  const Outcome o =
      run_tutti({"synthesize", "--cluster", "dgx1-v100", "--gpus", "6", "--collective",
                 "all-gather", "--bytes", "16M", "-o", file, "--format", "json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto document = test::parse_or_throw(o.out, "out");
  const Data found = Data(document);
  const double time = found["schedules"].items().front()["time_us"].real();
  EXPECT_EQ(found["schedules"].items().front()["proved"].text(), "true");
  EXPECT_GE(time, found["bandwidth_bound_us"].real());
  // Without two of its GPUs, the machine has no complete NVLink rings.
  EXPECT_LT(time, 0.8 * found["built_in"].items().front()["time_us"].real());

  const std::string scenario =
      folder.write("s.textproto",
                   "cluster { workers { machine: \"dgx1-v100\" replicas: 6 } }\n"
                   "workload { variable { name: \"b\" shape: 4194300 } update_ms: 0 }\n"
                   "strategy { custom { file: \"mine.tutti-algorithm\" } staging: DIRECT }\n");
  const Outcome proved = run_tutti({"plan", "--check", scenario});
  EXPECT_EQ(proved.status, 0) << proved.out << proved.err;
}

TEST(Synthesize, WritesMscclThatIsReadAgain) {
  const TemporaryFolder folder;
  for (const char* collective : {"all-gather", "reduce-scatter", "all-reduce"}) {
    const std::string file = folder.file(std::string(collective) + ".xml");
    const Outcome o = run_tutti({"synthesize", "--cluster", "dgx1-v100", "--collective", collective,
                                 "--bytes", "4M", "-o", file});
    ASSERT_EQ(o.status, 0) << o.err;
    const std::string scenario =
        folder.write("s.textproto",
                     "cluster { workers { machine: \"dgx1-v100\" } }\n"
                     "workload { variable { name: \"b\" shape: 1048576 } update_ms: 0 }\n"
                     "strategy { custom { file: \"" +
                         std::string(collective) + ".xml\" } staging: DIRECT }\n");
    const Outcome proved = run_tutti({"plan", "--check", scenario});
    EXPECT_EQ(proved.status, 0) << collective << proved.out << proved.err;
  }
}

TEST(Synthesize, TheAlgorithmOfTheScenarioDoesNotMatter) {
  const TemporaryFolder folder;
  const std::string scenario = folder.write(
      "s.textproto",
      "cluster { workers { machine: \"dgx1-v100\" replicas: 4 } }\n"
      "workload { variable { name: \"b\" shape: 4096 } update_ms: 0 }\n"
      "strategy { custom { file: \"double_binary_tree\" set: \"slices=2\" } staging: DIRECT }\n");
  const Outcome o =
      run_tutti({"synthesize", scenario, "--collective", "all-gather", "--bytes", "1M"});
  EXPECT_EQ(o.status, 0) << o.err;
}

constexpr const char* kUnequalRing = R"(
cluster {
  workers { machine: "ring8" }
  machine {
    name: "ring8"
    device { name: "gpu[0-7]" kind: GPU memory_gb_per_s: 1000 }
    switch { name: "plx" kind: PCIE_SWITCH }
    link { from: "gpu[0-7]" to: "plx" kind: PCIE bandwidth_gb_per_s: 2 latency_us: 1 }
    link { from: "gpu[0-3]" to: "gpu[1-4]" kind: NVLINK bandwidth_gb_per_s: 40 latency_us: 1 }
    link { from: "gpu[4-6]" to: "gpu[5-7]" kind: NVLINK bandwidth_gb_per_s: 20 latency_us: 1 }
    link { from: "gpu7" to: "gpu0" kind: NVLINK bandwidth_gb_per_s: 10 latency_us: 1 }
  }
}
)";
constexpr const char* kFatTree = R"(
cluster {
  workers { machine: "host" count: 16 }
  network {
    kind: FAT_TREE latency_us: 2 switch_us: 0.3
    fat_tree { workers_per_leaf: 4 spines: 2 oversubscription: 2 }
    path_choice: DESTINATION
  }
  machine {
    name: "host"
    device { name: "cpu0" kind: CPU memory_gb_per_s: 1000 }
    nic { name: "nic0" bandwidth_gb_per_s: 25 }
    link { from: "cpu0" to: "nic0" kind: PCIE bandwidth_gb_per_s: 32 latency_us: 0 }
  }
}
)";
constexpr const char* kOneBuffer = R"(
workload { variable { name: "buffer" shape: 1048576 } update_ms: 0 }
strategy { algorithm: "ring" staging: DIRECT }
run { steps: 1 }
)";

/// A fabric, and how much less time than the best built-in algorithm the best schedule needs.
struct Fabric {
  std::string name;
  std::string scenario;              ///< the cluster's part of a scenario; empty: `options`
  std::vector<std::string> options;  ///< --cluster …
  double of_built_in = 1;
  std::vector<const char*> collectives{"all-gather", "reduce-scatter", "all-reduce"};
};

class SynthesizeOn : public testing::TestWithParam<Fabric> {};

TEST_P(SynthesizeOn, IsNeverSlowerThanTheBestBuiltInAlgorithm) {
  const Fabric& fabric = GetParam();
  const TemporaryFolder folder;
  std::vector<std::string> words{"synthesize"};
  if (!fabric.scenario.empty())
    words.push_back(folder.write("s.textproto", fabric.scenario + kOneBuffer));
  words = test::with(words, fabric.options);
  for (const char* collective : fabric.collectives) {
    const Outcome o = run_tutti(
        test::with(words, {"--collective", collective, "--bytes", "64M", "--format", "json"}));
    ASSERT_EQ(o.status, 0) << o.err;
    const auto document = test::parse_or_throw(o.out, "out");
    const Data found(document);
    const Data best = found["schedules"].items().front();
    EXPECT_EQ(best["proved"].value().text, "true") << collective;
    // An all-reduce whose halves overlap can be faster than the sum of their bounds.
    if (collective != std::string("all-reduce")) {
      EXPECT_GE(best["time_us"].real(), found["bandwidth_bound_us"].real()) << collective;
    }
    EXPECT_LE(best["time_us"].real(),
              fabric.of_built_in * found["built_in"].items().front()["time_us"].real())
        << collective;
  }
}

std::vector<Fabric> fabrics() {
  std::vector<Fabric> all{
      {"Dgx1", "", {"--cluster", "dgx1-v100"}},
      {"Dgx1WithoutTwoGpus", "", {"--cluster", "dgx1-v100", "--gpus", "6"}, 0.8},
      {"TwoDgxA100", "", {"--cluster", "dgx-a100", "--nodes", "2"}},
      {"RingOfUnequalLinks", kUnequalRing, {}, 0.8},
      {"FatTree", kFatTree, {}}};
#ifndef TUTTI_SANITIZED  // it takes about 20 seconds without sanitizers, and an all-reduce a minute
  all.push_back({"FourHgxH100", "", {"--cluster", "hgx-h100", "--nodes", "4"}, 1, {"all-gather"}});
#endif
  return all;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SynthesizeOn, testing::ValuesIn(fabrics()),
                         [](const auto& i) { return i.param.name; });

TEST(Synthesize, UsesSwitchesThatReduceIfTheBoundIsLower) {
  const TemporaryFolder folder;
  const auto found_with = [&](const std::vector<std::string>& more) {
    const Outcome o = run_tutti(test::with({"synthesize", "--cluster", "hgx-h100", "--collective",
                                            "all-reduce", "--bytes", "64M", "--format", "json"},
                                           more));
    EXPECT_EQ(o.status, 0) << o.err;
    return test::parse_or_throw(o.out, "out");
  };
  const std::string file = folder.file("mine.tutti-algorithm");
  const auto with_switches = found_with({"-o", file});
  const auto without = found_with({"--no-switch-sums"});
  const Data a(with_switches), b(without);
  EXPECT_THAT(a["schedules"].items().front()["schedule"].text(), HasSubstr("sums in switches"));
  EXPECT_LT(a["switch_bound_us"].real(), a["bandwidth_bound_us"].real());
  EXPECT_LT(a["schedules"].items().front()["time_us"].real(), a["bandwidth_bound_us"].real());
  EXPECT_GE(a["schedules"].items().front()["time_us"].real(), a["switch_bound_us"].real());
  for (const Data& one : b["schedules"].items())
    EXPECT_THAT(one["schedule"].text(), Not(HasSubstr("sums in switches")));
  EXPECT_GE(b["schedules"].items().front()["time_us"].real(), b["bandwidth_bound_us"].real());

  const std::string scenario =
      folder.write("s.textproto",
                   "cluster { workers { machine: \"hgx-h100\" } }\n"
                   "workload { variable { name: \"b\" shape: 1048570 } update_ms: 0 }\n"
                   "strategy { custom { file: \"mine.tutti-algorithm\" } staging: DIRECT }\n");
  const Outcome proved = run_tutti({"plan", "--check", scenario});
  EXPECT_EQ(proved.status, 0) << proved.out << proved.err;
}

TEST(Synthesize, StatesWhySwitchesDoNotHelp) {
  const Outcome o = run_tutti({"synthesize", "--cluster", "hgx-h100", "--gpus", "4", "--collective",
                               "all-gather", "--bytes", "1M"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("does not lower the bandwidth bound of all_gather"));
  const TemporaryFolder folder;
  const Outcome xml =
      run_tutti({"synthesize", "--cluster", "hgx-h100", "--gpus", "4", "--collective", "all-reduce",
                 "--bytes", "1M", "-o", folder.file("mine.xml")});
  ASSERT_EQ(xml.status, 0) << xml.err;
  EXPECT_THAT(xml.out, HasSubstr("were left out, because MSCCL's XML does not have them"));
}

TEST(Synthesize, BroadcastsFromAnyRoot) {
  const Outcome o = run_tutti({"synthesize", "--cluster", "dgx-a100", "--collective", "broadcast",
                               "--root", "5", "--bytes", "1M", "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST(Synthesize, RefusesUnsupportedRequests) {
  const TemporaryFolder folder;
  const auto refuses = [&](std::vector<std::string> words, const char* why) {
    words.insert(words.begin(), "synthesize");
    test::expect_refused(words, folder, HasSubstr(why));
  };
  refuses({}, "name a scenario");
  refuses({"--cluster", "dgx1-v100", "--collective", "alltoall"}, "--collective");
  refuses({"--cluster", "dgx1-v100", "--collective", "all-sum"}, "--collective");
  refuses({"--cluster", "dgx1-v100", "--bytes", "many"}, "--bytes");
  refuses({"--cluster", "dgx1-v100", "--gpus", "1"}, "single rank");
  refuses({"--cluster", "dgx1-v100", "--nodes", "125000"}, "1000000 ranks");
  refuses({"--cluster", "dgx1-v100", "--nodes", "0"}, "--nodes");
  refuses({"--cluster", "dgx1-v100", "--root", "1"}, "--root");
  refuses({"--cluster", "dgx1-v100", "--timeout-seconds", "0"}, "--timeout-seconds");
  refuses({"--cluster", "dgx1-v100", "-o", "mine.json"}, "-o");
  refuses({"--cluster", "dgx1-v100", "--collective", "reduce", "-o", "mine.xml"}, "-o");
}

}  // namespace
}  // namespace tutti
