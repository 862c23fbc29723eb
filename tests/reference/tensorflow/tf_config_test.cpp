// Runs the golden cases of TF_CONFIG, and of the roles of tasks in a cluster: the chief, masters,
// evaluators, the numbers of accelerators, and invalid configurations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/cluster/accelerators.h"
#include "core/cluster/tf_config.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/problems.h"

namespace tutti {
namespace {

using core::ClusterSpec;
using core::TfConfig;
using core::TfConfigTask;
using core::Value;
using test::Data;

std::string json(const Value& value) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  switch (value.kind) {
    case Value::Kind::kMessage:
      for (const Value::Field& f : value.fields)
        add(fmt::format("\"{}\": {}", f.name, json(f.value)));
      return "{" + text + "}";
    case Value::Kind::kList:
      for (const Value& item : value.items) add(json(item));
      return "[" + text + "]";
    case Value::Kind::kString: return "\"" + value.text + "\"";
    default: return value.text;
  }
}

TfConfig read(const std::string& text) {
  const auto config = core::read_tf_config(text, "TF_CONFIG");
  EXPECT_TRUE(config) << text << '\n' << (config ? "" : config.error().message());
  return config.value_or(TfConfig());
}

/// Reads jobs whose addresses may have no ports, as in TensorFlow's tests.
ClusterSpec cluster(const Data& jobs) {
  ClusterSpec spec;
  for (const Value::Field& job : jobs.value().fields) {
    std::int64_t index = 0;
    for (const Value& address : job.value.items) spec.jobs[job.name][index++] = address.text;
    for (const Value::Field& task : job.value.fields)
      spec.jobs[job.name][std::stoll(task.name)] = task.value.text;
  }
  return spec;
}

TfConfigTask task(const Data& pair) { return {pair.items()[0].text(), pair.items()[1].number()}; }
TfConfigTask task(const std::string& written) {  // "worker/1"
  const std::size_t slash = written.find('/');
  return {written.substr(0, slash), std::stoll(written.substr(slash + 1))};
}

TEST(TensorFlowClusterReference, TheMasterIsTheAddressOfTheTask) {
  for (const Data& c : test::golden_cases("TFConfigClusterResolver.master")) {
    SCOPED_TRACE(test::golden_name(c));
    const TfConfig config = read(json(c["input"]["TF_CONFIG"].value()));
    const auto requested =
        c["input"].has("args") ? std::optional(task(c["input"]["args"])) : config.task();
    EXPECT_EQ(core::session_master(config, requested), c["expected"]["master"].text());
  }
}

TEST(TensorFlowClusterReference, AnIndexIsCastToANumber) {
  for (const Data& c : test::golden_cases("TFConfigClusterResolver casts")) {
    SCOPED_TRACE(test::golden_name(c));
    EXPECT_EQ(read(json(c["input"].value())).index, c["expected"]["task_id"].number());
  }
}

/// Counts the accelerators of this task, and of a requested task.
TEST(TensorFlowClusterReference, AcceleratorsAreCountedByTask) {
  for (const Data& c : test::golden_cases("TFConfigClusterResolver.num_accelerators")) {
    SCOPED_TRACE(test::golden_name(c));
    core::ListedDevices devices;
    for (const Value::Field& listed : c["input"]["devices"].value().fields) {
      for (const Value& device : listed.value.items)
        devices[task(listed.name)].push_back(device.text);
    }
    const TfConfig config = read(fmt::format("{{\"task\": {}}}", json(c["input"]["task"].value())));
    const auto expect = [&](const Data& expected, const std::optional<TfConfigTask>& of) {
      std::map<std::string, std::int64_t> counts;
      for (const Value::Field& type : expected.value().fields)
        counts[type.name] = std::stoll(type.value.text);
      EXPECT_EQ(core::num_accelerators(config, devices, of), counts);
    };
    expect(c["expected"]["default"], std::nullopt);
    expect(c["expected"]["task_type='worker2', task_id=3"], TfConfigTask{"worker2", 3});
  }
  const core::ListedDevices written{
      {TfConfigTask{"worker", 0},
       {"/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:GPU:0"}}};
  EXPECT_EQ(core::num_accelerators(read("{}"), written, TfConfigTask{"worker", 0}),
            (std::map<std::string, std::int64_t>{{"GPU", 1}}));
  EXPECT_TRUE(core::num_accelerators(read("{}"), written).empty()) << "the task is not stated";
}

TEST(TensorFlowClusterReference, WithoutTfConfigThereIsNoClusterAndNoTask) {
  for (const Data& c : test::golden_cases("TFConfigClusterResolver environment")) {
    SCOPED_TRACE(test::golden_name(c));
    const TfConfig config = read("{}");
    EXPECT_TRUE(config.cluster.empty());
    EXPECT_FALSE(config.type);
    EXPECT_FALSE(config.index);
  }
}

TEST(TensorFlowClusterReference, Chiefs) {
  for (const Data& c : test::golden_cases("is_chief")) {
    SCOPED_TRACE(test::golden_name(c));
    for (const Value::Field& of : c["expected"].value().fields)
      EXPECT_EQ(core::is_chief(cluster(c["input"]["cluster"]), task(of.name)),
                of.value.text == "true")
          << of.name;
  }
}

// The texts of the errors differ from TensorFlow's, but the rejected configurations are the same.
TEST(TensorFlowClusterReference, ImpossibleTasksAreRefused) {
  for (const Data& c : test::golden_cases("validation")) {
    SCOPED_TRACE(test::golden_name(c));
    const Data in = c["input"];
    const ClusterSpec spec =
        in.has("cluster") ? cluster(in["cluster"]) : ClusterSpec{{{"chief", {{0, "a:1"}}}}};
    const TfConfigTask requested =
        in.has("task") ? task(in["task"]) : TfConfigTask{in["task_type"].text(), 0};
    const auto valid = core::validate(spec, requested);
    ASSERT_FALSE(valid);
    EXPECT_FALSE(valid.error().empty());
  }
}

TEST(TensorFlowClusterReference, WorkersAreCounted) {
  for (const Data& c : test::golden_cases("worker_count")) {
    SCOPED_TRACE(test::golden_name(c));
    const ClusterSpec spec = cluster(c["input"]["cluster"]);
    if (c["expected"].has("count")) {
      EXPECT_EQ(core::worker_count(spec, c["input"]["task_type"].text()),
                c["expected"]["count"].number());
      continue;
    }
    for (const Value::Field& of : c["expected"].value().fields)
      EXPECT_EQ(core::worker_count(spec, of.name), std::stoll(of.value.text)) << of.name;
  }
}

TEST(TensorFlowClusterReference, ServersHaveNoIdAmongTrainingTasks) {
  for (const Data& c : test::golden_cases("id_in_cluster")) {
    SCOPED_TRACE(test::golden_name(c));
    ASSERT_EQ(c["expected"]["error"].text(), "ValueError");
    EXPECT_FALSE(core::id_in_cluster(cluster(c["input"]["cluster"]), task(c["input"]["task"])));
  }
}

TEST(TensorFlowClusterReference, AnEvaluatorHasNoLeader) {
  const ClusterSpec with_evaluator{{{"chief", {{0, "a:1"}}}, {"evaluator", {{0, "b:1"}}}}};
  for (const Data& c : test::golden_cases("collective_leader")) {
    SCOPED_TRACE(test::golden_name(c));
    EXPECT_EQ(core::collective_leader(with_evaluator, task(c["input"]["task"])),
              c["expected"]["leader"].text());
  }
}

TEST(TensorFlowClusterReference, AListIsRefusedAsACluster) {
  for (const Data& c : test::golden_cases("normalize_cluster_spec")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto config = core::read_tf_config(
        fmt::format(R"({{"cluster": {}}})", json(c["input"]["cluster"].value())), "f");
    EXPECT_THAT(test::kinds_of(config), testing::ElementsAre("wrong-type cluster"));
  }
}

TEST(TensorFlowClusterReference, TasksMayBeSparse) {
  for (const Data& c : test::golden_cases("ClusterSpec")) {
    SCOPED_TRACE(test::golden_name(c));
    const ClusterSpec spec = cluster(c["input"]);
    EXPECT_EQ(spec.tasks("sparse"), c["expected"]["num_tasks"].number());
    for (const Data& index : c["expected"]["task_indices"].items())
      EXPECT_TRUE(spec.address("sparse", index.number())) << index.number();
    const auto addresses = spec.addresses("sparse");
    const std::vector<Data> expected = c["expected"]["job_tasks"].items();
    ASSERT_EQ(addresses.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].is_null()) {
        EXPECT_FALSE(addresses[i]);
      } else {
        EXPECT_EQ(addresses[i], expected[i].text());
      }
    }
    EXPECT_FALSE(spec.address("sparse", 2));
  }
}

TEST(TensorFlowClusterReference, AddressesHavePorts) {
  for (const Data& c : test::golden_cases("Server")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto config =
        core::read_tf_config(fmt::format(R"({{"cluster": {}}})", json(c["input"].value())), "f");
    EXPECT_THAT(test::kinds_of(config), testing::ElementsAre("wrong-type cluster"));
  }
}

}  // namespace
}  // namespace tutti
