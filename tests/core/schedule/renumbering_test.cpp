// Symmetries that schedules report about themselves. If a schedule reports that it is the same
// everywhere, then renumbering the workers must map each worker's steps to those of the worker that
// it becomes.

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "core/strategy/algorithm_table.h"
#include "core/strategy/collective.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using Found = std::pair<AlgorithmChoice, CollectiveKind>;

constexpr AlgorithmChoice kNcclRing(BaseAlgorithm::kNccl, BaseAlgorithm::kRing);
constexpr AlgorithmChoice kNcclHalvingDoubling(BaseAlgorithm::kNccl,
                                               BaseAlgorithm::kHalvingDoubling);
constexpr AlgorithmChoice kNcclRecursiveDoubling(BaseAlgorithm::kNccl,
                                                 BaseAlgorithm::kRecursiveDoubling);

/// Returns a cluster of `workers` machines, each with `gpus` GPUs and a CPU.
std::shared_ptr<const Cluster> cluster_with(int workers, int gpus) {
  Network network;
  network.latency = microseconds(1);
  return std::make_shared<Cluster>(std::vector<WorkerGroup>{{test::switch_machine(gpus), workers}},
                                   gpus, network);
}

struct OnMachines {
  int workers = 2;
  int gpus = 1;
  Strategy strategy;
  std::int64_t elements = 0;

  [[nodiscard]] std::string text() const {
    return std::string(to_string(strategy.collective)) + " by " +
           std::string(to_string(strategy.algorithm)) + ", " + std::to_string(workers) + " x " +
           std::to_string(gpus) + ", " + std::to_string(elements) + " elements" +
           (strategy.out_of_place ? ", out of place" : "");
  }
};

/// Maps the steps of a rank to those after workers are renumbered by `d`.
class Renumbered {
 public:
  Renumbered(Renumbering by, int workers, int gpus, int d)
      : by_(by), workers_(workers), gpus_(gpus), d_(d) {}

  [[nodiscard]] Rank rank(Rank r) const {
    const Rank replicas = workers_ * gpus_;
    return r < replicas ? worker(r / gpus_) * gpus_ + r % gpus_ : replicas + worker(r - replicas);
  }

 private:
  [[nodiscard]] int worker(int w) const {
    return by_ == Renumbering::kShift ? (w + d_) % workers_ : w ^ d_;
  }

  Renumbering by_;
  int workers_, gpus_, d_;
};

/// Returns all properties of a step that its time may depend on, with its peers renumbered by `as`.
std::string seen(const Step& step, Rank rank, std::int32_t ranks, const Renumbered& as) {
  std::string text = std::to_string(static_cast<int>(step.kind)) + " " +
                     std::to_string(step.source.count) + " " + std::to_string(step.target.count) +
                     " " + std::to_string(step.inputs) + (step.accumulate ? "+" : "") + " wait " +
                     std::to_string(step.wait.lane) + " " + std::to_string(step.wait.count);
  const auto peer = [&](const Peer& p) {
    return " " + std::to_string(as.rank(p.rank(rank, ranks))) + "/" + std::to_string(p.lane);
  };
  if (receives(step.kind) && step.kind != StepKind::kReceiveAny) text += " from" + peer(step.from);
  if (sends(step.kind) && step.kind != StepKind::kMulticast) text += " to" + peer(step.to);
  return text;
}

void expect_same(const Schedule& schedule, Renumbering by, const OnMachines& c) {
  const Renumbered same(by, c.workers, c.gpus, 0);
  for (int d = 1; d < c.workers; ++d) {
    const Renumbered other(by, c.workers, c.gpus, d);
    for (Rank r = 0; r < schedule.ranks(); ++r) {
      const Rank to = other.rank(r);
      ASSERT_EQ(schedule.lanes(r), schedule.lanes(to)) << c.text();
      for (Lane l = 0; l < schedule.lanes(r); ++l) {
        ASSERT_EQ(schedule.steps(r, l), schedule.steps(to, l))
            << c.text() << ", rank " << r << ", lane " << l;
        ASSERT_EQ(schedule.credits(r, l), schedule.credits(to, l)) << c.text();
        ASSERT_EQ(schedule.engine(r, l), schedule.engine(to, l)) << c.text();
        for (std::int64_t i = 0; i < schedule.steps(r, l); ++i) {
          ASSERT_EQ(seen(schedule.step(r, l, i), r, schedule.ranks(), other),
                    seen(schedule.step(to, l, i), to, schedule.ranks(), same))
              << c.text() << ", rank " << r << " becomes " << to << ", lane " << l << ", step "
              << i;
        }
      }
    }
  }
}

std::vector<OnMachines> cases() {
  std::vector<OnMachines> all;
  for (const AlgorithmChoice algorithm : algorithms()) {
    for (const CollectiveKind kind : collective_kinds()) {
      if (!traits(algorithm).supports(kind, true)) continue;
      for (const int workers : {2, 3, 4, 8}) {
        for (const int gpus : {1, 2, 3, 4}) {
          for (const std::int64_t elements :
               {std::int64_t{0}, std::int64_t{workers * gpus}, std::int64_t{96} * workers * gpus,
                std::int64_t{97}}) {
            OnMachines c{workers, gpus, Strategy::for_algorithm(algorithm), elements};
            c.strategy.collective = kind;
            c.strategy.out_of_place = !can_be_in_place(kind);
            if (has_blocks(kind) && elements % (workers * gpus) != 0) continue;
            if (!problems_of(c.strategy, *cluster_with(workers, gpus)).empty()) continue;
            all.push_back(c);
          }
        }
      }
    }
  }
  return all;
}

TEST(Renumbering, DoesNotChangeSchedulesThatReportThisSymmetry) {
  std::map<Found, int> found;
  for (const OnMachines& c : cases()) {
    const auto cluster = cluster_with(c.workers, c.gpus);
    const Collective collective =
        make_collective(*cluster, c.strategy, DataType::kFloat32, c.elements, 0);
    for (const Renumbering by : {Renumbering::kShift, Renumbering::kExchange}) {
      if (by == Renumbering::kExchange && !std::has_single_bit(static_cast<unsigned>(c.workers)))
        continue;
      if (!collective.schedule->same_everywhere(by, c.gpus)) continue;
      ++found[{c.strategy.algorithm, c.strategy.collective}];
      expect_same(*collective.schedule, by, c);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  // These schedules are symmetric and report it. Schedules with a root or a server are not
  // symmetric.
  for (const auto& known : {Found(BaseAlgorithm::kRing, CollectiveKind::kAllReduce),
                            Found(BaseAlgorithm::kRing, CollectiveKind::kAllGather),
                            Found(BaseAlgorithm::kRing, CollectiveKind::kReduceScatter),
                            Found(BaseAlgorithm::kRing, CollectiveKind::kSendReceive),
                            Found(BaseAlgorithm::kNccl, CollectiveKind::kAllReduce),
                            Found(BaseAlgorithm::kNccl, CollectiveKind::kSendReceive),
                            Found(BaseAlgorithm::kHalvingDoubling, CollectiveKind::kAllReduce),
                            Found(BaseAlgorithm::kHalvingDoubling, CollectiveKind::kAllGather),
                            Found(BaseAlgorithm::kRecursiveDoubling, CollectiveKind::kAllReduce),
                            Found(kNcclRing, CollectiveKind::kAllReduce),
                            Found(kNcclHalvingDoubling, CollectiveKind::kAllReduce),
                            Found(kNcclRecursiveDoubling, CollectiveKind::kAllReduce)}) {
    EXPECT_GT(found[known], 4) << to_string(known.first) << ", " << to_string(known.second);
  }
  for (const auto& [known, times] : found)
    EXPECT_TRUE(times == 0 || !has_root(known.second))
        << to_string(known.first) << ", " << to_string(known.second);
  EXPECT_EQ((found[{BaseAlgorithm::kPscpu, CollectiveKind::kAllReduce}]), 0);
}

TEST(Renumbering, ChangesSchedulesWithUnequalChunks) {
  const auto cluster = cluster_with(4, 2);
  for (const AlgorithmChoice algorithm : std::initializer_list<AlgorithmChoice>{
           BaseAlgorithm::kRing, BaseAlgorithm::kNccl, BaseAlgorithm::kHalvingDoubling, kNcclRing,
           kNcclHalvingDoubling}) {
    const Strategy strategy = Strategy::for_algorithm(algorithm);
    const Collective uneven = make_all_reduce(*cluster, strategy, DataType::kFloat32, 801, 0);
    for (const Renumbering by : {Renumbering::kShift, Renumbering::kExchange})
      EXPECT_FALSE(uneven.schedule->same_everywhere(by, 2)) << to_string(algorithm);
  }
}

/// If a schedule reports that steps are identical, they must be. Rings, and algorithms composed of
/// rings, report this for nearly all their steps.
TEST(IdenticalSteps, RepeatTheStepsOnePeriodBefore) {
  std::map<AlgorithmChoice, int> found;
  for (const OnMachines& c : cases()) {
    const auto cluster = cluster_with(c.workers, c.gpus);
    const Collective collective =
        make_collective(*cluster, c.strategy, DataType::kFloat32, c.elements, 0);
    const Schedule& schedule = *collective.schedule;
    const Renumbered same(Renumbering::kShift, c.workers, c.gpus, 0);
    for (Rank r = 0; r < schedule.ranks(); ++r) {
      for (Lane l = 0; l < schedule.lanes(r); ++l) {
        for (std::int64_t i = 0; i < schedule.steps(r, l); ++i) {
          const IdenticalSteps identical = schedule.identical_from(r, l, i);
          if (identical.period == 0) continue;
          ASSERT_LE(identical.end, schedule.steps(r, l)) << c.text();
          for (std::int64_t next = i + identical.period; next < identical.end; ++next) {
            const Step before = schedule.step(r, l, next - identical.period);
            ASSERT_EQ(before.wait.lane, -1) << c.text();
            ASSERT_EQ(seen(before, r, schedule.ranks(), same),
                      seen(schedule.step(r, l, next), r, schedule.ranks(), same))
                << c.text() << ", rank " << r << ", lane " << l << ", step " << next;
            ++found[c.strategy.algorithm];
          }
        }
      }
    }
  }
  for (const AlgorithmChoice algorithm : std::initializer_list<AlgorithmChoice>{
           BaseAlgorithm::kRing, BaseAlgorithm::kNccl, kNcclRing})
    EXPECT_GT(found[algorithm], 1000) << to_string(algorithm);
}

}  // namespace
}  // namespace tutti::core
