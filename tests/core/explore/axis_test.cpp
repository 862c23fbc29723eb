#include "core/explore/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/explore/space.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> values(const std::string& written) {
  const auto axis = parse_axis("--over", written);
  EXPECT_TRUE(axis) << (axis ? "" : axis.error().message());
  std::vector<std::string> all;
  for (const auto& row : axis ? axis->rows : std::vector<std::vector<std::string>>()) all.push_back(row.front());
  return all;
}

std::string error(const std::string& written) {
  const auto axis = parse_axis("--over", written);
  return axis ? "" : axis.error().message();
}

TEST(Axis, IsAListOfValues) {
  EXPECT_THAT(values("strategy.shards=1,2,8"), ElementsAre("1", "2", "8"));
  EXPECT_THAT(values("strategy.algorithm=ring,nccl/pscpu"), ElementsAre("ring", "nccl/pscpu"));
  EXPECT_THAT(values("strategy.launch=SERIAL,CONCURRENT"), ElementsAre("SERIAL", "CONCURRENT"));
  EXPECT_THAT(values("strategy.shards=2,1,2"), ElementsAre("2", "1")) << "what comes again is left out";
  EXPECT_THAT(values("strategy.shards=,2"), ElementsAre("", "2")) << "nothing: not written";
  EXPECT_THAT(values("strategy.tensorflow.multi_worker_all_reduce.all_reduce_spec.text=\"[('xring', 2)]\",nccl"),
              ElementsAre("[('xring', 2)]", "nccl"));
}

TEST(Axis, RangesAreGeometricOrLinearAndHoldTheirEnds) {
  EXPECT_THAT(values("strategy.shards=1..8*2"), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(values("strategy.shards=1..7*2"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(values("cluster.workers.count=2..8+3"), ElementsAre("2", "5", "8"));
  EXPECT_THAT(values("cluster.network.bandwidth_gb_per_s=0.5..1.5+0.25"),
              ElementsAre("0.5", "0.75", "1", "1.25", "1.5"));
  EXPECT_THAT(values("strategy.shards=1..2*1.2"), ElementsAre("1", "2"))
      << "whole numbers that come again are left out";
  EXPECT_THAT(values("strategy.bytes_per_pack=0,64KiB..1MiB*4,25MB"),
              ElementsAre("0", "65536", "262144", "1048576", "25000000"));
  EXPECT_EQ(values("strategy.bytes_per_pack=1KiB..1GiB*1.1").size(), 146u) << "ln(2^20)/ln(1.1) = 145.4, and the first";
}

TEST(Axis, SaysWhatIsWrongWithIt) {
  EXPECT_THAT(error("strategy.shards"), HasSubstr("expected a field of the scenario and its values"));
  EXPECT_THAT(error("strategy.shard=1"), HasSubstr("did you mean \"shards\"?"));
  EXPECT_THAT(error("strategy=1"), HasSubstr("has fields of its own; name one of them, such as strategy.algorithm"));
  EXPECT_THAT(error("strategy.shards=two"), HasSubstr("\"two\" is no number"));
  EXPECT_THAT(error("strategy.shards=1.5"), HasSubstr("shards is a whole number"));
  EXPECT_THAT(error("strategy.shards=2KiB"), HasSubstr("shards does not count bytes"));
  EXPECT_THAT(error("strategy.pytorch_ddp.bucket_cap_mb=1MiB..8MiB*2"), HasSubstr("does not count bytes"));
  EXPECT_THAT(error("strategy.launch=SERIALLY"), HasSubstr("is one of CONCURRENT, SERIAL"));
  EXPECT_THAT(error("strategy.shards=1..8"), HasSubstr("does not say how it goes on"));
  EXPECT_THAT(error("strategy.shards=8..1*2"), HasSubstr("ends before it begins"));
  EXPECT_THAT(error("strategy.shards=0..8*2"), HasSubstr("never gets to its end"));
  EXPECT_THAT(error("strategy.shards=1..8*1"), HasSubstr("never gets to its end"));
  EXPECT_THAT(error("strategy.shards=1..8+0"), HasSubstr("never gets to its end"));
  EXPECT_THAT(error("run.seed=1..100000000+1"), HasSubstr("has more than 10000000 values"));
  EXPECT_THAT(error("strategy.algorithm=\"ring"), HasSubstr("a quote that is not closed"));
}

TEST(Points, AreATableOfFieldsThatVaryTogether) {
  const auto axis = read_points("strategy.algorithm,strategy.shards\nring,\nxring,2\n", "p.csv");
  ASSERT_TRUE(axis) << axis.error().message();
  EXPECT_THAT(axis->fields, ElementsAre("strategy.algorithm", "strategy.shards"));
  EXPECT_THAT(axis->rows, ElementsAre(ElementsAre("ring", ""), ElementsAre("xring", "2")));
  EXPECT_THAT(read_points("strategy.algorithm\n", "p.csv").error().message(), HasSubstr("no row below"));
  EXPECT_THAT(read_points("strategy.shards\n1\nx\n", "p.csv").error().message(),
              HasSubstr("p.csv:3:1: \"x\" is no number"));
  EXPECT_THAT(read_points("strategy.shard\n1\n", "p.csv").error().message(), HasSubstr("p.csv:1:1"));
}

TEST(Space, VisitsEveryCombinationOnceTheLastAxisFastest) {
  const auto space =
      Space::of({*parse_axis("", "strategy.shards=1,2"), *parse_axis("", "strategy.bytes_per_pack=0,5,7")});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 6);
  std::vector<std::string> visited;
  for (std::int64_t p = 0; p < space->size(); ++p) {
    visited.push_back(space->values(p)[0] + "/" + space->values(p)[1]);
    EXPECT_EQ(space->point(space->rows(p)), p);
  }
  EXPECT_THAT(visited, ElementsAre("1/0", "1/5", "1/7", "2/0", "2/5", "2/7"));
  EXPECT_EQ(space->overrides(5)[1].said, "strategy.bytes_per_pack=7");
}

TEST(Space, RefusesAFieldTwiceAndTooManyPoints) {
  const auto twice = Space::of({*parse_axis("", "strategy.shards=1,2"), *parse_axis("", "strategy.shards=3")});
  EXPECT_THAT(twice.error().message(), HasSubstr("strategy.shards is varied twice"));
  const auto many = Space::of({*parse_axis("", "run.seed=1..10000+1"), *parse_axis("", "strategy.shards=1..10000+1")});
  EXPECT_THAT(many.error().message(), HasSubstr("more than 10000000 points"));
}

}  // namespace
}  // namespace tutti::core
