// Scenarios changed on the command line, and made of what TensorFlow's TF_CONFIG says.

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

using test::expect_refused;
using test::kSmall;
using test::Outcome;
using test::run_tutti;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const char* const kThree = R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]},
                               "task": {"type": "worker", "index": 1}})";

TEST(Set, ChangesWhatIsSimulatedPlannedAndMeasured) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::vector<std::string> changed{"--set", "cluster.workers.replicas=4", "--set", "strategy.algorithm=psgpu"};
  for (std::vector<std::string> words :
       {std::vector<std::string>{"simulate", file}, {"plan", file}, {"perf", file, "-e", "8"}}) {
    words.insert(words.end(), changed.begin(), changed.end());
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_THAT(o.out, AllOf(HasSubstr("psgpu"), HasSubstr("4 GPUs")));
  }
}

TEST(Set, IsRefusedWhereItMakesNoSense) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  expect_refused({"simulate", file, "--set", "strategy.shads=3"}, folder, HasSubstr("did you mean \"shards\"?"));
  expect_refused({"simulate", file, "--set", "run.steps=0"}, folder, HasSubstr("--set run.steps=0: "));
  expect_refused({"simulate", file, "--set"}, folder, HasSubstr("--set"));
}

TEST(TfConfigOption, GivesTheClusterItsWorkers) {
  const TemporaryFolder folder;
  std::string text = kSmall;
  text.insert(text.find("cluster {") + 9, " network { kind: ONE_SWITCH latency_us: 2 } ");
  const std::string file = folder.write("s.textproto", text);
  const std::string config = folder.write("tf_config.json", kThree);
  const Outcome from_file = run_tutti({"simulate", file, "--tf-config", config});
  EXPECT_EQ(from_file.status, 0) << from_file.err;
  EXPECT_THAT(from_file.out, HasSubstr("3 × dgx1-v100, 24 GPUs"));
  const Outcome from_environment =
      run_tutti({"plan", file, "--tf-config", "env"}, {.environment = {{"TF_CONFIG", kThree}}});
  EXPECT_EQ(from_environment.status, 0) << from_environment.err;
  EXPECT_THAT(from_environment.out, HasSubstr("3 × dgx1-v100, 24 GPUs"));
  expect_refused({"simulate", file, "--tf-config", folder.file("none.json")}, folder, HasSubstr("none.json"));
  expect_refused({"simulate", file, "--tf-config", "env"}, folder, HasSubstr("TF_CONFIG is not set"));
  const std::string servers = folder.write("servers.json", R"({"cluster": {"ps": ["a:1"]}})");
  expect_refused({"simulate", file, "--tf-config", servers}, folder, HasSubstr("nobody trains"));
  const std::string chiefs = folder.write("chiefs.json", R"({"cluster": {"chief": ["a:1", "b:1"]}})");
  expect_refused({"simulate", file, "--tf-config", chiefs}, folder, HasSubstr("more than one chief"));
}

TEST(ImportTfConfig, WritesAScenarioThatRuns) {
  const TemporaryFolder folder;
  const std::string config = folder.write("tf_config.json", kThree);
  const Outcome made =
      run_tutti({"import", "tf-config", config, "--machine", "dgx-a100", "-o", folder.file("s.textproto")});
  ASSERT_EQ(made.status, 0) << made.err;
  const Outcome simulated = run_tutti({"simulate", folder.file("s.textproto")});
  EXPECT_THAT(simulated.out,
              AllOf(HasSubstr("3 × dgx-a100"), HasSubstr("2 × cpu-host"), HasSubstr("ParameterServerStrategy")));
  const std::string master =
      folder.write("master.json", R"({"cluster": {"master": ["m:1"], "worker": ["a:1", "b:1"]}})");
  EXPECT_THAT(run_tutti({"import", "tf-config", master}).err, HasSubstr("1 of job master has no part"));
  const Outcome without = run_tutti({"import", "tf-config", config, "--algorithm", "ring"});
  EXPECT_THAT(without.err, HasSubstr("2 of job ps have no part"));
  EXPECT_THAT(without.out, AllOf(HasSubstr("algorithm: \"ring\""), Not(HasSubstr("server"))));
  const Outcome from_environment = run_tutti({"import", "tf-config"}, {.environment = {{"TF_CONFIG", kThree}}});
  EXPECT_EQ(from_environment.status, 0) << from_environment.err;
  EXPECT_THAT(from_environment.out, HasSubstr("count: 3"));
}

TEST(ImportTfConfig, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const std::string config = folder.write("tf_config.json", R"({"cluster": {"worker": ["a:1", "b"]}})");
  expect_refused({"import", "tf-config", config}, folder, HasSubstr("tf_config.json:1:32: \"b\" is no \"host:port\""));
  expect_refused({"import"}, folder, HasSubstr("say what to do"));
  expect_refused({"import", "tf-config"}, folder, HasSubstr("TF_CONFIG is not set"));
}

}  // namespace
}  // namespace tutti
