// Gathers to one rank and broadcasts from it, through relays or directly. The checker proves the
// schedules.

#include "core/algorithm/star_tree.h"

#include <gtest/gtest.h>

#include "core/algorithm/tree_blocks.h"
#include "core/schedule/checker.h"
#include "core/schedule/stages.h"

namespace tutti::core {
namespace {

Contract to_and_from(const StarTree& tree, std::int64_t elements, CollectiveKind kind) {
  return Contract::of(kind, tree.replicas, elements, tree.root, false);
}

void expect_proved(const StarTree& tree, const std::string& what) {
  for (const std::int64_t elements : {1, 7}) {
    const auto up = tree_reduce(tree, elements, Engine::kCopyEngine, Engine::kCpu);
    EXPECT_EQ(check(*up, to_and_from(tree, elements, CollectiveKind::kReduce)),
              std::vector<Violation>{})
        << what;
    const auto down = tree_broadcast(tree, elements, Engine::kCopyEngine, Engine::kCpu);
    EXPECT_EQ(check(*down, to_and_from(tree, elements, CollectiveKind::kBroadcast)),
              std::vector<Violation>{})
        << what;
    const std::int64_t all = elements * tree.replicas;
    const auto gather = tree_gather(tree, elements, Engine::kCopyEngine, Engine::kCpu);
    EXPECT_EQ(check(*gather, to_and_from(tree, all, CollectiveKind::kGather)),
              std::vector<Violation>{})
        << what;
    const auto scatter = tree_scatter(tree, elements, Engine::kCopyEngine, Engine::kCpu);
    EXPECT_EQ(check(*scatter, to_and_from(tree, all, CollectiveKind::kScatter)),
              std::vector<Violation>{})
        << what;
  }
}

TEST(StarTree, OneLevelIsProved) {
  for (std::int32_t replicas = 1; replicas <= 9; ++replicas) {
    for (Rank root = 0; root <= replicas; ++root)
      expect_proved({replicas + 1, replicas, replicas, 1, root, {}},
                    std::to_string(replicas) + " to " + std::to_string(root));
  }
}

TEST(StarTree, TwoLevelsOverOneReplicaPerGroupAreProved) {
  for (std::int32_t groups = 1; groups <= 4; ++groups) {
    for (std::int32_t per_group = 2; per_group <= 4; ++per_group) {
      for (std::int32_t extra = 0; extra <= 1; ++extra) {
        for (std::int32_t root = 0; root < groups; ++root) {
          StarTree tree{groups * per_group + extra, groups * per_group + extra, per_group, groups,
                        0};
          tree.relays = StarTree::Relays{1, per_group};
          tree.root = tree.relays->of(root);
          expect_proved(tree, std::to_string(groups) + " groups of " + std::to_string(per_group));
        }
      }
    }
  }
}

TEST(StarTree, TwoLevelsOverHostsAreProved) {
  for (std::int32_t workers = 1; workers <= 4; ++workers) {
    for (std::int32_t gpus = 1; gpus <= 3; ++gpus) {
      for (std::int32_t server = 0; server < workers + 2; ++server) {
        const std::int32_t replicas = workers * gpus;
        StarTree tree{replicas + workers + 2, replicas, gpus, workers, replicas + server};
        tree.relays = StarTree::Relays{replicas, 1};
        expect_proved(tree, std::to_string(workers) + " workers of " + std::to_string(gpus));
        tree.relays = StarTree::Relays{gpus - 1, gpus};
        expect_proved(
            tree, std::to_string(workers) + " workers of " + std::to_string(gpus) + " over a GPU");
      }
    }
  }
}

/// Every rank learns from the root that a push has completed: empty messages travel over the same
/// routes.
TEST(StarTree, EmptyMessagesReachEveryReplica) {
  const StarTree tree{9, 6, 3, 2, 8, StarTree::Relays{6, 1}};
  const auto nothing = tree_broadcast(tree, 0, Engine::kCopyEngine, Engine::kCpu);
  std::int64_t received = 0;
  for (Rank r = 0; r < tree.replicas; ++r) {
    ASSERT_EQ(nothing->steps(r, 0), 1);
    const Step step = nothing->step(r, 0, 0);
    EXPECT_EQ(step.kind, StepKind::kReceive);
    EXPECT_EQ(step.target.count, 0);
    ++received;
  }
  EXPECT_EQ(received, 6);
}

TEST(StarTree, TheRootDividesTheSumBeforeTheBroadcast) {
  const StarTree tree{5, 4, 2, 2, 1, StarTree::Relays{1, 1}};
  const auto schedule = in_stages(
      {2, 2, false, false, 1}, 5,
      {{StageScope::kEveryone, tree_reduce(tree, 5, Engine::kCopyEngine, Engine::kCpu)},
       {StageScope::kEveryone, work_of_rank(5, 1, 5, 0.25, 5, Engine::kCopyEngine)},
       {StageScope::kEveryone, tree_broadcast(tree, 5, Engine::kCopyEngine, Engine::kCpu)}});
  EXPECT_EQ(check(*schedule, Contract::all_reduce(4, 5)), std::vector<Violation>{});
}

}  // namespace
}  // namespace tutti::core
