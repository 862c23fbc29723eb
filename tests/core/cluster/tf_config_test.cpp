#include "core/cluster/tf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::Optional;

TfConfig good(const std::string& text) {
  const auto config = read_tf_config(text, "TF_CONFIG");
  EXPECT_TRUE(config) << config.error().message();
  return config.value_or(TfConfig());
}

ClusterSpec cluster_of(const std::string& jobs) {
  return good(R"({"cluster": )" + jobs + "}").cluster;
}

const char* const kAll =
    R"({"chief": ["a:1"], "worker": ["b:2", "c:3"], "ps": ["d:4", "e:5"], "evaluator": ["f:6"]})";

TEST(TfConfig, MayBeEmpty) {
  const TfConfig config = good("{}");
  EXPECT_TRUE(config.cluster.empty());
  EXPECT_FALSE(config.task());
  EXPECT_EQ(session_master(config, config.task()), "");
}

TEST(TfConfig, TasksAreAListOrAMapOfIndicesToAddresses) {
  const ClusterSpec cluster =
      cluster_of(R"({"sparse": {"3": "s3:2222", "0": "s0:2222"}, "worker": ["w:1"]})");
  EXPECT_EQ(cluster.tasks("sparse"), 2);
  EXPECT_EQ(cluster.address("sparse", 3), "s3:2222");
  EXPECT_FALSE(cluster.address("sparse", 2));
  EXPECT_THAT(cluster.addresses("sparse"),
              ElementsAre(Optional(std::string("s0:2222")), std::nullopt, std::nullopt,
                          Optional(std::string("s3:2222"))));
  EXPECT_EQ(cluster.tasks("nobody"), 0);
}

TEST(TfConfig, AnIndexMayBeQuotedAndNullMeansAbsent) {
  EXPECT_EQ(good(R"({"task": {"type": "ps", "index": "1"}})").index, 1);
  EXPECT_FALSE(good(R"({"cluster": null, "task": {"type": "ps", "index": null}})").task());
}

TEST(TfConfig, ReportsErrorsAtTheirPosition) {
  const auto wrong = [](const std::string& text, const std::string& mark, ProblemCode code,
                        const std::string& field) {
    test::Mistake mistake = test::at(text, mark, code, field);
    mistake.file = "TF_CONFIG";
    EXPECT_THAT(read_tf_config(text, "TF_CONFIG"), test::FailsWithAll(std::vector{mistake}))
        << text;
  };
  using enum ProblemCode;
  wrong("{", "{^", kSyntax, "");
  wrong("[1]", "[", kWrongType, "");
  wrong(R"({"cluster": ["a:1", "b:2"]})", "[", kWrongType, "cluster");
  wrong(R"({"cluster": {"worker": 5}})", "5", kWrongType, "cluster");
  wrong(R"({"cluster": {"worker": {"x": "a:1"}}})", "\"a:1", kWrongType, "cluster");
  for (const char* address : {"\"a\"", "\":1\"", "\"a:\"", "\"a:99999\"", "7", "null"}) {
    wrong(fmt::format(R"({{"cluster": {{"worker": [{}]}}}})", address), "[^", kWrongType,
          "cluster");
  }
  wrong(R"({"task": 7})", "7", kWrongType, "task");
  wrong(R"({"task": {"type": [7]}})", "[", kWrongType, "type");
  for (const char* index : {"-1", "\"x\"", "1.5", "{}"})
    wrong(fmt::format(R"({{"task": {{"index": {}}}}})", index), "index\": ^", kWrongType, "index");
  wrong(R"({"rpc_layer": 1})", "1", kWrongType, "rpc_layer");
}

TEST(TfConfig, ATaskTypeThatIsANumberIsReadAsText) {
  const auto config = read_tf_config(R"({"task": {"type": 7, "index": 1}})", "TF_CONFIG");
  ASSERT_TRUE(config);
  ASSERT_TRUE(config->task());
  EXPECT_EQ(config->task()->type, "7");
  EXPECT_FALSE(validate(cluster_of(kAll), *config->task())) << "no job has this name";
}

TEST(TfConfig, ValidationFindsImpossibleTasks) {
  const ClusterSpec all = cluster_of(kAll);
  for (const TfConfigTask& task : {TfConfigTask{"chief", 0}, TfConfigTask{"worker", 1},
                                   TfConfigTask{"ps", 1}, TfConfigTask{"evaluator", 0}})
    EXPECT_TRUE(validate(all, task)) << task.type;
  EXPECT_FALSE(validate(all, {"worker", 2}));
  EXPECT_FALSE(validate(all, {"master", 0})) << "not a task type";
  EXPECT_FALSE(validate(cluster_of(R"({"master": ["a:1"]})"), {"master", 0}))
      << "although the cluster has this job";
  EXPECT_FALSE(validate(cluster_of(R"({"worker": ["a:1"]})"), {"chief", 0}));
  EXPECT_TRUE(validate(cluster_of(R"({"chief": ["a:1"]})")));
  EXPECT_FALSE(validate(cluster_of(R"({"chief": ["a:1", "b:2"]})")));
  EXPECT_TRUE(validate(cluster_of(R"({"evaluator": ["a:1"]})")));
  EXPECT_FALSE(validate(cluster_of(R"({"evaluator": ["a:1", "b:2"]})")));
}

TEST(TfConfig, TheChiefIsWorker0IfNoChiefIsDeclared) {
  const ClusterSpec all = cluster_of(kAll);
  EXPECT_TRUE(is_chief(all, {"chief", 0}));
  EXPECT_TRUE(is_chief(all, {"evaluator", 0}));
  EXPECT_FALSE(is_chief(all, {"worker", 0}));
  EXPECT_EQ(worker_count(all, "worker"), 3);
  EXPECT_EQ(worker_count(all, "chief"), 3);
  EXPECT_EQ(worker_count(all, "evaluator"), 1);
  EXPECT_FALSE(worker_count(all, "ps"));
  EXPECT_EQ(id_in_cluster(all, {"chief", 0}), 0);
  EXPECT_EQ(id_in_cluster(all, {"worker", 1}), 2);
  EXPECT_EQ(id_in_cluster(all, {"evaluator", 0}), 0);
  EXPECT_FALSE(id_in_cluster(all, {"ps", 0}));
  EXPECT_EQ(collective_leader(all, {"worker", 1}), "/job:chief/replica:0/task:0");
  EXPECT_EQ(collective_leader(all, {"evaluator", 0}), "");
  const ClusterSpec two = cluster_of(R"({"worker": ["a:1", "b:2"]})");
  EXPECT_TRUE(is_chief(two, {"worker", 0}));
  EXPECT_FALSE(is_chief(two, {"worker", 1}));
  EXPECT_EQ(collective_leader(two, {"worker", 1}), "/job:worker/replica:0/task:0");
  EXPECT_EQ(collective_leader({}, {"worker", 0}), "");
}

TEST(TfConfig, SessionsConnectToTheAddressOfTheirTask) {
  TfConfig config = good(
      R"({"cluster": {"ps": ["p:1"], "worker": ["a:1", "b:2"]}, "task": {"type": "ps", "index": 0}})");
  EXPECT_EQ(session_master(config, config.task()), "p:1");
  EXPECT_EQ(session_master(config, TfConfigTask{"worker", 1}), "b:2");
  EXPECT_FALSE(session_master(config, TfConfigTask{"worker", 2}));
  EXPECT_FALSE(session_master(config, std::nullopt));
  config.rpc_layer = "grpc";
  EXPECT_EQ(session_master(config, TfConfigTask{"worker", 1}), "grpc://b:2");
  config.session_master = "here:9";
  EXPECT_EQ(session_master(config, std::nullopt), "here:9");
  EXPECT_EQ(session_master(good(R"({"cluster": {"worker": ["a:1"]}})"), std::nullopt), "")
      << "one task is by itself";
}

}  // namespace
}  // namespace tutti::core
