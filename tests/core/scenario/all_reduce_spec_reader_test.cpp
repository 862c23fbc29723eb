// The field all_reduce_spec of a scenario: its meaning, and the errors that are reported for
// mistakes.

#include "core/framework/tensorflow/all_reduce_spec_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/plan_digest.h"
#include "core/scenario/rewrite.h"
#include "core/scenario/scenario.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

std::string text_of(const std::string& strategy, int workers = 2,
                    const std::string& workload =
                        "variable { name: \"small\" shape: 100 } "
                        "variable { name: \"large\" shape: [100, 1001] }") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"dgx1-v100\" count: {} }} network {{ kind: ONE_SWITCH "
      "latency_us: 1 }} }}\n"
      "workload {{ {} }}\nstrategy {{ {} }}\n",
      workers, workload, strategy);
}

Expected<Scenario> read_spec(const std::string& text) {
  return read_scenario(text, "f", test::shipped_library());
}

Scenario good_spec(const std::string& strategy, int workers = 2) {
  auto scenario = read_spec(text_of(strategy, workers));
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return scenario ? std::move(*scenario) : Scenario{};
}

TEST(AllReduceSpecReader, EntriesAndTextAreEquivalent) {
  const Scenario entries = good_spec(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { entry { algorithm: \"pscpu\" "
      "shards: 2 limit: 2048 } "
      "entry { algorithm: \"xring\" shards: 4 } } } }");
  const Scenario python = good_spec(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"[('pscpu', 2, 2048), "
      "('xring', 4)]\" } } }");
  EXPECT_EQ(plan_digest(entries), plan_digest(python));
  EXPECT_EQ(describe(entries.strategy), "pscpu#2:2048:xring#4 (limits in bytes)");
  EXPECT_EQ(describe(good_spec("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                               "\"pscpu#2:2k:xring#4\" } } }")
                         .strategy),
            "pscpu#2:2048:xring#4 (limits in elements)");
  EXPECT_NE(plan_digest(good_spec("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: "
                                  "\"pscpu#2:2k:xring#2\" } } }")),
            plan_digest(python));
}

TEST(AllReduceSpecReader, TheApiDeterminesWhetherLimitsAreBytesOrElements) {
  const auto entries = [](const std::string& spec) {
    std::vector<int> list;
    const Scenario s =
        good_spec("tensorflow { multi_worker_all_reduce { all_reduce_spec { " + spec + " } } }");
    for (const Pack& pack : s.plan.packs) list.push_back(pack.entry);
    return list;
  };
  EXPECT_EQ(entries("text: \"pscpu:100:xring\""), (std::vector<int>{0, 1}));
  EXPECT_EQ(entries("text: \"[('pscpu',1,100),('xring',1,-1)]\""), (std::vector<int>{1, 1}))
      << "400 bytes";
  EXPECT_EQ(entries("text: \"[('pscpu',1,100),('xring',1,-1)]\" limit_unit: ELEMENTS"),
            (std::vector<int>{0, 1}));
  EXPECT_EQ(entries("text: \"pscpu:100:xring\" limit_unit: BYTES"), (std::vector<int>{1, 1}));
  EXPECT_EQ(entries("text: \"pscpu:100:xring\" api: MULTI_WORKER_ALL_REDUCE"),
            (std::vector<int>{1, 1}));
}

TEST(AllReduceSpecReader, AnEmptySpecIsTensorFlowsDefault) {
  EXPECT_EQ(
      describe(good_spec("tensorflow { multi_worker_all_reduce { all_reduce_spec {} } }").strategy),
      "pscpu/pscpu#2");
  EXPECT_THAT(test::kinds_of(read_spec(
                  text_of("tensorflow { multi_worker_all_reduce { all_reduce_spec {} } }", 1))),
              testing::ElementsAre("conflict MultiWorkerAllReduce.all_reduce_spec"));
}

/// Each mistake yields one problem, at its place.
TEST(AllReduceSpecReader, ErrorsHavePositions) {
  const auto wrong = [](const std::string& strategy, const std::string& mark, ProblemCode code,
                        const std::string& field, int workers = 2) {
    const std::string text = text_of(strategy, workers);
    EXPECT_THAT(read_spec(text), test::FailsWithAll(std::vector{test::at(text, mark, code, field)}))
        << strategy;
  };
  using enum ProblemCode;
  const std::string entry = "entry ^{", algorithm = "SpecEntry.algorithm",
                    shards = "SpecEntry.shards", limit = "SpecEntry.limit",
                    text = "AllReduceSpec.text";
  const auto entries = [](const std::string& all) {
    return "tensorflow { multi_worker_all_reduce { all_reduce_spec { " + all + " } } }";
  };
  wrong(entries("entry { algorithm: \"xrign\" }"), "\"xrign", kUnknownName, algorithm);
  wrong(entries("entry { algorithm: \"rechd\" }"), "\"rechd", kUnsupported, algorithm);
  wrong(entries("entry { shards: 2 }"), entry, kMissing, algorithm);
  wrong(entries("entry { algorithm: \"pscpu\" shards: 3 }"), "shards: ^3", kConflict, shards);
  wrong(entries("entry { algorithm: \"pscpu\" shards: 0 }"), "shards: ^0", kTooSmall, shards);
  wrong(entries("entry { algorithm: \"nccl/rechd\" }"), "\"nccl/rechd", kConflict, algorithm, 6);
  wrong(entries("entry { algorithm: \"nccl/xring\" shards: 2 }"), "shards: ^2", kUnsupported,
        shards);
  wrong(entries("entry { algorithm: \"nccl/pscpu\" shards: 3 }"), "shards: ^3", kConflict, shards);
  wrong(entries("entry { algorithm: \"xring\" shards: 9 }"), "shards: ^9", kConflict, shards);
  wrong(entries("entry { algorithm: \"xring\" limit: 100 }"), "limit: ^100", kConflict, limit);
  wrong(entries("entry { algorithm: \"pscpu\" } entry { algorithm: \"xring\" }"), entry, kMissing,
        limit);
  wrong(
      entries(
          "entry { algorithm: \"pscpu\" limit: 9 } entry { algorithm: \"psgpu\" limit: 9 } entry { "
          "algorithm: \"xring\" }"),
      "\"psgpu\" limit: ^9", kTooSmall, limit);
  wrong(entries("entry { algorithm: \"pscpu\" limit: 0 } entry { algorithm: \"xring\" }"),
        "limit: ^0", kTooSmall, limit);
  wrong(
      "tensorflow { multi_worker_all_reduce { num_packs: -1 all_reduce_spec { text: \"xring\" } } "
      "}",
      "num_packs: ^-1", kTooSmall, "MultiWorkerAllReduce.num_packs");
  wrong(entries("text: \"pscpu:2q:xring\""), "text: ^", kSyntax, text);
  wrong(entries("text: \"\""), "text: ^", kSyntax, text);
  wrong(entries("text: \"pscpu:2k:xring#9\""), "text: ^", kConflict, text);
  wrong(entries("text: \"None\""), "text: ^", kMissing, text);
  wrong(entries("text: \"xring\" entry { algorithm: \"xring\" }"), "text: ^", kConflict, text);
  wrong(entries("text: \"xring\" result_order: BY_ENTRY"), "result_order: ^", kUnused,
        "AllReduceSpec.result_order");
  // Other fields that are set in addition to the spec.
  const auto beside = [&](const std::string& field, const std::string& value, ProblemCode code) {
    wrong(field + ": " + value +
              " tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }",
          field + ": ^", code, "Strategy." + field);
  };
  beside("algorithm", "\"ring\"", kConflict);
  beside("shards", "2", kConflict);
  wrong(
      "bytes_per_pack: 2 tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" "
      "} } }",
      "^tensorflow", kConflict, "Strategy.tensorflow");
  beside("all_reduce_merge_scope", "2", kConflict);
  beside("merging", "CONCAT", kUnused);
  beside("collective", "BROADCAST", kConflict);
  beside("channels", "2", kUnused);
  wrong("agg_small_grads_exact_group: true algorithm: \"ring\"", "agg_small_grads_exact_group: ^",
        kUnused, "Strategy.agg_small_grads_exact_group");
}

TEST(AllReduceSpecReader, RefusesBothPackingRulesUnlessValidationIsLiteral) {
  const std::string both =
      "tensorflow { multi_worker_all_reduce { num_packs: 2 agg_small_grads_max_bytes: 100 "
      "all_reduce_spec { text: "
      "\"xring\" ";
  EXPECT_THAT(test::kinds_of(read_spec(text_of(both + "} } }"))),
              testing::ElementsAre("conflict MultiWorkerAllReduce.agg_small_grads_max_bytes"));
  EXPECT_EQ(good_spec(both + "validation: LITERAL } } }").plan.packs.size(), 2u)
      << "TensorFlow takes num_packs";
}

TEST(AllReduceSpecReader, RefusesCommunicatorsThatSplitTheModel) {
  const auto scenario = read_spec(
      text_of("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"nccl\" } } }") +
      "communicator { name: \"tensor\" size: 2 algorithm: \"nccl\" splits_model: true }");
  EXPECT_THAT(test::kinds_of(scenario),
              testing::ElementsAre("conflict MultiWorkerAllReduce.all_reduce_spec"));
}

TEST(AllReduceSpecReader, ABufferUsesTheEntryOfItsSize) {
  const std::string text = text_of(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu:2k:xring\" } } }");
  for (const auto& [elements, entry] :
       std::vector<std::pair<std::int64_t, int>>{{2048, 0}, {2049, 1}}) {
    OneBuffer one;
    one.elements = elements;
    const auto scenario = read_spec(with_one_buffer(text, "f", one));
    ASSERT_TRUE(scenario) << scenario.error().message();
    EXPECT_EQ(scenario->plan.packs[0].entry, entry);
  }
}

TEST(TensorFlowSpec, ShapesAreKnown) {
  for (const test::Data& c : test::golden_cases("all_reduce.flatten")) {
    SCOPED_TRACE(test::golden_name(c));
    ASSERT_TRUE(c["input"]["shape"].items()[0].is_null());
    const auto scenario = read_spec(
        text_of("tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }", 2,
                "variable { name: \"v\" shape: -1 }"));
    EXPECT_THAT(test::kinds_of(scenario), testing::ElementsAre("invalid Variable.shape"));
  }
}

}  // namespace
}  // namespace tutti::core
