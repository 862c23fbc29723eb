// The algorithms that are shipped with Tutti: they are proved, compared with the built-in
// algorithms, and the properties that they declare are checked.

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/schedule/checker.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::algorithm_of;
using test::schedule_of;
using test::shipped_algorithms;
using test::text_of_algorithm;

std::vector<AlgorithmShape> shapes() {
  std::vector<AlgorithmShape> all;
  for (const std::int32_t ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17}) {
    for (const std::int32_t per_node : {1, 2, 3, 4, 8}) {
      if (ranks % per_node == 0) all.push_back({ranks, per_node, 0});
    }
  }
  return all;
}

/// Returns the compiled algorithm, or null if it does not support the shape. Algorithms that need a
/// power of two must report this.
std::shared_ptr<const CustomAlgorithm> shipped(const std::string& name,
                                               const AlgorithmShape& shape) {
  Problems problems;
  auto algorithm = algorithm_of(text_of_algorithm(name), shape, problems);
  const bool power_of_two = std::has_single_bit(static_cast<std::uint32_t>(shape.ranks));
  if (algorithm || power_of_two) {
    EXPECT_EQ(test::placed(problems), "") << name << ", " << shape.ranks;
  }
  return algorithm;
}

class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, IsProvedForManyRanksAndElementsInAndOutOfPlace) {
  int proved = 0;
  for (const AlgorithmShape& shape : shapes()) {
    const auto algorithm = shipped(GetParam(), shape);
    if (!algorithm) continue;
    const CollectiveKind kind = algorithm->kind();
    const int n = shape.ranks;
    for (std::int64_t elements : {0, 1, n - 1, n, n + 1, 97, 1000}) {
      if (has_blocks(kind)) elements *= n;
      for (const bool out_of_place : {false, true}) {
        if (!out_of_place && !can_be_in_place(kind)) continue;
        const Contract contract = Contract::of(kind, n, elements, shape.root, out_of_place);
        const auto schedule = schedule_of(*algorithm, contract, Engine::kKernel);
        EXPECT_EQ(check(*schedule, contract), std::vector<Violation>())
            << n << " ranks, " << shape.per_node << " per node, " << elements << " elements, "
            << out_of_place;
        ++proved;
      }
    }
  }
  EXPECT_GT(proved, 50);
}

std::string peers_of(const Step& step, Rank rank, const Schedule& schedule, int shift,
                     bool exchange, int per_node) {
  const std::int32_t ranks = schedule.ranks();
  const auto renumbered = [&](Rank r) {
    const Rank node = exchange ? r / per_node ^ shift : (r / per_node + shift) % (ranks / per_node);
    return node * per_node + r % per_node;
  };
  std::string text =
      fmt::format("{} {} {} wait {} {}", static_cast<int>(step.kind), step.source.count,
                  step.target.count, step.wait.lane, step.wait.count);
  if (receives(step.kind))
    text += fmt::format(" from {}/{}", renumbered(step.from.rank(rank, ranks)), step.from.lane);
  if (step.kind == StepKind::kMulticast || step.kind == StepKind::kSwitchReduce) {
    text += fmt::format(" lane {} of", step.to.lane);
    for (std::int32_t i = 0; i < step.group.count; ++i)
      text += fmt::format(" {}", renumbered(step.group.at(i)));
  } else if (sends(step.kind)) {
    text += fmt::format(" to {}/{}", renumbered(step.to.rank(rank, ranks)), step.to.lane);
  }
  return text;
}

TEST_P(Shipped, DeclaredSymmetryHolds) {
  int claimed = 0;
  for (const AlgorithmShape& shape : shapes()) {
    const auto algorithm = shipped(GetParam(), shape);
    if (!algorithm || shape.ranks == 1) continue;
    const auto schedule = algorithm->schedule(std::int64_t{shape.ranks} * 48, 0, Engine::kKernel);
    for (const Renumbering by : {Renumbering::kShift, Renumbering::kExchange}) {
      if (!schedule->same_everywhere(by, shape.per_node)) continue;
      ++claimed;
      const bool exchange = by == Renumbering::kExchange;
      const int nodes = shape.ranks / shape.per_node;
      for (int d = 0; d < nodes; ++d) {
        for (Rank rank = 0; rank < shape.ranks; ++rank) {
          const Rank node =
              exchange ? rank / shape.per_node ^ d : (rank / shape.per_node + d) % nodes;
          const Rank other = node * shape.per_node + rank % shape.per_node;
          for (Lane lane = 0; lane < schedule->lanes(rank); ++lane) {
            ASSERT_EQ(schedule->steps(rank, lane), schedule->steps(other, lane));
            for (std::int64_t i = 0; i < schedule->steps(rank, lane); ++i) {
              ASSERT_EQ(peers_of(schedule->step(rank, lane, i), rank, *schedule, d, exchange,
                                 shape.per_node),
                        peers_of(schedule->step(other, lane, i), other, *schedule, 0, exchange,
                                 shape.per_node))
                  << GetParam() << ": rank " << rank << " of " << shape.ranks << ", step " << i;
            }
          }
        }
      }
    }
  }
  const bool has_special_ranks = GetParam() == "double_binary_tree";
  EXPECT_EQ(claimed == 0, has_special_ranks) << claimed;
}

TEST_P(Shipped, StepsReportedAsIdenticalAreIdentical) {
  for (const AlgorithmShape& shape : shapes()) {
    const auto algorithm = shipped(GetParam(), shape);
    if (!algorithm) continue;
    const auto schedule = algorithm->schedule(std::int64_t{shape.ranks} * 48, 0, Engine::kKernel);
    for (Rank rank = 0; rank < shape.ranks; ++rank) {
      for (Lane lane = 0; lane < schedule->lanes(rank); ++lane) {
        for (std::int64_t i = 0; i < schedule->steps(rank, lane); ++i) {
          const IdenticalSteps identical = schedule->identical_from(rank, lane, i);
          if (identical.period == 0) continue;
          ASSERT_LE(identical.end, schedule->steps(rank, lane));
          for (std::int64_t j = i + identical.period; j < identical.end; ++j) {
            ASSERT_EQ(peers_of(schedule->step(rank, lane, j), rank, *schedule, 0, false, 1),
                      peers_of(schedule->step(rank, lane, j - identical.period), rank, *schedule, 0,
                               false, 1))
                << shape.ranks << " ranks, step " << j;
          }
        }
      }
    }
  }
}

TEST_P(Shipped, VisitsAllRoutes) {
  for (const AlgorithmShape& shape : shapes()) {
    const auto algorithm = shipped(GetParam(), shape);
    if (!algorithm) continue;
    const auto schedule = algorithm->schedule(std::int64_t{shape.ranks} * 48, 0, Engine::kKernel);
    for (Rank rank = 0; rank < shape.ranks; ++rank) {
      for (Lane lane = 0; lane < schedule->lanes(rank); ++lane) {
        std::map<std::pair<Rank, Lane>, int> visited;
        std::map<std::pair<Rank, Lane>, int> all;
        const auto note = [&](std::map<std::pair<Rank, Lane>, int>& ways) {
          return [&ways, &shape, rank](const Step& step) {
            ways[{step.to.rank(rank, shape.ranks), step.to.lane}] = 1;
          };
        };
        schedule->visit_ways(rank, lane, note(visited));
        schedule->Schedule::visit_ways(rank, lane, note(all));
        EXPECT_EQ(visited, all) << shape.ranks << " ranks, rank " << rank;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Shipped, testing::ValuesIn(shipped_algorithms()),
                         [](const auto& one) { return one.param; });

void expect_steps_of_built_in(const Schedule& built_in, const Schedule& written) {
  ASSERT_EQ(built_in.ranks(), written.ranks());
  for (Rank rank = 0; rank < built_in.ranks(); ++rank) {
    ASSERT_EQ(built_in.lanes(rank), written.lanes(rank));
    for (Lane lane = 0; lane < built_in.lanes(rank); ++lane) {
      ASSERT_EQ(built_in.steps(rank, lane), written.steps(rank, lane));
      for (std::int64_t i = 0; i < built_in.steps(rank, lane); ++i) {
        const Step a = built_in.step(rank, lane, i);
        const Step b = written.step(rank, lane, i);
        EXPECT_EQ(peers_of(a, rank, built_in, 0, false, 1), peers_of(b, rank, written, 0, false, 1))
            << i;
        if (a.kind != StepKind::kReceive && a.kind != StepKind::kReceiveSend) {
          EXPECT_EQ(a.source, b.source) << i;
        }
        if (a.kind != StepKind::kSend && a.kind != StepKind::kReceiveReduceSend) {
          EXPECT_EQ(a.target, b.target) << i;
        }
        const IdenticalSteps identical = built_in.identical_from(rank, lane, i);
        const IdenticalSteps written_identically = written.identical_from(rank, lane, i);
        if (identical.period > 0 && identical.end > i + 1) {
          EXPECT_EQ(identical.period, written_identically.period) << i;
          EXPECT_EQ(identical.end, written_identically.end) << i;
        }
      }
    }
  }
}

TEST(ShippedRing, HasTheStepsOfTheBuiltInRing) {
  for (const std::int32_t n : {1, 2, 3, 4, 5, 8, 17}) {
    const auto ring = shipped("ring", {n, 1, 0});
    for (const std::int64_t elements : {n, n + 1, 97, 1000, 48 * n}) {
      for (const std::int64_t shift : {std::int64_t{0}, elements}) {
        RingOptions options;
        options.input_shift = shift;
        expect_steps_of_built_in(*ring_all_reduce(n, elements, options),
                                 *ring->schedule(elements, shift, Engine::kKernel));
      }
    }
  }
}

TEST(ShippedRecursiveDoubling, HasTheStepsOfTheBuiltInAlgorithm) {
  for (const std::int32_t n : {2, 4, 8, 16}) {
    const auto doubling = shipped("recursive_doubling", {n, 1, 0});
    expect_steps_of_built_in(*recursive_doubling_all_reduce(n, 100, Engine::kKernel),
                             *doubling->schedule(100, 0, Engine::kKernel));
  }
}

TEST(ShippedRing, AScheduleOfAMillionRanksTakesNoMemory) {
  constexpr std::int32_t kRanks = 1'000'000;
  const auto ring = shipped("ring", {kRanks, 8, 0});
  const auto schedule = ring->schedule(std::int64_t{kRanks} * 4, 0, Engine::kKernel);
  EXPECT_EQ(schedule->steps(5, 0), 2 * std::int64_t{kRanks} - 1);
  EXPECT_TRUE(schedule->same_everywhere(Renumbering::kShift, 8));
  const auto built_in = ring_all_reduce(kRanks, std::int64_t{kRanks} * 4);
  for (const std::int64_t index : {0, 1, 999'998, 999'999, 1'000'000, 1'999'998}) {
    EXPECT_EQ(schedule->step(77, 0, index).source, built_in->step(77, 0, index).source);
    EXPECT_EQ(schedule->step(77, 0, index).kind, built_in->step(77, 0, index).kind);
  }
}

TEST(ShippedWrongRing, IsRefusedByTheChecker) {
  for (const std::int32_t n : {2, 3, 4, 8}) {
    const auto ring = shipped("wrong_ring", {n, 1, 0});
    EXPECT_FALSE(
        check(*ring->schedule(97, 0, Engine::kKernel), Contract::all_reduce(n, 97)).empty())
        << n;
  }
}

}  // namespace
}  // namespace tutti::core
