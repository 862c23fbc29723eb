#include "core/edit/overrides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/library_folder.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::at;
using test::FailsWith;
using test::Mistake;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

const char* const kText = R"(# a remark
cluster {
  workers { machine: "dgx1-v100" count: 2 }  # two
  network { kind: ONE_SWITCH latency_us: 2 }
}
workload { variable { name: "w" shape: 1000000 } forward_ms: 1 backward_ms: 2 }
strategy { algorithm: "ring" bytes_per_pack: 1000 }
)";

const Library& library() {
  static const Library shipped(library_folder());
  return shipped;
}

Expected<Scenario> read_with(const std::vector<std::string>& written,
                             const std::string& text = kText) {
  std::vector<Override> overrides;
  for (const std::string& one : written) {
    auto parsed = parse_override("--set", one);
    if (!parsed) return tl::make_unexpected(parsed.error());
    overrides.push_back(std::move(*parsed));
  }
  return read_scenario(text, "mine.textproto", library(), overrides);
}

std::vector<std::string> error_of(const std::vector<std::string>& written,
                                  const std::string& text = kText) {
  return test::kinds_of(read_with(written, text));
}

TEST(Overrides, ChangeAddAndRemoveFields) {
  const auto scenario = read_with({"cluster.workers.count=4", "strategy.shards=2", "run.steps=7",
                                   "strategy.bytes_per_pack=", "strategy.algorithm=psgpu"});
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->cluster->workers(), 4);
  EXPECT_EQ(scenario->strategy.shards, 2);
  EXPECT_EQ(scenario->strategy.algorithm, BaseAlgorithm::kPsgpu);
  EXPECT_FALSE(scenario->strategy.bytes_per_pack);
  EXPECT_EQ(scenario->run.steps, 7);
  EXPECT_THAT(scenario->text, HasSubstr("# a remark"))
      << "the text is what a run sends to its workers";
  EXPECT_TRUE(read_scenario(scenario->text, "again", library()));
}

TEST(Overrides, AddAndRemoveMessages) {
  const auto mirrored =
      read_with({"cluster.workers.count=1", "cluster.network=", "strategy.mirrored={}",
                 "strategy.algorithm=", "strategy.bytes_per_pack="});
  ASSERT_TRUE(mirrored) << mirrored.error().message();
  EXPECT_TRUE(mirrored->strategy.distribution_name.starts_with("MirroredStrategy"));
  const auto gone =
      read_with({"strategy.mirrored={}", "strategy.mirrored=", "strategy.algorithm=ring"});
  ASSERT_TRUE(gone) << gone.error().message();
  EXPECT_EQ(gone->strategy.algorithm, BaseAlgorithm::kRing);
  const auto kept = read_with({"cluster.workers.count=4", "cluster.workers={}"});
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(kept->cluster->workers(), 4) << "existing text is not changed";
  EXPECT_THAT(error_of({"cluster.workers[7]={}"}), ElementsAre("unknown-field cluster.workers[7]"));
}

TEST(Overrides, TheLastOverrideOfAFieldWins) {
  EXPECT_EQ(read_with({"strategy.shards=2", "strategy.shards=4"})->strategy.shards, 4);
}

TEST(Overrides, SetElementsByIndexAndAppendTheNextOne) {
  const auto scenario = read_with({"cluster.workers[1].machine=dgx1-v100",
                                   "cluster.workers[1].count=3", "cluster.workers[0].count=1"});
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->cluster->workers(), 4);
  EXPECT_THAT(error_of({"cluster.workers[3].count=1"}),
              ElementsAre("unknown-field cluster.workers[3].count"));
}

TEST(Overrides, WorkOnJsonToo) {
  const std::string json = R"({"cluster": {"workers": [{"machine": "dgx1-v100"}]},
    "workload": {"variable": [{"name": "w", "shape": [10]}], "forwardMs": 1, "backwardMs": 1},
    "strategy": {"algorithm": "ring"}})";
  EXPECT_EQ(read_with({"workload.variable.shape=1000"}, json)->plan.bytes(), Bytes(4000));
  EXPECT_THAT(read_with({"strategy.shards=many"}, json),
              FailsWith(Mistake{ProblemCode::kWrongType, "Strategy.shards"}));
}

TEST(Overrides, ErrorsNameTheOverride) {
  EXPECT_THAT(error_of({"strategy.shards"}), ElementsAre("syntax --set"));
  EXPECT_THAT(error_of({"=4"}), ElementsAre("syntax --set"));
  EXPECT_THAT(error_of({"strategy.shads=4"}), ElementsAre("unknown-field --set"));
  EXPECT_THAT(error_of({"strategy.shards.many=4"}), ElementsAre("wrong-type --set"));
  EXPECT_THAT(error_of({"strategy=ring"}), ElementsAre("wrong-type --set"));
  EXPECT_THAT(error_of({"strategy.shards[2]=4"}), ElementsAre("wrong-type --set"));
  for (const char* index : {"cluster.workers[].count=1", "cluster.workers[x].count=1",
                            "cluster.workers[-1].count=1", "cluster.workers[1.count=1"})
    EXPECT_THAT(error_of({index}), ElementsAre("syntax --set")) << index;
  // A field without its message: the message names the shortest path.
  EXPECT_THAT(parse_override("--set", "shards=4").error().message(),
              EndsWith("; did you mean strategy.shards?"));
  // Problems of overrides have no place in the file. Each starts with the text of the override.
  const auto of_override = [](const std::string& written, ProblemCode code,
                              const std::string& field) {
    const auto read = read_with({written});
    EXPECT_THAT(read, FailsWith(Mistake{code, field})) << written;
    EXPECT_EQ(read.error().problems().front().text.find("--set " + written + ": "), 0U) << written;
  };
  of_override("strategy.algorithm=rign", ProblemCode::kUnknownName, "Strategy.algorithm");
  of_override("strategy.shards=0", ProblemCode::kTooSmall, "Strategy.shards");
  of_override("strategy.reduction=NONE", ProblemCode::kUnknownName, "Strategy.reduction");
}

TEST(Overrides, OtherErrorsKeepTheirPositionsInTheFile) {
  std::string text = kText;
  text.replace(text.find("backward_ms: 2"), 14, "backward_ms: -");
  EXPECT_THAT(read_with({}, text),
              FailsWith(at(text, "backward_ms: - ^}", ProblemCode::kSyntax, "")));
  text = kText;
  text.replace(text.find("bytes_per_pack: 1000"), 20, "bytes_per_pack: -1  ");
  Mistake one = at(text, "bytes_per_pack: ^-1", ProblemCode::kTooSmall, "Strategy.bytes_per_pack");
  one.file = "mine.textproto";
  EXPECT_THAT(read_with({}, text), FailsWith(one));
  EXPECT_THAT(read_with({"cluster.workers.count=123456", "run.steps=12"}, text), FailsWith(one))
      << "the first override makes a line longer";
}

TEST(Overrides, ReportErrorsOfTheText) {
  const std::string broken = "cluster { workers {";
  EXPECT_EQ(read_with({"run.steps=1"}, broken).error().message(),
            read_with({}, broken).error().message());
}

TEST(Overrides, TfConfigSetsTheNumberOfWorkers) {
  const auto config = read_tf_config(
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}})", "TF_CONFIG");
  ASSERT_TRUE(config);
  const auto scenario = read_scenario(kText, "mine", library(), workers_of(config->cluster, kText));
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->cluster->workers(), 3);
  EXPECT_TRUE(check_workers(config->cluster, *scenario));
  const auto as_written = read_scenario(kText, "mine", library());
  EXPECT_THAT(test::kinds_of(check_workers(config->cluster, *as_written)),
              ElementsAre("conflict Workers.count"));
  const auto served =
      read_with({"cluster.workers[1].machine=cpu-host", "cluster.workers[1].count=3",
                 "cluster.workers[1].server=true", "strategy.parameter_server={}",
                 "strategy.algorithm=", "strategy.bytes_per_pack="});
  ASSERT_TRUE(served) << served.error().message();
  const auto by_config =
      read_scenario(served->text, "mine", library(), workers_of(config->cluster, served->text));
  ASSERT_TRUE(by_config) << by_config.error().message();
  EXPECT_EQ(by_config->cluster->workers(), 3 + 1);
  EXPECT_EQ(by_config->cluster->servers(), 1);
  EXPECT_TRUE(check_workers(config->cluster, *by_config));
  const auto mixed = read_with({"cluster.workers[1].machine=dgx1-v100"});
  EXPECT_TRUE(workers_of(config->cluster, mixed->text).empty())
      << "with several groups of workers, the count is ambiguous";
}

}  // namespace
}  // namespace tutti::core
