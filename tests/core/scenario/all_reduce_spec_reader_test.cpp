// all_reduce_spec in a scenario: what it means, and what the user is told who makes a mistake.

#include "core/framework/tensorflow/all_reduce_spec_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/rewrite.h"
#include "core/scenario/scenario.h"
#include "core/strategy/plan_digest.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& strategy, int workers = 2,
                    const std::string& workload =
                        "variable { name: \"small\" shape: 100 } "
                        "variable { name: \"large\" shape: [100, 1001] }") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"dgx1-v100\" count: {} }} network {{ kind: ONE_SWITCH latency_us: 1 }} }}\n"
      "workload {{ {} }}\nstrategy {{ {} }}\n",
      workers, workload, strategy);
}

Expected<Scenario> read(const std::string& text) {
  return read_scenario(text, "f", Library(test::source_folder() + "/scenarios"));
}

std::string errors_of(const std::string& strategy, int workers = 2) {
  const auto scenario = read(text_of(strategy, workers));
  return scenario ? "" : scenario.error().message();
}

Scenario good(const std::string& strategy, int workers = 2) {
  auto scenario = read(text_of(strategy, workers));
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return scenario ? std::move(*scenario) : Scenario{};
}

TEST(AllReduceSpecReader, EntriesAndTextSayTheSame) {
  const Scenario entries = good(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" shards: 2 limit: 2048 } "
      "entry { algorithm: \"xring\" shards: 4 } } } }");
  const Scenario python = good(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"[('pscpu', 2, 2048), ('xring', 4)]\" } } }");
  EXPECT_EQ(plan_digest(entries), plan_digest(python));
  EXPECT_EQ(describe(entries.strategy), "pscpu#2:2048:xring#4 (limits in bytes)");
  EXPECT_EQ(
      describe(
          good("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu#2:2k:xring#4\" } } }").strategy),
      "pscpu#2:2048:xring#4 (limits in elements)");
  EXPECT_NE(
      plan_digest(good("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu#2:2k:xring#2\" } } }")),
      plan_digest(python));
}

TEST(AllReduceSpecReader, LimitsAreBytesOrElementsByWhoseTextItIs) {
  const auto entries = [](const std::string& spec) {
    std::vector<int> list;
    const Scenario s = good("tensorflow { multi_worker_all_reduce { all_reduce_spec { " + spec + " } } }");
    for (const Pack& pack : s.plan.packs) list.push_back(pack.entry);
    return list;
  };
  EXPECT_EQ(entries("text: \"pscpu:100:xring\""), (std::vector<int>{0, 1}));
  EXPECT_EQ(entries("text: \"[('pscpu',1,100),('xring',1,-1)]\""), (std::vector<int>{1, 1})) << "400 bytes";
  EXPECT_EQ(entries("text: \"[('pscpu',1,100),('xring',1,-1)]\" limit_unit: ELEMENTS"), (std::vector<int>{0, 1}));
  EXPECT_EQ(entries("text: \"pscpu:100:xring\" limit_unit: BYTES"), (std::vector<int>{1, 1}));
  EXPECT_EQ(entries("text: \"pscpu:100:xring\" api: MULTI_WORKER_ALL_REDUCE"), (std::vector<int>{1, 1}));
}

TEST(AllReduceSpecReader, EmptyItIsTensorFlowsDefault) {
  EXPECT_EQ(describe(good("tensorflow { multi_worker_all_reduce { all_reduce_spec {} } }").strategy), "pscpu/pscpu#2");
  EXPECT_THAT(errors_of("tensorflow { multi_worker_all_reduce { all_reduce_spec {} } }", 1),
              HasSubstr("all_reduce_spec: TensorFlow's default, pscpu/pscpu#2: 2 shards are more than the 1 workers"));
}

/// One clear line each, with the field and the remedy.
TEST(AllReduceSpecReader, MistakesAreToldWhereTheyStand) {
  const auto says = [](const std::string& strategy, const std::string& place, const std::string& words,
                       int workers = 2) {
    const std::string errors = errors_of(strategy, workers);
    EXPECT_THAT(errors, HasSubstr(words)) << strategy;
    EXPECT_THAT(errors, HasSubstr("f:3:" + place + ": ")) << strategy;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 0) << errors;
  };
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"xrign\" } } } }", "88",
       "entry 1: algorithm: TensorFlow's all_reduce_spec knows no \"xrign\"; did you mean \"xring\"?");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"rechd\" } } } }", "88",
       "take nccl/rechd here, or strategy { algorithm: \"rechd\" }");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { shards: 2 } } } }", "75",
       "entry 1: algorithm: algorithm is missing; say one of nccl, nccl/xring");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" shards: 3 } } } }", "104",
       "entry 1: shards: 3 shards are more than the 2 workers whose CPUs could sum them; take at most 2");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" shards: 0 } } } }", "104",
       "shards must be at least 1 (got 0)");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"nccl/rechd\" } } } }", "88",
       "needs a power of two of workers (here 6)", 6);
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"nccl/xring\" shards: 2 } } } }",
       "109", "nccl/xring has one ring across workers");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"nccl/pscpu\" shards: 3 } } } }",
       "109", "nccl/pscpu always sums on all of them");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"xring\" shards: 9 } } } }", "104",
       "take at most 8");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"xring\" limit: 100 } } } }",
       "103", "entry 1: limit: the last entry, xring, takes gradients up to 100 only");
  says(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" } entry { algorithm: "
      "\"xring\" } } } }",
      "75", "pscpu has no limit, so that nothing is left for the entries behind it");
  says(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" limit: 9 } entry { "
      "algorithm: \"psgpu\" limit: 9 } entry { algorithm: \"xring\" } } } }",
      "141", "limit 9 is not above that of the entry before, 9");
  says(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" limit: 0 } entry { "
      "algorithm: \"xring\" } } } }",
      "103", "limit must be above 0");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } num_packs: -1 } }", "96",
       "num_packs must be at least 0 (got -1)");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:2q:xring\" } } }", "75",
       "\"pscpu:2q:xring\", character 7: expected a limit behind \"pscpu:\", such as 2048 or 2k (got \"2q\")");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"\" } } }", "75",
       "character 1: expected an algorithm");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:2k:xring#9\" } } }", "75",
       "\"pscpu:2k:xring#9\", entry 2: 9 rings cannot be rotated");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"None\" } } }", "75", "names no algorithm");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" entry { algorithm: \"xring\" } } } }",
       "75", "text and entry both list algorithms");
  says("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" result_order: BY_ENTRY } } }", "97",
       "tf_cnn_benchmarks keeps every gradient");
  says("algorithm: \"ring\" tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "23",
       "algorithm: tensorflow decides that by itself");
  says("shards: 2 tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "20",
       "shards: tensorflow decides that by itself");
  says("bytes_per_pack: 2 tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "30",
       "exclude each other");
  says("all_reduce_merge_scope: 2 tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "36",
       "tensorflow packs by rules of its own");
  says("merging: CONCAT tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "21",
       "merging does nothing");
  says("collective: BROADCAST tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "24",
       "collective: tensorflow decides that by itself");
  says("channels: 2 tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", "22",
       "no entry of all_reduce_spec has channels");
  says("agg_small_grads_exact_group: true algorithm: \"ring\"", "41", "does nothing without agg_small_grads_max_bytes");
}

TEST(AllReduceSpecReader, WithNumPacksAndSmallGradientsOnlyTheLetterIsClear) {
  const auto both = [](const std::string& validation) {
    return "tensorflow { multi_worker_all_reduce { num_packs: 2 agg_small_grads_max_bytes: 100 all_reduce_spec { text: "
           "\"xring\" " +
           validation + " } } }";
  };
  EXPECT_THAT(errors_of(both("")), HasSubstr("num_packs and agg_small_grads_max_bytes are two ways of packing"));
  EXPECT_EQ(good(both("validation: LITERAL")).plan.packs.size(), 2u) << "TensorFlow takes num_packs";
}

TEST(AllReduceSpecReader, CommunicatorsThatSplitTheModelAreRefused) {
  const auto scenario = read(text_of("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"nccl\" } } }") +
                             "communicator { name: \"tensor\" size: 2 algorithm: \"nccl\" splits_model: true }");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message(), HasSubstr("all_reduce_spec reduces over all replicas"));
}

TEST(AllReduceSpecReader, OneBufferIsReducedByTheEntryOfItsSize) {
  const std::string text =
      text_of("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:2k:xring\" } } }");
  for (const auto& [elements, entry] : std::vector<std::pair<std::int64_t, int>>{{2048, 0}, {2049, 1}}) {
    OneBuffer one;
    one.elements = elements;
    const auto scenario = read(with_one_buffer(text, "f", one));
    ASSERT_TRUE(scenario) << scenario.error().message();
    EXPECT_EQ(scenario->plan.packs[0].entry, entry);
  }
}

TEST(TensorFlowSpec, ShapesAreKnown) {
  for (const test::Data& c : test::golden_cases("all_reduce.flatten")) {
    SCOPED_TRACE(test::golden_name(c));
    ASSERT_TRUE(c["input"]["shape"].items()[0].is_null());
    const auto scenario = read(text_of("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }",
                                       2, "variable { name: \"v\" shape: -1 }"));
    ASSERT_FALSE(scenario);
    EXPECT_THAT(scenario.error().message(), HasSubstr("sides of its shape must be 0 or more"));
  }
}

}  // namespace
}  // namespace tutti::core
