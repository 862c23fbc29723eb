#include "core/explore/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/explore/default_axes.h"
#include "core/explore/space.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;

std::vector<std::string> values(const std::string& written) {
  const auto axis = parse_axis("--over", written);
  EXPECT_TRUE(axis) << (axis ? "" : axis.error().message());
  std::vector<std::string> all;
  for (const auto& row : axis ? axis->rows : std::vector<std::vector<std::string>>())
    all.push_back(row.front());
  return all;
}

TEST(Axis, IsAListOfValues) {
  EXPECT_THAT(values("strategy.shards=1,2,8"), ElementsAre("1", "2", "8"));
  EXPECT_THAT(values("strategy.algorithm=ring,nccl/pscpu"), ElementsAre("ring", "nccl/pscpu"));
  EXPECT_THAT(values("strategy.launch=SERIAL,CONCURRENT"), ElementsAre("SERIAL", "CONCURRENT"));
  EXPECT_THAT(values("strategy.shards=2,1,2"), ElementsAre("2", "1"))
      << "repeated values are omitted";
  EXPECT_THAT(values("strategy.shards=,2"), ElementsAre("", "2"))
      << "an empty value leaves the field unset";
  EXPECT_THAT(values("strategy.tensorflow.multi_worker_all_reduce.all_reduce_spec.text=\"[('xring',"
                     " 2)]\",nccl"),
              ElementsAre("[('xring', 2)]", "nccl"));
}

TEST(Axis, RangesAreGeometricOrLinearAndIncludeBothEnds) {
  EXPECT_THAT(values("strategy.shards=1..8*2"), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(values("strategy.shards=1..7*2"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(values("cluster.workers.count=2..8+3"), ElementsAre("2", "5", "8"));
  EXPECT_THAT(values("cluster.network.bandwidth_gb_per_s=0.5..1.5+0.25"),
              ElementsAre("0.5", "0.75", "1", "1.25", "1.5"));
  EXPECT_THAT(values("strategy.shards=1..2*1.2"), ElementsAre("1", "2"))
      << "repeated whole numbers are omitted";
  EXPECT_THAT(values("strategy.bytes_per_pack=0,64KiB..1MiB*4,25MB"),
              ElementsAre("0", "65536", "262144", "1048576", "25000000"));
  EXPECT_EQ(values("strategy.bytes_per_pack=1KiB..1GiB*1.1").size(), 146u)
      << "ln(2^20)/ln(1.1) = 145.4, and the first";
}

TEST(Axis, ReportsSyntaxErrors) {
  const auto wrong = [](const std::string& written, const std::string& code) {
    EXPECT_THAT(test::kinds_of(parse_axis("--over", written)), ElementsAre(code + " --over"))
        << written;
  };
  wrong("strategy.shards", "syntax");
  wrong("=1", "syntax");
  wrong("strategy.shard=1", "unknown-field");
  wrong("strategy=1", "wrong-type");
  wrong("strategy.shards=two", "wrong-type");
  wrong("strategy.shards=1.5", "wrong-type");
  wrong("strategy.shards=2KiB", "conflict");
  wrong("strategy.pytorch_ddp.bucket_cap_mb=1MiB..8MiB*2", "conflict");
  wrong("strategy.launch=SERIALLY", "unknown-name");
  wrong("strategy.pad_packs=maybe", "wrong-type");
  wrong("run.seed=99999999999999999", "too-large");
  wrong("strategy.shards=1..8", "syntax");
  wrong("strategy.shards=8..1*2", "too-small");
  wrong("strategy.shards=0..8*2", "invalid");
  wrong("strategy.shards=1..8*1", "invalid");
  wrong("strategy.shards=1..8+0", "invalid");
  wrong("run.seed=1..100000000+1", "too-large");
  wrong("strategy.algorithm=\"ring", "syntax");
}

TEST(Points, ListFieldsThatVaryTogether) {
  const auto axis = read_points("strategy.algorithm,strategy.shards\nring,\nxring,2\n", "p.csv");
  ASSERT_TRUE(axis) << axis.error().message();
  EXPECT_THAT(axis->fields, ElementsAre("strategy.algorithm", "strategy.shards"));
  EXPECT_THAT(axis->rows, ElementsAre(ElementsAre("ring", ""), ElementsAre("xring", "2")));
  using test::Mistake;
  EXPECT_THAT(read_points("strategy.algorithm\n", "p.csv"),
              test::FailsWith(Mistake{ProblemCode::kMissing, "", 0, 0, "p.csv"}));
  EXPECT_THAT(read_points("strategy.shards\n1\nx\n", "p.csv"),
              test::FailsWith(Mistake{ProblemCode::kWrongType, "strategy.shards", 3, 1, "p.csv"}));
  EXPECT_THAT(
      read_points("strategy.shard\n1\n", "p.csv"),
      test::FailsWith(Mistake{ProblemCode::kUnknownField, "strategy.shard", 1, 1, "p.csv"}));
}

TEST(Space, VisitsEveryCombinationOnceWithTheLastAxisFastest) {
  const auto space = Space::of(
      {*parse_axis("", "strategy.shards=1,2"), *parse_axis("", "strategy.bytes_per_pack=0,5,7")});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 6);
  std::vector<std::string> visited;
  for (std::int64_t p = 0; p < space->size(); ++p) {
    visited.push_back(space->values(p)[0] + "/" + space->values(p)[1]);
    EXPECT_EQ(space->point(space->rows(p)), p);
  }
  EXPECT_THAT(visited, ElementsAre("1/0", "1/5", "1/7", "2/0", "2/5", "2/7"));
  EXPECT_EQ(space->overrides(5)[1].label, "strategy.bytes_per_pack=7");
}

TEST(Space, RefusesAFieldTwiceAndTooManyPoints) {
  const auto twice =
      Space::of({*parse_axis("", "strategy.shards=1,2"), *parse_axis("", "strategy.shards=3")});
  EXPECT_THAT(test::kinds_of(twice), ElementsAre("duplicate --over"));
  const auto many = Space::of(
      {*parse_axis("", "run.seed=1..10000+1"), *parse_axis("", "strategy.shards=1..10000+1")});
  EXPECT_THAT(test::kinds_of(many), ElementsAre("too-large --over"));
}

TEST(DefaultAxes, OfferCombinationsOnlyForSeveralWorkers) {
  const auto algorithms = [](int workers) {
    const auto scenario = read_scenario(
        "cluster { workers { machine: \"hgx-h100\" count: " + std::to_string(workers) +
            " } network { kind: ONE_SWITCH link: \"ndr\" } } workload { variable { name: \"a\" "
            "shape: 256 } update_ms: 0 } strategy { algorithm: \"nccl\" }",
        "s", test::shipped_library());
    EXPECT_TRUE(scenario) << scenario.error().message();
    const auto axes = default_axes(*scenario);
    EXPECT_TRUE(axes);
    std::vector<std::string> names;
    for (const auto& row : axes->back().rows) names.push_back(row.front());
    return names;
  };
  EXPECT_THAT(algorithms(2), testing::Contains("nccl/ring"));
  EXPECT_THAT(algorithms(2), testing::Contains("pscpu/pscpu"));
  EXPECT_THAT(algorithms(1), testing::Not(testing::Contains(testing::HasSubstr("/"))))
      << "on one worker, nccl/ring is the same as nccl";
  EXPECT_THAT(algorithms(1), testing::Contains("nccl"));
}

}  // namespace
}  // namespace tutti::core
