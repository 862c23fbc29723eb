// Runs strategies of tf.distribute and modes of tf_cnn_benchmarks with real processes. Every
// element of every result is verified, also on servers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tests/support/program.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

std::string scenario_of(int workers, int servers, const std::string& strategy, int replicas = 2) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"dgx1-v100\" count: {} replicas: {} }} {} network {{ kind: "
      "ONE_SWITCH "
      "latency_us: 1 }} }}\n"
      "workload {{ variable {{ name: \"a\" shape: [100, 1001] }} variable {{ name: \"b\" shape: 7 "
      "data_type: INT64 }} "
      "variable {{ "
      "name: \"c\" shape: 5000 data_type: BFLOAT16 }} variable {{ name: \"d\" shape: 70001 }} "
      "forward_ms: 1 "
      "backward_ms: 2 }}\n"
      "strategy {{ {} }}\nrun {{ steps: 3 }}\n",
      workers, replicas,
      servers > 0
          ? fmt::format("workers {{ machine: \"cpu-host\" count: {} server: true }}", servers)
          : "",
      strategy);
}

Outcome run(const std::string& scenario) {
  const TemporaryFolder folder;
  return run_tutti({"run", folder.write("s.textproto", scenario), "--rows", "0"});
}

void expect_right(const std::string& scenario) {
  const Outcome o = run(scenario);
  EXPECT_EQ(o.status, 0) << scenario << o.err;
  EXPECT_THAT(o.out, says_verified()) << scenario;
}

TEST(StrategiesRun, OneWorker) {
  for (const char* strategy :
       {"tensorflow { mirrored { cross_device_ops: REDUCTION_TO_ONE_DEVICE } }",
        "algorithm: \"hierarchical_copy\"",
        "algorithm: \"hierarchical_copy\" drop_odd_device: true",
        "algorithm: \"reduction_to_one_device\" reduce_to_device: \"cpu0\" out_of_place: true",
        "algorithm: \"hierarchical_copy\" out_of_place: true", "tensorflow { central_storage {} }",
        "tensorflow { tf_cnn_benchmarks {} }",
        "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED } }",
        "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED local_parameter_device: CPU "
        "} }"}) {
    expect_right(scenario_of(1, 0, strategy, 3));
  }
  expect_right(scenario_of(1, 0, "tensorflow { central_storage {} }", 1));
  expect_right(scenario_of(1, 0, "tensorflow { one_device {} }", 1));
}

TEST(StrategiesRun, SeparateServersAndServersOnWorkers) {
  for (const char* mode : {"PARAMETER_SERVER", "DISTRIBUTED_REPLICATED"}) {
    for (const char* device : {"GPU", "CPU"}) {
      const std::string flags =
          fmt::format("variable_update: {} local_parameter_device: {}", mode, device);
      expect_right(scenario_of(
          2, 2, fmt::format("tensorflow {{ tf_cnn_benchmarks {{ {} }} }} reduction: SUM", flags)));
      expect_right(scenario_of(
          2, 0,
          fmt::format("tensorflow {{ tf_cnn_benchmarks {{ {} servers_on_workers: 2 }} }}", flags)));
    }
  }
}

/// Horovod: workers agree in cycles on the gradients that are ready on all workers, and fuse them.
/// Every gradient must have the right value.
TEST(StrategiesRun, Horovod) {
  for (const char* transport : {"tcp", "shm"}) {
    for (const char* strategy :
         {"algorithm: \"ring\" horovod {}",
          "algorithm: \"nccl\" horovod { cycle_time_ms: 0.2 } reduction: MEAN",
          "algorithm: \"nccl/ring\" horovod { fusion_threshold: 0 cycle_time_ms: 0.5 }",
          "algorithm: \"ring\" horovod { cycle_time_ms: 20 } compression { type: FLOAT16 }",
          "algorithm: \"double_tree\" horovod {} reduction: MAX out_of_place: true"}) {
      for (const auto& [workers, replicas] : {std::pair(1, 2), std::pair(3, 1), std::pair(2, 2)}) {
        const TemporaryFolder folder;
        const Outcome o = run_tutti(
            {"run", folder.write("s.textproto", scenario_of(workers, 0, strategy, replicas)),
             "--rows", "0", "--transport", transport});
        EXPECT_EQ(o.status, 0) << strategy << o.err;
        EXPECT_THAT(o.out, says_verified()) << strategy;
        EXPECT_THAT(o.out, HasSubstr("4 gradients")) << strategy;
      }
    }
  }
}

/// If a cycle is longer than the backward pass, all gradients of a type are fused. If the fusion
/// threshold is 0, each gradient is reduced separately.
TEST(StrategiesRun, HorovodFusesMorePacksInLongerCycles) {
  const auto fused = [](const std::string& settings) {
    return run(scenario_of(2, 0, fmt::format("algorithm: \"ring\" horovod {{ {} }}", settings), 1))
        .out;
  };
  EXPECT_THAT(fused("cycle_time_ms: 300"), HasSubstr(" 3 all-reduces"))
      << "float32, int32 and bfloat16";
  EXPECT_THAT(fused("cycle_time_ms: 300 fusion_threshold: 0"), HasSubstr(" 4 all-reduces"));
}

/// BytePS: the pulled value is the sum of all pushes.
TEST(StrategiesRun, BytePs) {
  for (const char* transport : {"tcp", "shm"}) {
    for (const auto& [servers, strategy] :
         {std::pair(2, "byteps { partition_bytes: 100 } reduction: MEAN"),
          std::pair(1, "byteps { partition_bytes: 100000 scheduling_credit: 1 }"),
          std::pair(0,
                    "byteps { servers_on_workers: 2 scheduling_credit: 3 key_hash_fn: NAIVE }")}) {
      const TemporaryFolder folder;
      const Outcome o =
          run_tutti({"run", folder.write("s.textproto", scenario_of(2, servers, strategy, 3)),
                     "--rows", "0", "--transport", transport});
      EXPECT_EQ(o.status, 0) << strategy << o.err;
      EXPECT_THAT(o.out, says_verified()) << strategy;
    }
  }
  std::string on_cpus = scenario_of(2, 2, "byteps { scheduling_credit: 1 }", 1);
  on_cpus.replace(on_cpus.find("dgx1-v100"), 9, "cpu-host");
  expect_right(on_cpus);
}

/// Plans with servers that add are proved, too.
TEST(StrategiesRun, PlansAreProved) {
  const TemporaryFolder folder;
  for (const auto& [servers, strategy] :
       {std::pair(0, "tensorflow { tf_cnn_benchmarks { servers_on_workers: 1 } }"),
        std::pair(2, "tensorflow { parameter_server {} } reduction: MEAN"),
        std::pair(1,
                  "tensorflow { tf_cnn_benchmarks { variable_update: DISTRIBUTED_REPLICATED } }"),
        std::pair(0, "tensorflow { tf_cnn_benchmarks { variable_update: INDEPENDENT } }")}) {
    const Outcome o = run_tutti(
        {"plan", folder.write("s.textproto", scenario_of(2, servers, strategy)), "--check"});
    EXPECT_EQ(o.status, 0) << strategy << o.err;
    EXPECT_THAT(o.out, HasSubstr("pack 3: each of ")) << strategy;
  }
}

/// A table of nccl-tests shows one collective among all replicas, which these strategies do not
/// have.
TEST(StrategiesRun, PerfRefusesThemWithAReason) {
  const TemporaryFolder folder;
  expect_refused(
      {"perf", folder.write("s.textproto", scenario_of(1, 0, "tensorflow { central_storage {} }"))},
      folder,
      {.code = ProblemCode::kUnsupported, .field = "Strategy", .file = folder.file("s.textproto")});
}

/// Each worker reads and pushes when it is ready, and servers add in order of arrival. The test
/// verifies every push, every read against the server's value, and every variable against the sum
/// of all pushes.
TEST(StrategiesRun, WorkersThatDoNotWaitForEachOther) {
  for (const char* strategy :
       {"tensorflow { parameter_server {} }",
        "tensorflow { parameter_server { variable_read_cache: CPU } } reduction: MEAN",
        "tensorflow { parameter_server { placement: GREEDY_BY_BYTES } } staging: DIRECT",
        "tensorflow { tf_cnn_benchmarks { cross_replica_sync: false } }",
        "tensorflow { tf_cnn_benchmarks { cross_replica_sync: false local_parameter_device: CPU } "
        "} reduction: MEAN"}) {
    for (const char* transport : {"tcp", "shm"}) {
      const TemporaryFolder folder;
      const Outcome o = run_tutti({"run", folder.write("s.textproto", scenario_of(2, 2, strategy)),
                                   "--transport", transport});
      EXPECT_EQ(o.status, 0) << strategy << o.err;
      EXPECT_THAT(o.out, says_verified()) << strategy;
      EXPECT_THAT(o.out, HasSubstr("2 workers together")) << strategy;
    }
  }
}

/// A single worker is never behind. With several workers, the number of updates between a read and
/// an update is at most the number of all updates by the others.
TEST(StrategiesRun, CountsTheUpdatesOfOtherWorkersOnServers) {
  EXPECT_THAT(run(scenario_of(1, 1, "tensorflow { parameter_server {} }")).out,
              testing::ContainsRegex("0.00 updates by other workers .* at most 0"));
  const std::string out = run(scenario_of(3, 1, "tensorflow { parameter_server {} }", 1)).out;
  std::smatch most;
  ASSERT_TRUE(std::regex_search(out, most, std::regex("and at most ([0-9]+)"))) << out;
  EXPECT_LE(std::stoi(most[1]), 2 * 3) << out;
}

/// The records of steps and the timeline of asynchronous workers.
TEST(StrategiesRun, RecordsAsynchronousWorkers) {
  const TemporaryFolder folder;
  const std::string timeline = folder.file("run.tutti");
  const Outcome o = run_tutti(
      {"run", folder.write("s.textproto", scenario_of(2, 1, "tensorflow { parameter_server {} }")),
       "--timeline", timeline, "--record", "steps"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Outcome shown = run_tutti({"compare", timeline, timeline});
  EXPECT_EQ(shown.status, 0) << shown.err;
}

TEST(StrategiesRun, RefusesStrategiesThatAreOnlySimulated) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text, const Mistake& mistake,
                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", folder.write("s.textproto", text)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused(arguments, folder, mistake);
  };
  refused(scenario_of(2, 1, "tensorflow { parameter_server {} }"),
          {ProblemCode::kConflict, "--emulate"}, {"--emulate"});
  refused(scenario_of(2, 0, "tensorflow { tf_cnn_benchmarks { variable_update: INDEPENDENT } }"),
          {ProblemCode::kUnsupported, "Strategy"});
  refused(scenario_of(2, 0, "algorithm: \"nccl\" horovod {}"),
          {ProblemCode::kConflict, "--emulate"}, {"--emulate"});
  std::string sparse = scenario_of(2, 1, "tensorflow { parameter_server {} }");
  sparse.insert(sparse.find("forward_ms"), "sparse_gradient { variable: \"a\" rows_per_step: 3 } ");
  refused(sparse, {ProblemCode::kUnsupported, "Workload.sparse_gradient"});
}

/// The indices and values of all replicas reach every replica: through TensorFlow's ring, through
/// one device, and through other rings.
TEST(StrategiesRun, SparseGradients) {
  for (const auto& [workers, strategy] :
       {std::pair(
            2, "tensorflow { multi_worker_mirrored { communication_options {} } } reduction: MEAN"),
        std::pair(2,
                  "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: "
                  "TF_1_15 } } }"),
        std::pair(2,
                  "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_2_5 "
                  "} } }"),
        std::pair(2, "algorithm: \"ring\""), std::pair(2, "algorithm: \"nccl\""),
        std::pair(1, "tensorflow { mirrored { num_packs: 0 } }"),
        std::pair(1, "tensorflow { central_storage {} }"),
        std::pair(1, "algorithm: \"reduction_to_one_device\" reduce_to_device: \"cpu0\"")}) {
    for (const char* how :
         {"rows_per_step: 13", "rows_per_step: 13 index_type: INT32 rows_differ: true"}) {
      if (std::string(strategy).find("1_15") != std::string::npos &&
          std::string(how).find("differ") != std::string::npos)
        continue;
      std::string scenario = scenario_of(workers, 0, strategy);
      scenario.insert(scenario.find("forward_ms"),
                      fmt::format("sparse_gradient {{ variable: \"a\" {} }} ", how));
      expect_right(scenario);
    }
  }
}

TEST(StrategiesRun, Checkpoints) {
  for (const auto& [workers, strategy] :
       {std::pair(2, "tensorflow { multi_worker_mirrored { communication_options {} } }"),
        std::pair(2, "algorithm: \"ring\" reduction: MAX"),
        std::pair(1, "tensorflow { mirrored { num_packs: 0 } }"),
        std::pair(1, "tensorflow { mirrored { cross_device_ops: REDUCTION_TO_ONE_DEVICE } }")}) {
    std::string scenario = scenario_of(workers, 0, strategy);
    scenario.insert(scenario.find("forward_ms"),
                    "on_read { name: \"m\" shape: 501 aggregation: MEAN count: 2 } on_read { name: "
                    "\"t\" data_type: INT64 "
                    "aggregation: SUM } ");
    scenario.replace(scenario.find("steps: 3"), 8, "steps: 3 checkpoint_every: 2");
    expect_right(scenario);
  }
}

}  // namespace
}  // namespace tutti::test
