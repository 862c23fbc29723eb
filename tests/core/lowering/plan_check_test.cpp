#include "core/lowering/plan_check.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/plan/check_collectives.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

/// Two packs and an exchange on two kinds of device. The exchange splits their backward passes at
/// different layers.
struct PlanCase {
  std::shared_ptr<const Cluster> cluster = test::plain_cluster(2);
  Workload workload;
  Plan plan;

  PlanCase() {
    workload.gradients.emplace_back().elements = 8;
    workload.gradients.emplace_back().elements = 8;
    workload.segments = {{"b", {1}}, {"a", {0}}};
    workload.times = {{Time(10), {Time(6), Time(2)}, Time(1)},
                      {Time(30), {Time(4), Time(40)}, Time(1)}};
    plan = *make_plan(workload, Strategy::for_algorithm(BaseAlgorithm::kRing), *cluster);
    PlannedExchange exchange{0, {}, plan.packs.front().collective};
    exchange.exchange.per_backward = 2;
    plan.exchanges.push_back(exchange);
  }
};

TEST(PlanCheck, GroupsWithDifferentProgramsTakePartInTheSameCollectives) {
  const PlanCase c;
  const StepPrograms programs(c.workload, c.plan);
  PlanView view = view_of(programs, c.plan);
  ASSERT_EQ(view.roles.size(), 2u);
  EXPECT_TRUE(problems_of(view).empty());
  // One of the groups reduces with its own collective.
  const auto use = view.use;
  view.use = [&](std::int32_t role, const Task& task) {
    PlanView::Use as_planned = use(role, task);
    if (role == 1 && task.pack == 0) as_planned.collective = 7;
    return as_planned;
  };
  const auto problems = problems_of(view);
  ASSERT_EQ(problems.size(), 2u) << "each waits for the other";
  for (const PlanProblem& problem : problems) {
    EXPECT_EQ(problem.code, PlanProblemCode::kRankMissing);
    EXPECT_EQ(problem.pack, 0);
  }
}

TEST(PlanCheck, OnlyNcclCollectivesBlockEachOther) {
  const PlanCase c;
  const StepPrograms programs(c.workload, c.plan);
  const PlanView view = view_of(programs, c.plan);
  const auto communicator_of = [&](std::int32_t pack, std::int32_t exchange) {
    Task task;
    task.kind = Task::Kind::kCommunicate;
    task.pack = pack;
    task.index = exchange;
    return view.communicators[view.use(0, task).communicator];
  };
  EXPECT_FALSE(communicator_of(0, -1).one_at_a_time);
  EXPECT_TRUE(communicator_of(-1, 0).one_at_a_time);
}

}  // namespace
}  // namespace tutti::core
