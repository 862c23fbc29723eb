// Promises about the times of NCCL's collectives: they are written and read back, and measurements
// are graded against them.

#include "core/advice/promise.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "core/nccl/collective_time.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

Scenario scenario(const std::string& strategy) {
  auto read = read_scenario(
      "cluster { workers { machine: \"dgx-a100\" count: 2 } network { kind: ONE_SWITCH link: "
      "\"hdr\" } }\n"
      "workload { variable { name: \"a\" shape: [1000, 1000] } variable { name: \"b\" shape: "
      "5000000 } forward_ms: 1 backward_ms: 2 }\nstrategy { " +
          strategy + " }\n",
      "p.textproto", test::shipped_library());
  if (!read) throw std::runtime_error(read.error().message());
  return std::move(*read);
}

TEST(PredictedSetting, HasTheCollectivesOfTheScenarioAndASeriesOfSizesForEachKind) {
  const Scenario read = scenario("algorithm: \"nccl\" bytes_per_pack: 0");
  const PredictedSetting promise = promise_of(read);
  std::map<CollectiveKind, int> series;
  int planned = 0;
  for (const PromisedCollective& one : promise.collectives) {
    EXPECT_EQ(one.ranks, 16);
    EXPECT_EQ(one.nodes, 2);
    EXPECT_LT(one.low_us, one.us);
    EXPECT_GT(one.high_us, one.us);
    EXPECT_GE(one.channels, 1);
    planned += one.planned;
    series[one.kind] += !one.planned;
  }
  EXPECT_EQ(planned, static_cast<int>(read.plan.packs.size())) << "packs of distinct sizes";
  EXPECT_EQ(series.size(), 5u);
  for (const auto& [kind, sizes] : series) EXPECT_EQ(sizes, 31) << to_string(kind);
  // The promised time equals the plan's time to the picosecond.
  const Collective& pack = read.plan.collective(read.plan.packs.front());
  EXPECT_DOUBLE_EQ(promise.collectives.front().us, to_us(pack.nccl->whole()));
  EXPECT_THAT(promise_of(scenario("algorithm: \"ring\"")).collectives, testing::IsEmpty());
}

TEST(PredictedSetting, WritingAndReadingPreserveIt) {
  const PredictedSetting promise = promise_of(scenario("algorithm: \"nccl\""));
  for (const bool inside : {true, false}) {
    const Report report =
        inside ? Report{{"best", 3}, {"promise", report_of(promise)}} : report_of(promise);
    const auto read = read_promise(to_json(report), "tune.json");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->scenario, promise.scenario);
    ASSERT_EQ(read->collectives.size(), promise.collectives.size());
    for (std::size_t i = 0; i < promise.collectives.size(); ++i) {
      const PromisedCollective &a = read->collectives[i], &b = promise.collectives[i];
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(a.choice, b.choice);
      EXPECT_EQ(a.planned, b.planned);
      EXPECT_NEAR(a.us, b.us, 1e-6 * b.us);
      EXPECT_NEAR(a.high_us, b.high_us, 1e-6 * b.high_us);
    }
  }
}

TEST(PredictedSetting, ReportsInvalidFilesWithTheirPosition) {
  const auto message = [](const std::string& text) {
    const auto read = read_promise(text, "tune.json");
    return read ? std::string("read") : read.error().message();
  };
  EXPECT_THAT(message("{\"best\": 1}"), HasSubstr("this file contains no promise"));
  EXPECT_THAT(message("{\"collectives\": 3}"), HasSubstr("this file contains no promise"));
  EXPECT_THAT(message("{"), HasSubstr("tune.json:1:"));
  EXPECT_THAT(message("{\"collectives\": [\n{\"collective\": \"all\", \"bytes\": -1}]}"),
              testing::AllOf(HasSubstr("tune.json:2:16: "), HasSubstr("is no collective"),
                             HasSubstr("tune.json:2:32: "), HasSubstr("has no \"us\"")));
}

PromisedCollective promised(std::int64_t bytes, double us, bool planned = false) {
  return {CollectiveKind::kAllReduce, bytes, 16, 2, us, us / 2, us * 2, "ring/ll", 4, planned};
}

TEST(PredictedSetting, GradesEachMeasurementByTheErrorBand) {
  const PredictedSetting promise{"s", "2.28.9", {promised(1024, 10), promised(4096, 40)}};
  const auto verdict = [&](std::int64_t bytes, double us, std::int64_t ranks = 16) {
    return grade(promise, {{CollectiveKind::kAllReduce, bytes, ranks, 2, us}}).front().verdict;
  };
  EXPECT_EQ(verdict(1024, 10), Grade::Verdict::kInside);
  EXPECT_EQ(verdict(1024, 5), Grade::Verdict::kInside) << "the band includes its ends";
  EXPECT_EQ(verdict(1024, 4.9), Grade::Verdict::kFaster);
  EXPECT_EQ(verdict(1024, 20.1), Grade::Verdict::kSlower);
  EXPECT_EQ(verdict(1024, 10, 8), Grade::Verdict::kNotPromised);
  EXPECT_EQ(verdict(512, 10), Grade::Verdict::kNotPromised);
  EXPECT_EQ(verdict(8192, 10), Grade::Verdict::kNotPromised);
  // 2048 bytes lie halfway between two promised sizes on a logarithmic scale, so 20 us are
  // promised.
  const Grade between = grade(promise, {{CollectiveKind::kAllReduce, 2048, 16, 0, 39}}).front();
  ASSERT_TRUE(between.promised && between.between);
  EXPECT_NEAR(between.promised->us, 20, 1e-9);
  EXPECT_EQ(between.verdict, Grade::Verdict::kInside);
  EXPECT_EQ(verdict(2048, 41), Grade::Verdict::kSlower);
}

TEST(PredictedSetting, ComparesOnlyMeasurementsWithTheSameNumberOfNodes) {
  PromisedCollective one_node = promised(1024, 3);
  one_node.nodes = 1;
  const PredictedSetting both{"s", "2.28.9", {promised(1024, 10), one_node}},
      two{"s", "2.28.9", {promised(1024, 10)}};
  const auto graded = [](const PredictedSetting& promise, std::int64_t nodes,
                         std::int64_t bytes = 1024) {
    return grade(promise, {{CollectiveKind::kAllReduce, bytes, 16, nodes, 3}}).front();
  };
  EXPECT_EQ(graded(both, 1).verdict, Grade::Verdict::kInside);
  EXPECT_EQ(graded(both, 2).verdict, Grade::Verdict::kFaster);
  EXPECT_EQ(graded(both, 0).verdict, Grade::Verdict::kNotPromised)
      << "the number of nodes is unknown, so both predictions may apply";
  EXPECT_EQ(graded(two, 0).verdict, Grade::Verdict::kFaster) << "there is only one";
  EXPECT_EQ(graded(two, 1).missing, Grade::Missing::kNodes);
  EXPECT_EQ(graded(two, 2, 2048).missing, Grade::Missing::kSize);
}

TEST(PredictedSetting, PrefersThePredictionForTheScenariosCollectives) {
  const PredictedSetting promise{"s", "2.28.9", {promised(1024, 10), promised(1024, 30, true)}};
  const Grade one = grade(promise, {{CollectiveKind::kAllReduce, 1024, 16, 2, 30}}).front();
  EXPECT_EQ(one.promised->us, 30);
  EXPECT_FALSE(one.between);
}

}  // namespace
}  // namespace tutti::core
