#include "real/interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/algorithm/star.h"
#include "core/strategy/collective.h"
#include "real/transport/local.h"
#include "tests/real/one_process.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::AlgorithmChoice;
using core::DataType;
using core::Rank;

struct Shape {
  int workers = 1;
  int gpus = 1;
};

TEST(RealInterpreter, EveryAlgorithmReducesEveryElementForOddSizesAndShapes) {
  for (const Shape shape : {Shape{1, 2}, Shape{2, 1}, Shape{3, 1}, Shape{2, 2}, Shape{2, 4},
                            Shape{5, 1}, Shape{3, 2}, Shape{8, 1}}) {
    const core::Cluster cluster(
        {{test::switch_machine(shape.gpus), shape.workers}}, shape.gpus,
        core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"});
    for (const AlgorithmChoice algorithm : core::algorithms()) {
      core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
      for (const core::Reduction reduction : {core::Reduction::kSum, core::Reduction::kMean}) {
        strategy.reduction = reduction;
        if (!core::problems_of(strategy, cluster).empty()) continue;
        const std::int64_t n = cluster.replicas();
        for (const std::int64_t elements :
             {std::int64_t{0}, std::int64_t{1}, n - 1, n, n + 1, std::int64_t{1009}}) {
          const core::Collective collective =
              core::make_all_reduce(cluster, strategy, DataType::kFloat32, elements, 0);
          const bool mean = reduction == core::Reduction::kMean;
          const Outcome outcome =
              run(collective, Operation::kSum, in_order(collective.schedule->ranks()));
          int wrong = 0;
          for (std::int64_t e = 0; e < elements && wrong == 0; ++e) {
            double sum = 0;
            for (Rank r = 0; r < n; ++r) sum += input(r, e);
            const auto expected = static_cast<float>(
                mean ? static_cast<double>(static_cast<float>(sum)) * (1.0 / static_cast<double>(n))
                     : sum);
            for (Rank r = 0; r < n; ++r) {
              const double got = element_at(DataType::kFloat32, outcome.data[r].data(), e);
              if (got == static_cast<double>(expected)) continue;
              ++wrong;
              ADD_FAILURE() << core::to_string(algorithm) << " " << shape.workers << "x"
                            << shape.gpus << ", " << elements << " elements: element " << e
                            << " of rank " << r << " is " << got << ", not " << expected;
              break;
            }
          }
        }
      }
    }
  }
}

TEST(RealInterpreter, EveryTypeAndOperation) {
  const auto cluster = test::plain_cluster(5);
  for (const DataType type : core::kDataTypes) {
    for (int o = 0; o < kOperations; ++o) {
      const core::Collective ring =
          test::on_plain_cluster(*cluster, core::ring_all_reduce(5, 1003), 1003, type);
      expect_all_reduced(ring, static_cast<Operation>(o),
                         run(ring, static_cast<Operation>(o), in_order(5)), 1, "ring");
      const core::Collective shuffle = test::on_plain_cluster(
          *cluster,
          core::shuffle_all_reduce(5, 5, {0, 2, 4}, 1003, core::Engine::kCpu, core::Engine::kCpu),
          1003, type);
      expect_all_reduced(shuffle, static_cast<Operation>(o),
                         run(shuffle, static_cast<Operation>(o), in_order(5)), 1, "shuffle");
    }
  }
}

/// Messages have several pieces, there are few slots, and ranks start in any order.
TEST(RealInterpreter, LongMessagesAndFewSlotsInAnyOrderOfStart) {
  for (const int ranks : {2, 3, 7}) {
    const auto cluster = test::plain_cluster(ranks);
    for (const int credits : {1, 2, core::kUnlimitedCredits}) {
      for (const std::int64_t elements : {std::int64_t{100'003}, std::int64_t{700'001}}) {
        core::RingOptions options;
        options.credits = credits;
        options.lanes.assign(2, core::RingPath{});
        options.max_elements_per_message = 50'000;
        const core::Collective collective = test::on_plain_cluster(
            *cluster, core::ring_all_reduce(ranks, elements, options), elements);
        std::vector<Rank> start = in_order(ranks);
        std::reverse(start.begin(), start.end());
        expect_all_reduced(collective, Operation::kSum, run(collective, Operation::kSum, start), 1,
                           fmt::format("{} ranks, {} slots", ranks, credits));
      }
    }
  }
}

TEST(RealInterpreter, ReportsEveryStepOnceAndInOrder) {
  const auto cluster = test::plain_cluster(4);
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(4, 1000), 1000);
  const Outcome outcome = run(collective, Operation::kSum, in_order(4));
  std::map<std::pair<Rank, core::Lane>, std::int64_t> next;
  for (const StepDone& step : outcome.steps) {
    EXPECT_EQ(step.index, (next[{step.rank, step.lane}]++));
    EXPECT_LE(step.start, step.wait);
    EXPECT_LE(step.wait, step.end);
    if (core::receives(step.step.kind)) {
      EXPECT_EQ(step.peer, (step.rank + 3) % 4);
    }
  }
  for (Rank r = 0; r < 4; ++r) EXPECT_EQ((next[{r, 0}]), collective.schedule->steps(r, 0));
}

TEST(RealInterpreter, RefusesMessagesThatAreNotInTheSchedule) {
  const auto cluster = test::plain_cluster(2);
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 100), 100);
  LocalTransport transport;
  Done done;
  HostDevices devices;
  Interpreter interpreter(transport, devices, done, false);
  std::vector<std::byte> data(400);
  interpreter.open({0, 0}, collective, Operation::kSum, {0}, {data.data()});
  const Channel good{{0, 0}, 1, 0, 0, 0};
  EXPECT_EQ(interpreter.place({{{0, 1}, 1, 0, 0, 0}, 200, 0, 200}), nullptr)
      << "no such collective";
  EXPECT_EQ(interpreter.place({{{0, 0}, 1, 0, 1, 0}, 200, 0, 200}), nullptr)
      << "a rank of another process";
  EXPECT_EQ(interpreter.place({{{0, 0}, 1, 0, 0, 7}, 200, 0, 200}), nullptr) << "no such lane";
  EXPECT_EQ(interpreter.place({{{0, 0}, 9, 0, 0, 0}, 200, 0, 200}), nullptr) << "no such sender";
  EXPECT_EQ(interpreter.place({good, 500, 0, 200}), nullptr) << "longer than the buffer";
  EXPECT_EQ(interpreter.place({good, 200, 0, 300}), nullptr) << "longer than its message";
  EXPECT_EQ(interpreter.place({good, 200, 0, 3}), nullptr) << "part of an element";
  EXPECT_EQ(interpreter.place({good, 200, 100, 100}), nullptr) << "its beginning never came";
  ASSERT_NE(interpreter.place({good, 200, 0, 100}), nullptr);
  interpreter.arrived({good, 200, 0, 100});
  EXPECT_EQ(interpreter.place({good, 200, 0, 100}), nullptr)
      << "again from the start, in the middle";
  EXPECT_EQ(interpreter.place({good, 200, 100, 100, 1}), nullptr)
      << "the middle of another message";
  ASSERT_NE(interpreter.place({good, 200, 100, 100}), nullptr);
  interpreter.arrived({good, 200, 100, 100});
  EXPECT_EQ(interpreter.place({good, 200, 0, 200}), nullptr) << "the same message again";
  EXPECT_NE(interpreter.place({good, 200, 0, 200, 3}), nullptr);
}

}  // namespace
}  // namespace tutti::real
