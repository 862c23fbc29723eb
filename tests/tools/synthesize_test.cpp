// tutti synthesize: the schedules that it finds and writes, and the requests that it rejects.

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(Synthesize, WritesAScheduleThatAScenarioUses) {
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

TEST(Synthesize, BroadcastsFromAnyRoot) {
  const Outcome o = run_tutti({"synthesize", "--cluster", "dgx-a100", "--collective", "broadcast",
                               "--root", "5", "--bytes", "1M", "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST(Synthesize, RefusesWhatItCannotDo) {
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
