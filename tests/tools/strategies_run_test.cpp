// Strategies of tf.distribute and modes of tf_cnn_benchmarks by real processes: every element of every result is compared, on servers,
// too.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program.h"
#include "tests/tools/command_line.h"

namespace tutti::test {
namespace {

using testing::HasSubstr;

std::string scenario_of(int workers, int servers, const std::string& strategy, int replicas = 2) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"dgx1-v100\" count: {} replicas: {} }} {} network {{ kind: ONE_SWITCH "
      "latency_us: 1 }} }}\n"
      "workload {{ variable {{ name: \"a\" shape: [100, 1001] }} variable {{ name: \"b\" shape: 7 data_type: INT32 }} "
      "variable {{ "
      "name: \"c\" shape: 5000 data_type: BFLOAT16 }} variable {{ name: \"d\" shape: 70001 }} forward_ms: 1 "
      "backward_ms: 2 }}\n"
      "strategy {{ {} }}\nrun {{ steps: 3 }}\n",
      workers, replicas,
      servers > 0 ? fmt::format("workers {{ machine: \"cpu-host\" count: {} server: true }}", servers) : "", strategy);
}

Outcome run(const std::string& scenario) {
  const TemporaryFolder folder;
  return run_tutti({"run", folder.write("s.textproto", scenario), "--rows", "0"});
}

void expect_right(const std::string& scenario) {
  const Outcome o = run(scenario);
  EXPECT_EQ(o.status, 0) << scenario << o.err;
  EXPECT_THAT(o.out, HasSubstr("every element of every result was compared and is right")) << scenario;
}

TEST(StrategiesRun, OneWorker) {
  for (const char* strategy :
       {"mirrored { cross_device_ops: REDUCTION_TO_ONE_DEVICE }", "algorithm: \"hierarchical_copy\"",
        "algorithm: \"hierarchical_copy\" drop_odd_device: true",
        "algorithm: \"reduction_to_one_device\" reduce_to_device: \"cpu0\" out_of_place: true",
        "algorithm: \"hierarchical_copy\" out_of_place: true", "central_storage {}", "tf_cnn_benchmarks {}",
        "tf_cnn_benchmarks { variable_update: REPLICATED }",
        "tf_cnn_benchmarks { variable_update: REPLICATED local_parameter_device: CPU }"}) {
    expect_right(scenario_of(1, 0, strategy, 3));
  }
  expect_right(scenario_of(1, 0, "central_storage {}", 1));
  expect_right(scenario_of(1, 0, "one_device {}", 1));
}

TEST(StrategiesRun, ServersOfTheirOwnAndOnWorkers) {
  for (const char* mode : {"PARAMETER_SERVER", "DISTRIBUTED_REPLICATED"}) {
    for (const char* device : {"GPU", "CPU"}) {
      const std::string flags = fmt::format("variable_update: {} local_parameter_device: {}", mode, device);
      expect_right(scenario_of(2, 2, fmt::format("tf_cnn_benchmarks {{ {} }} reduction: SUM", flags)));
      expect_right(scenario_of(2, 0, fmt::format("tf_cnn_benchmarks {{ {} servers_on_workers: 2 }}", flags)));
    }
  }
}

/// Where servers add up, too: every pack is proved as it is planned.
TEST(StrategiesRun, PlansAreProved) {
  const TemporaryFolder folder;
  for (const auto& [servers, strategy] : {std::pair(0, "tf_cnn_benchmarks { servers_on_workers: 1 }"),
                                          std::pair(2, "parameter_server {} reduction: MEAN"),
                                          std::pair(1, "tf_cnn_benchmarks { variable_update: DISTRIBUTED_REPLICATED }"),
                                          std::pair(0, "tf_cnn_benchmarks { variable_update: INDEPENDENT }")}) {
    const Outcome o = run_tutti({"plan", folder.write("s.textproto", scenario_of(2, servers, strategy)), "--check"});
    EXPECT_EQ(o.status, 0) << strategy << o.err;
    EXPECT_THAT(o.out, HasSubstr("pack 3: every one of ")) << strategy;
  }
}

/// A table of nccl-tests has one collective of all replicas, which these do not have.
TEST(StrategiesRun, PerfSaysWhyNot) {
  const TemporaryFolder folder;
  expect_refused({"perf", folder.write("s.textproto", scenario_of(1, 0, "central_storage {}"))}, folder,
                 HasSubstr("CentralStorageStrategy has none"));
}

TEST(StrategiesRun, WorkersThatDoNotWaitAreSimulatedOnly) {
  for (const char* strategy : {"parameter_server {}", "tf_cnn_benchmarks { cross_replica_sync: false }"}) {
    const Outcome o = run(scenario_of(2, 1, strategy));
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr("do not wait for each other are simulated only"));
  }
}

}  // namespace
}  // namespace tutti::test
