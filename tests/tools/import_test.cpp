// Changes scenarios with options of the command line, and imports TensorFlow's TF_CONFIG.

#include <map>

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

const char* const kThree =
    R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]},
                               "task": {"type": "worker", "index": 1}})";

/// Returns the cluster that a command simulates or plans.
std::string cluster_of(std::vector<std::string> words,
                       const std::map<std::string, std::string>& environment = {}) {
  words.insert(words.end(), {"--format", "json"});
  const Outcome o = run_tutti(words, {.environment = environment});
  EXPECT_EQ(o.status, 0) << o.err;
  return Data(test::parse_or_throw(o.out, "out"))["cluster"].text();
}

TEST(Set, ChangesTheScenarioOfEveryCommand) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  const std::vector<std::string> changed{"--set", "cluster.workers.replicas=4", "--set",
                                         "strategy.algorithm=psgpu"};
  for (std::vector<std::string> words :
       {std::vector<std::string>{"simulate", file}, {"plan", file}, {"perf", file, "-e", "8"}}) {
    words.insert(words.end(), changed.begin(), changed.end());
    words.insert(words.end(), {"--format", "json"});
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    const core::Value document = test::parse_or_throw(o.out, "out");
    EXPECT_EQ(Data(document)["cluster"].text(), "1 × dgx1-v100, 4 GPUs") << words.front();
    EXPECT_THAT(Data(document)[words.front() == "plan" ? "algorithm" : "strategy"].text(),
                StartsWith("psgpu"));
  }
}

TEST(Set, IsRefusedByCommandsWithoutAScenario) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kSmall);
  expect_refused({"simulate", file, "--set", "strategy.shads=3"}, folder,
                 {ProblemCode::kUnknownField, "--set"});
  expect_refused({"simulate", file, "--set", "run.steps=0"}, folder,
                 {ProblemCode::kTooSmall, "Run.steps"});
  expect_refused({"simulate", file, "--format", "json", "--set"}, folder,
                 {ProblemCode::kInvalid, "--set"});
}

TEST(TfConfigOption, SetsTheWorkersOfTheCluster) {
  const TemporaryFolder folder;
  std::string text = kSmall;
  text.insert(text.find("cluster {") + 9, " network { kind: ONE_SWITCH latency_us: 2 } ");
  const std::string file = folder.write("s.textproto", text);
  const std::string config = folder.write("tf_config.json", kThree);
  EXPECT_EQ(cluster_of({"simulate", file, "--tf-config", config}), "3 × dgx1-v100, 24 GPUs");
  EXPECT_EQ(cluster_of({"plan", file, "--tf-config", "env"}, {{"TF_CONFIG", kThree}}),
            "3 × dgx1-v100, 24 GPUs");
  expect_refused({"simulate", file, "--tf-config", folder.file("none.json")}, folder,
                 {.code = ProblemCode::kMissing, .file = folder.file("none.json")});
  expect_refused({"simulate", file, "--tf-config", "env"}, folder,
                 {ProblemCode::kMissing, "--tf-config"});
  const std::string servers = folder.write("servers.json", R"({"cluster": {"ps": ["a:1"]}})");
  expect_refused({"simulate", file, "--tf-config", servers}, folder,
                 {.code = ProblemCode::kMissing, .field = "--tf-config", .file = servers});
  const std::string chiefs =
      folder.write("chiefs.json", R"({"cluster": {"chief": ["a:1", "b:1"]}})");
  expect_refused({"simulate", file, "--tf-config", chiefs}, folder,
                 {.code = ProblemCode::kInvalid, .field = "--tf-config", .file = chiefs});
}

TEST(ImportTfConfig, WritesAScenarioThatRuns) {
  const TemporaryFolder folder;
  const std::string config = folder.write("tf_config.json", kThree);
  const Outcome made = run_tutti(
      {"import", "tf-config", config, "--machine", "dgx-a100", "-o", folder.file("s.textproto")});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(cluster_of({"simulate", folder.file("s.textproto")}),
              AllOf(HasSubstr("3 × dgx-a100"), HasSubstr("2 × cpu-host")));
  EXPECT_THAT(folder.read("s.textproto"), HasSubstr("parameter_server {"));
  const std::string master =
      folder.write("master.json", R"({"cluster": {"master": ["m:1"], "worker": ["a:1", "b:1"]}})");
  EXPECT_THAT(run_tutti({"import", "tf-config", master}).err, HasSubstr("1 task of job master "));
  const Outcome without = run_tutti({"import", "tf-config", config, "--algorithm", "ring"});
  EXPECT_THAT(without.err, HasSubstr("2 tasks of job ps "));
  EXPECT_THAT(without.out, AllOf(HasSubstr("algorithm: \"ring\""), Not(HasSubstr("server"))));
  const Outcome from_environment =
      run_tutti({"import", "tf-config"}, {.environment = {{"TF_CONFIG", kThree}}});
  EXPECT_EQ(from_environment.status, 0) << from_environment.err;
  EXPECT_THAT(from_environment.out, HasSubstr("count: 3"));
}

TEST(ImportTfConfig, RefusesInvalidVariables) {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("tf_config.json", R"({"cluster": {"worker": ["a:1", "b"]}})");
  expect_refused({"import", "tf-config", config}, folder, HasSubstr("tf_config.json:1:32: "));
  expect_refused({"import"}, folder, HasSubstr("nccl-topology"));
  expect_refused({"import", "tf-config"}, folder, {ProblemCode::kMissing, "--tf-config"});
}

}  // namespace
}  // namespace tutti
