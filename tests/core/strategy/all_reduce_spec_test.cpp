// TensorFlow's all_reduce_spec: the texts and Python values that users write, the names of
// algorithms, which entry takes a gradient, and the strategy of an entry.

#include "core/strategy/all_reduce_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/framework/tensorflow/spec_text.h"
#include "core/strategy/strategy.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using test::Data;
using test::golden_cases;
using testing::ElementsAre;

using Tuple = std::tuple<std::string, int, std::int64_t>;

std::vector<Tuple> tuples(const std::vector<SpecEntry>& entries) {
  std::vector<Tuple> list;
  for (const SpecEntry& e : entries) list.emplace_back(e.name, e.shards, e.limit);
  return list;
}

std::vector<Tuple> tuples(const Data& list) {
  std::vector<Tuple> all;
  for (const Data& item : list.items()) {
    const std::vector<Data> parts = item.items();
    all.emplace_back(parts[0].text(), static_cast<int>(parts[1].number()), parts[2].number());
  }
  return all;
}

AllReduceSpec spec_of(std::string_view text) {
  auto read = parse_spec(text);
  EXPECT_TRUE(read) << text << ": " << (read ? "" : read.error().text);
  AllReduceSpec spec;
  if (!read) return spec;
  spec.entries = std::move(read->entries);
  spec.api = read->api;
  return spec;
}

std::vector<LimitedGradient> float32(const std::vector<std::int64_t>& elements) {
  std::vector<LimitedGradient> gradients;
  for (const std::int64_t e : elements) gradients.push_back({e, Bytes(4 * e)});
  return gradients;
}

// --- texts of TensorFlow's users ---

TEST(TensorFlowSpec, CompletesPythonSpecsLikeMultiWorkerAllReduce) {
  for (const Data& c : golden_cases("MultiWorkerAllReduce.all_reduce_spec")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto read = parse_spec(c["input"]["all_reduce_spec"].text());
    if (c["expected"].has("error")) {
      ASSERT_FALSE(read);
      // The first case is a string in a list, the other a tuple of four.
      EXPECT_EQ(read.error().at, c["id"].text() == "spec-err-str-in-list" ? 1u : 0u);
      continue;
    }
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->api, SpecApi::kMultiWorkerAllReduce);
    if (c["expected"].has("spec")) {
      EXPECT_EQ(tuples(read->entries), tuples(c["expected"]["spec"]));
      continue;
    }
    // The spec is accepted whatever its limits are, and then no entry takes one of the gradients.
    EXPECT_EQ(c["expected"]["construction"].text(), "accepted");
    AllReduceSpec spec;
    spec.entries = read->entries;
    spec.limit_unit = LimitUnit::kElements;
    spec.validation = SpecValidation::kLiteral;
    EXPECT_TRUE(problems_of(spec).empty());
    EXPECT_THAT(entries_of(spec, float32(c["input"]["tensor_elements"].numbers())),
                ElementsAre(-1));
  }
}

TEST(TensorFlowSpec, ReadsTextLikeTfCnnBenchmarks) {
  for (const Data& c : golden_cases("tf_cnn_benchmarks all_reduce_spec grammar")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto read = parse_spec(c["input"]["spec"].text());
    if (c["expected"].has("error")) {
      ASSERT_FALSE(read);
      EXPECT_EQ(read.error().at, 6u) << "behind \"xring#\"";
      continue;
    }
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->api, SpecApi::kTfCnnBenchmarks);
    EXPECT_EQ(tuples(read->entries), tuples(c["expected"]["tuples"]));
  }
}

TEST(TensorFlowSpec, ReadsTheExampleOfTheDocumentation) {
  const auto read = parse_spec("pscpu:2k:pscpu#2:64k:xring");
  ASSERT_TRUE(read);
  EXPECT_THAT(tuples(read->entries), ElementsAre(Tuple{"pscpu", 1, 2048}, Tuple{"pscpu", 2, 65536},
                                                 Tuple{"xring", 1, -1}));
  EXPECT_THAT(read->places, ElementsAre(0u, 9u, 21u));
  EXPECT_EQ(to_text(spec_of("pscpu:2k:pscpu#2:64k:xring")), "pscpu:2048:pscpu#2:65536:xring");
}

TEST(TensorFlowSpec, SuffixesArePowersOf1024) {
  for (const auto& [text, limit] :
       std::vector<std::pair<std::string, std::int64_t>>{{"1K", 1 << 10},
                                                         {"3M", 3 << 20},
                                                         {"2G", std::int64_t{2} << 30},
                                                         {"1T", std::int64_t{1} << 40},
                                                         {"7", 7}}) {
    EXPECT_EQ(spec_of("nccl:" + text + ":xring").entries[0].limit, limit) << text;
  }
}

TEST(TensorFlowSpec, ErrorsStateTheCharacter) {
  for (const auto& [text, at] :
       std::vector<std::pair<std::string, std::size_t>>{{"", 0},
                                                        {"pscpu:2k", 8},
                                                        {"pscpu:2q:xring", 6},
                                                        {"pscpu:-1:xring", 6},
                                                        {"pscpu:9223372036854775807k:xring", 6},
                                                        {"pscpu:2k:", 9},
                                                        {"pscpu#0:2k:xring", 6},
                                                        {"xring#", 6},
                                                        {"('xring', 2", 0},
                                                        {"('xring' 2)", 9},
                                                        {"('xring', 2.5)", 10},
                                                        {"(2, 'xring')", 1},
                                                        {"('xring', 2) x", 13},
                                                        {"'xring", 0},
                                                        {"()", 0},
                                                        {"[('xring', 'a')]", 11},
                                                        {"[[[[[[[[[[[[[", 9},
                                                        {"('xring', 99999999999999999999)", 10}}) {
    const auto read = parse_spec(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().at, at) << text << ": " << read.error().text;
    EXPECT_FALSE(read.error().text.empty()) << text;
  }
}

TEST(TensorFlowSpec, ParenthesesAloneAreNotATuple) {
  EXPECT_THAT(tuples(spec_of("('pscpu')").entries), ElementsAre(Tuple{"pscpu", 1, -1}));
  EXPECT_THAT(tuples(spec_of(" [ ( \"nccl\" , ) , ] ").entries), ElementsAre(Tuple{"nccl", 1, -1}));
  EXPECT_TRUE(spec_of("[]").entries.empty());
}

// --- names of algorithms ---

TEST(TensorFlowSpec, RefusesAlgorithmsThatTensorFlowDoesNotHave) {
  for (const Data& c : golden_cases("MultiWorkerAllReduce.alg")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::string name = c["input"]["alg"].text();
    const AllReduceSpec spec = spec_of("'" + name + "'");
    EXPECT_FALSE(spec.entries[0].algorithm);
    const auto problems = problems_of(spec);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].field, "algorithm");
    EXPECT_EQ(problems[0].code,
              name == "rechd" ? ProblemCode::kUnsupported : ProblemCode::kUnknownName);
  }
  EXPECT_EQ(spec_algorithm_names().size(), 8u);
}

// --- the entry of a gradient ---

TEST(AllReduceSpec, LimitsAreInclusive) {
  AllReduceSpec spec = spec_of("pscpu:100:xring:200:nccl");
  spec.limit_unit = LimitUnit::kElements;
  EXPECT_THAT(entries_of(spec, float32({100, 101, 200, 201, 0})), ElementsAre(0, 1, 1, 2, 0));
  spec.limit_unit = LimitUnit::kBytes;
  EXPECT_THAT(entries_of(spec, float32({25, 26, 50, 51, 0})), ElementsAre(0, 1, 1, 2, 0));
}

TEST(TensorFlowSpec, ResultsAreOrderedByEntry) {
  for (const Data& c : golden_cases("MultiWorkerAllReduce.result_order")) {
    SCOPED_TRACE(test::golden_name(c));
    AllReduceSpec spec = spec_of(c["input"]["all_reduce_spec"].text());
    spec.limit_unit = LimitUnit::kElements;
    const auto entries =
        entries_of(spec, float32(c["input"]["tensor_elements_in_input_order"].numbers()));
    EXPECT_EQ(result_order(entries), c["expected"]["result_list_corresponds_to_inputs"].ints());
  }
}

// --- the strategy of an entry ---

TEST(AllReduceSpec, EntriesHaveTheDefaultsOfTheirAlgorithm) {
  Strategy strategy = Strategy::for_algorithm(BaseAlgorithm::kXring);
  strategy.spec = spec_of("nccl#3:1k:pscpu#2:64k:xring#4");
  strategy.channels = 5;
  const Strategy nccl = for_entry(strategy, 0), pscpu = for_entry(strategy, 1),
                 xring = for_entry(strategy, 2);
  EXPECT_EQ(nccl.staging, Staging::kDirect);
  EXPECT_EQ(nccl.launch, Launch::kSerial);
  EXPECT_EQ(nccl.shards, 1) << "TensorFlow ignores them";
  EXPECT_EQ(nccl.channels, 5);
  EXPECT_EQ(pscpu.staging, Staging::kViaHost);
  EXPECT_EQ(pscpu.shards, 2);
  EXPECT_EQ(pscpu.channels, std::nullopt);
  EXPECT_EQ(xring.launch, Launch::kConcurrent);
  EXPECT_EQ(xring.shards, 4);
  for (const Strategy& one : {nccl, pscpu, xring}) EXPECT_FALSE(one.spec);
  strategy.staging = Staging::kDirect;
  strategy.requested_staging = true;
  EXPECT_EQ(for_entry(strategy, 1).staging, Staging::kDirect)
      << "the setting applies to all entries";
}

TEST(AllReduceSpec, TheDefaultNeedsTwoWorkers) {
  Strategy strategy =
      Strategy::for_algorithm(AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu));
  strategy.spec = AllReduceSpec::usual();
  EXPECT_EQ(to_text(*strategy.spec), "pscpu/pscpu#2");
  const auto gpus = [](int workers) {
    return std::make_shared<const Cluster>(
        std::vector<WorkerGroup>{{test::switch_machine(2), workers}}, 2,
        Network{Network::Kind::kOneSwitch, std::nullopt, microseconds(1), "test"});
  };
  EXPECT_TRUE(problems_on(strategy, 0, *gpus(2)).empty());
  const auto problems = problems_on(strategy, 0, *gpus(1));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].field, "shards");
  EXPECT_EQ(problems[0].code, ProblemCode::kConflict);
}

TEST(TensorFlowSpec, XringNeedsTwoTensors) {
  for (const Data& c : golden_cases("xring.build")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto cluster =
        test::plain_cluster(static_cast<int>(c["input"]["input_tensors"].number()));
    const auto problems = problems_of(Strategy::for_algorithm(BaseAlgorithm::kXring), *cluster);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].field, "algorithm");
    EXPECT_EQ(problems[0].code, ProblemCode::kConflict);
  }
}

}  // namespace
}  // namespace tutti::core
