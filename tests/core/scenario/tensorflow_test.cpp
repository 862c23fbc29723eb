// MultiWorkerMirroredStrategy and other TensorFlow settings in a scenario: the meaning of their
// options, the fields that they exclude, and the notes of the plan.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/scenario.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kGpus =
    "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH latency_us: "
    "1 } }\n";
const std::string kHosts =
    "cluster { workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 "
    "} }\n";
const std::string kThree =
    "workload { variable { name: \"a\" shape: 1000 } variable { name: \"b\" shape: 1000 } variable "
    "{ name: \"c\" "
    "shape: 1000 } }\n";
const std::string kOne = "workload { variable { name: \"a\" shape: 1000 } }\n";

Expected<Scenario> read_on_two(const std::string& strategy, const std::string& workload = kThree,
                               const std::string& cluster = kGpus) {
  return read_scenario(cluster + workload + "strategy { " + strategy + " }\n", "f",
                       test::shipped_library());
}

Scenario planned(const std::string& strategy, const std::string& workload = kThree,
                 const std::string& cluster = kGpus) {
  auto scenario = read_on_two(strategy, workload, cluster);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return scenario ? std::move(*scenario) : Scenario{};
}

/// Returns the variables of each pack, in launch order.
std::vector<std::string> packs(const Scenario& s) {
  std::vector<std::string> all;
  for (const Pack& pack : s.plan.packs) {
    std::string& names = all.emplace_back();
    for (const Member& m : pack.payload.members) names += s.workload.gradients[m.variable].name;
  }
  return all;
}

TEST(MultiWorkerMirrored, AutoIsTheRuntimesRingAlsoOnGpus) {
  for (const char* text : {"tensorflow { multi_worker_mirrored { communication_options { } } }",
                           "tensorflow { multi_worker_mirrored { hints { } } }",
                           "tensorflow { multi_worker_mirrored { collective_all_reduce { } } }"}) {
    const Scenario s = planned(text);
    EXPECT_EQ(s.strategy.algorithm, BaseAlgorithm::kTfRing) << text;
    EXPECT_EQ(s.strategy.launch, Launch::kConcurrent);
    EXPECT_EQ(s.strategy.staging, Staging::kViaHostOnRequest);
    EXPECT_THAT(packs(s), ElementsAre("cba")) << "one pack of everything, the last-created first";
    EXPECT_TRUE(s.plan.notes.has("tensorflow.auto-is-ring"));
  }
}

TEST(MultiWorkerMirrored, NcclIsRequestedByHintOrSessionAndNeedsGpus) {
  EXPECT_EQ(
      planned(
          "tensorflow { multi_worker_mirrored { communication_options { implementation: NCCL } } }")
          .strategy.algorithm,
      BaseAlgorithm::kNccl);
  EXPECT_EQ(planned("tensorflow { multi_worker_mirrored { communication_options { implementation: "
                    "RING } hints { "
                    "implementation: NCCL } } }")
                .strategy.algorithm,
            BaseAlgorithm::kNccl);
  EXPECT_EQ(planned("tensorflow { multi_worker_mirrored { communication_options { implementation: "
                    "NCCL } hints { "
                    "implementation: AUTO } } }")
                .strategy.algorithm,
            BaseAlgorithm::kNccl)
      << "a call cannot unset it";
  const Scenario config = planned(
      "tensorflow { multi_worker_mirrored { communication_options { implementation: RING } "
      "collective_all_reduce { "
      "collective_nccl: true } } }");
  EXPECT_EQ(config.strategy.algorithm, BaseAlgorithm::kNccl)
      << "the configuration overrides the hint";
  EXPECT_TRUE(config.plan.notes.has("tensorflow.session-means-nccl"));
  const Scenario hosts = planned(
      "tensorflow { multi_worker_mirrored { communication_options { implementation: NCCL } } }",
      kThree, kHosts);
  EXPECT_EQ(hosts.strategy.algorithm, BaseAlgorithm::kTfRing);
  EXPECT_TRUE(hosts.plan.notes.has("tensorflow.no-gpus-for-nccl"));
}

TEST(MultiWorkerMirrored, TheSessionDecidesWhetherOneGradientUsesNccl) {
  const auto nccl = [](const std::string& how) {
    return "tensorflow { multi_worker_mirrored { communication_options { implementation: NCCL } " +
           how + " } }";
  };
  EXPECT_EQ(planned(nccl(""), kOne).strategy.algorithm, BaseAlgorithm::kNccl)
      << "a graph's config has collective_nccl";
  EXPECT_TRUE(planned(nccl(""), kOne).plan.notes.has("tensorflow.batch-of-one-is-auto"));
  EXPECT_EQ(planned(nccl("collective_all_reduce { eager: true }"), kOne).strategy.algorithm,
            BaseAlgorithm::kTfRing);
  EXPECT_EQ(planned(nccl("collective_all_reduce { eager: true }")).strategy.algorithm,
            BaseAlgorithm::kNccl);
  EXPECT_EQ(planned(nccl("collective_all_reduce { eager: true generation: TF_2_5 }"), kOne)
                .strategy.algorithm,
            BaseAlgorithm::kNccl)
      << "its launches can be ordered";
}

TEST(MultiWorkerMirrored, TheTimeoutOfACallOverridesThatOfTheStrategy) {
  EXPECT_EQ(
      planned(
          "tensorflow { multi_worker_mirrored { communication_options { timeout_seconds: 1.5 } } }")
          .strategy.timeout,
      milliseconds(1500));
  EXPECT_EQ(
      planned("tensorflow { multi_worker_mirrored { communication_options { timeout_seconds: 30 "
              "} hints { "
              "timeout_seconds: 0 } } }")
          .strategy.timeout,
      std::nullopt);
  EXPECT_EQ(
      planned(
          "tensorflow { multi_worker_mirrored { communication_options { timeout_seconds: -1 } } }")
          .strategy.timeout,
      std::nullopt);
  EXPECT_EQ(planned("tensorflow { multi_worker_mirrored { communication_options { timeout_seconds: "
                    "9e-7 } } }")
                .strategy.timeout,
            std::nullopt);
}

TEST(MultiWorkerMirrored, EveryGenerationHasItsOwnPacking) {
  const auto with = [](const std::string& rest) { return packs(planned(rest)); };
  EXPECT_THAT(
      with(
          "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 } } }"),
      ElementsAre("abc"))
      << "32 in a scope";
  EXPECT_THAT(
      with("tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 "
           "all_reduce_merge_scope: 2 } } }"),
      ElementsAre("ab", "c"));
  EXPECT_THAT(
      with("tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_2_1 } } }"),
      ElementsAre("cba"));
  EXPECT_THAT(with("tensorflow { multi_worker_mirrored { collective_all_reduce { generation: "
                   "TF_2_1 num_packs: 2 } } }"),
              ElementsAre("cb", "a"));
  EXPECT_THAT(with("tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: "
                   "4000 } } }"),
              ElementsAre("cb", "a"));
  const Scenario later = planned(
      "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 4000 } "
      "collective_all_reduce { "
      "generation: TF_2_5 } } }");
  EXPECT_THAT(packs(later), ElementsAre("cb", "a"));
  EXPECT_EQ(later.plan.packs[0].copied_in, Bytes(8000)) << "concatenated";
  EXPECT_EQ(later.plan.packs[1].after, 0) << "a token orders them";
}

TEST(MultiWorkerMirrored, EagerModeMergesNoPacks) {
  const Scenario s = planned(
      "tensorflow { multi_worker_mirrored { communication_options { } collective_all_reduce { "
      "eager: true } } }");
  EXPECT_THAT(packs(s), ElementsAre("c", "b", "a"));
  EXPECT_TRUE(s.plan.notes.has("tensorflow.eager-packs-nothing"));
}

TEST(MultiWorkerMirrored, LaunchesByConfigurationHaveDescendingKeys) {
  const auto each = [](const std::string& how) {
    return "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 1 } " +
           how + " } }";
  };
  const Scenario hinted = planned(
      "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 1 "
      "implementation: NCCL } } }");
  EXPECT_THAT(packs(hinted), ElementsAre("c", "b", "a"));
  EXPECT_FALSE(hinted.plan.notes.has("tensorflow.descending-keys"));
  const Scenario config = planned(each("collective_all_reduce { collective_nccl: true }"));
  EXPECT_THAT(packs(config), ElementsAre("a", "b", "c")) << "what is ready last is launched first";
  EXPECT_EQ(config.plan.packs[1].after, 0);
  EXPECT_GT(config.plan.packs[0].payload.instance_key, config.plan.packs[1].payload.instance_key);
  EXPECT_TRUE(config.plan.notes.has("tensorflow.descending-keys"));
  const Scenario first = planned(
      "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 "
      "collective_nccl: true "
      "all_reduce_merge_scope: 1 } } }");
  EXPECT_THAT(packs(first), ElementsAre("c", "b", "a"))
      << "handed over in the order of the variables";
}

TEST(MultiWorkerMirrored, UpdatesFollowEachPackIfTheProgramAggregates) {
  EXPECT_EQ(
      planned("tensorflow { multi_worker_mirrored { communication_options { } } }").strategy.update,
      Update::kAfterAll);
  EXPECT_EQ(planned("tensorflow { multi_worker_mirrored { collective_all_reduce { "
                    "experimental_aggregate_gradients: false } } }")
                .strategy.update,
            Update::kPerPack);
  EXPECT_EQ(
      planned(
          "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 } } }")
          .strategy.update,
      Update::kPerPack);
}

TEST(MultiWorkerMirrored, ExplicitFieldsOverrideDefaults) {
  const Scenario s = planned(
      "tensorflow { multi_worker_mirrored { communication_options { implementation: NCCL } } } "
      "launch: CONCURRENT "
      "merging: SEPARATE staging: VIA_HOST");
  EXPECT_EQ(s.strategy.launch, Launch::kConcurrent);
  EXPECT_EQ(s.strategy.merging, Merging::kSeparate);
  EXPECT_EQ(s.strategy.staging, Staging::kViaHost);
}

TEST(MultiWorkerMirrored, EachContradictionIsOneError) {
  const auto wrong = [](const std::string& strategy, const std::string& kind) {
    EXPECT_THAT(test::kinds_of(read_on_two(strategy)), ElementsAre(kind)) << strategy;
  };
  wrong("tensorflow { multi_worker_mirrored { communication_options { } } } algorithm: \"ring\"",
        "conflict Strategy.algorithm");
  wrong("tensorflow { multi_worker_mirrored { communication_options { } } } bytes_per_pack: 1",
        "conflict Strategy.bytes_per_pack");
  wrong(
      "tensorflow { multi_worker_mirrored { communication_options { } collective_all_reduce { "
      "num_packs: 2 } } }",
      "conflict CollectiveAllReduce.num_packs");
  wrong(
      "tensorflow { multi_worker_mirrored { communication_options { } collective_all_reduce { "
      "all_reduce_merge_scope: "
      "2 } } }",
      "conflict CollectiveAllReduce.all_reduce_merge_scope");
  wrong(
      "tensorflow { multi_worker_mirrored { communication_options { } } } "
      "agg_small_grads_max_bytes: 1",
      "conflict Strategy.agg_small_grads_max_bytes");
  wrong(
      "tensorflow { multi_worker_mirrored { communication_options { implementation: RING } "
      "collective_all_reduce { "
      "generation: TF_1_15 } } }",
      "conflict MultiWorkerMirroredStrategy.communication_options");
  wrong(
      "tensorflow { multi_worker_mirrored { hints { bytes_per_pack: 7 } collective_all_reduce { "
      "generation: TF_2_1 } } "
      "}",
      "conflict MultiWorkerMirroredStrategy.hints");
  wrong(
      "tensorflow { multi_worker_mirrored { hints { timeout_seconds: 7 } collective_all_reduce { "
      "generation: TF_1_15 } "
      "} }",
      "conflict MultiWorkerMirroredStrategy.hints");
  wrong(
      "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 eager: "
      "true } } }",
      "conflict MultiWorkerMirroredStrategy.collective_all_reduce");
  wrong(
      "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_2_1 "
      "experimental_aggregate_gradients: true } } }",
      "unused CollectiveAllReduce.experimental_aggregate_gradients");
  wrong(
      "tensorflow { multi_worker_mirrored { collective_all_reduce { "
      "experimental_aggregate_gradients: false } } } "
      "update: AFTER_ALL",
      "conflict Strategy.update");
  wrong("tensorflow { multi_worker_mirrored { communication_options { } } } update: PER_PACK",
        "conflict Strategy.update");
  wrong(
      "tensorflow { multi_worker_mirrored { communication_options { } } multi_worker_all_reduce { "
      "all_reduce_spec { } "
      "} }",
      "conflict TensorFlow.multi_worker_all_reduce");
  wrong("tensorflow { multi_worker_mirrored { communication_options { } } } pytorch_ddp { }",
        "conflict Strategy.pytorch_ddp");
  wrong("tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: -1 } } }",
        "too-small CommunicationOptions.bytes_per_pack");
  wrong("tensorflow { multi_worker_mirrored { communication_options { implementation: MPI } } }",
        "unknown-name CommunicationOptions.implementation");
  wrong(
      "tensorflow { multi_worker_mirrored { communication_options { } } } collective: "
      "REDUCE_SCATTER",
      "conflict Strategy.algorithm");
}

// --- tf_ring ---

TEST(TfRingOfAScenario, ErrorsAreExplained) {
  const auto wrong = [](const std::string& strategy, const std::string& kind) {
    EXPECT_THAT(test::kinds_of(read_on_two("algorithm: \"tf_ring\" " + strategy)),
                ElementsAre(kind))
        << strategy;
  };
  for (const char* align : {"16", "32", "64"})
    EXPECT_TRUE(
        read_on_two(fmt::format("algorithm: \"tf_ring\" tf_ring {{ align_bytes: {} }}", align)))
        << align;
  wrong("tf_ring { align_bytes: 48 }", "invalid TfRing.align_bytes");
  EXPECT_TRUE(read_on_two("algorithm: \"tf_ring\" shards: 2"));
  wrong("shards: 3", "conflict Strategy.shards");
  wrong("shards: 2 tf_ring { subdiv_offsets: 0 }", "conflict Strategy.tf_ring");
  for (const int offset : {-7, 7})
    EXPECT_TRUE(
        read_on_two(fmt::format("algorithm: \"tf_ring\" tf_ring {{ subdiv_offsets: {} }}", offset)))
        << offset;
  wrong("tf_ring { subdiv_offsets: 8 }", "conflict Strategy.tf_ring");
  wrong("tf_ring { gpu_ring_order: \"0,1,2\" }", "conflict Strategy.tf_ring");
  wrong("pad_packs: true", "conflict Strategy.pad_packs");
  wrong("collective: ALL_GATHER out_of_place: true shards: 2", "conflict Strategy.tf_ring");
}

TEST(TfRingOfAScenario, GpusFollowTheirNvlinksUnlessAnOrderIsSet) {
  // In a DGX-1, NVLink connects GPUs 0 to 3 with each other, 4 to 7 with each other, and i with i +
  // 4.
  const Scenario s = planned("algorithm: \"tf_ring\"");
  EXPECT_THAT(device_order(s.cluster->machine(0), 8, ""), ElementsAre(0, 1, 2, 3, 7, 4, 5, 6));
  const Scenario ordered =
      planned("algorithm: \"tf_ring\" tf_ring { gpu_ring_order: \"7,6,5,4,3,2,1,0\" }");
  const Schedule& schedule = *ordered.plan.collective(ordered.plan.packs.front()).schedule;
  EXPECT_EQ(schedule.step(7, 1, 0).to.rank(7, 16), 6);
  EXPECT_EQ(schedule.step(0, 1, 0).to.rank(0, 16), 15);
}

}  // namespace
}  // namespace tutti::core
