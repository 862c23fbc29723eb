// The table of algorithms states what each algorithm supports. The tests compare the table with
// what the algorithms do.

#include "core/strategy/algorithm_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/base/error.h"
#include "core/strategy/collective.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

std::vector<BaseAlgorithm> base_algorithms() {
  std::vector<BaseAlgorithm> all;
  for (int i = 0; i <= static_cast<int>(BaseAlgorithm::kOnServers); ++i)
    all.push_back(static_cast<BaseAlgorithm>(i));
  return all;
}

std::shared_ptr<const Cluster> cluster_of(int workers, int gpus) {
  if (gpus == 0) return test::plain_cluster(workers);
  Network network;
  network.latency = microseconds(1);
  return std::make_shared<Cluster>(std::vector<WorkerGroup>{{test::switch_machine(gpus), workers}},
                                   gpus, network);
}

bool complains_about(const std::vector<StrategyProblem>& problems, const std::string& field) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const StrategyProblem& p) { return p.field == field; });
}

TEST(AlgorithmTable, NamesConvertToAlgorithmsAndBack) {
  for (const AlgorithmChoice algorithm : algorithms())
    EXPECT_EQ(parse_algorithm(to_string(algorithm)), algorithm);
  const auto names = algorithm_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) EXPECT_TRUE(parse_algorithm(name)) << name;
  EXPECT_EQ(parse_algorithm("rechd"), BaseAlgorithm::kHalvingDoubling);
  EXPECT_EQ(parse_algorithm("nccl/rechd"),
            AlgorithmChoice(BaseAlgorithm::kNccl, BaseAlgorithm::kHalvingDoubling));
  for (const char* none :
       {"", "/", "rings", "nccl/", "/ring", "nccl/ring/ring", "variables on servers"})
    EXPECT_FALSE(parse_algorithm(none)) << none;
}

TEST(AlgorithmTable, ChoicesCanBeHashedAndOrdered) {
  std::unordered_set<AlgorithmChoice> hashed;
  std::set<AlgorithmChoice> ordered;
  std::set<std::size_t> hashes;
  for (const AlgorithmChoice algorithm : algorithms()) {
    hashed.insert(algorithm);
    ordered.insert(algorithm);
    hashes.insert(std::hash<AlgorithmChoice>()(algorithm));
  }
  EXPECT_EQ(hashed.size(), algorithms().size());
  EXPECT_EQ(ordered.size(), algorithms().size());
  EXPECT_EQ(hashes.size(), algorithms().size());
}

TEST(AlgorithmTable, RefusesMissingCombinationsAndListsTheExistingOnes) {
  std::set<std::string> existing;
  for (const BaseAlgorithm inside : base_algorithms()) {
    for (const BaseAlgorithm across : base_algorithms()) {
      if (!traits(inside).has_name_in_scenarios || !traits(across).has_name_in_scenarios) continue;
      const std::string name = to_string(inside) + "/" + to_string(across);
      const auto parsed = parse_algorithm(name);
      const auto why = why_no_combination(name);
      EXPECT_NE(parsed.has_value(), why.has_value()) << name;
      if (parsed) {
        existing.insert(name);
        EXPECT_EQ(*parsed, AlgorithmChoice(inside, across));
      } else {
        EXPECT_FALSE(why.value_or("").empty()) << name;
      }
    }
  }
  EXPECT_EQ(existing, (std::set<std::string>{"nccl/ring", "nccl/xring", "nccl/halving_doubling",
                                             "nccl/recursive_doubling", "nccl/double_tree",
                                             "nccl/pscpu", "pscpu/pscpu"}));
  for (const char* unknown :
       {"ring", "nccl", "nccl/rings", "rings/nccl", "nccl/nccl/ring", "nccl/nccl/pscpu"})
    EXPECT_FALSE(why_no_combination(unknown)) << unknown;
}

TEST(AlgorithmTable, CombinationsHaveThePropertiesOfTheirStages) {
  const auto both = [](BaseAlgorithm inside, BaseAlgorithm across) -> const AlgorithmTraits& {
    return traits(AlgorithmChoice(inside, across));
  };
  const AlgorithmTraits& to_hosts = both(BaseAlgorithm::kNccl, BaseAlgorithm::kPscpu);
  EXPECT_EQ(to_hosts.nccl, NcclPart::kInsideWorkers);
  EXPECT_EQ(to_hosts.sums_on, SumsOn::kHosts);
  EXPECT_TRUE(to_hosts.channels);
  EXPECT_EQ(to_hosts.shards, ShardLimit::kNoShards);
  EXPECT_EQ(both(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu).shards, ShardLimit::kWorkers);
  EXPECT_EQ(both(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu).nccl, NcclPart::kNone);
  EXPECT_TRUE(both(BaseAlgorithm::kNccl, BaseAlgorithm::kRecursiveDoubling).power_of_two);
  EXPECT_NE(both(BaseAlgorithm::kNccl, BaseAlgorithm::kXring).padded, nullptr);
  // Only NCCL merges collectives, runs them serially and reads GPU memory. A combination of NCCL
  // with another algorithm is an ordinary operation.
  EXPECT_EQ(Strategy::for_algorithm(BaseAlgorithm::kNccl).launch, Launch::kSerial);
  EXPECT_EQ(Strategy::for_algorithm(BaseAlgorithm::kNccl).staging, Staging::kDirect);
  for (const AlgorithmTraits& one : all_traits()) {
    if (!one.algorithm.inside) continue;
    EXPECT_TRUE(one.needs_gpus() && !one.works_in_groups &&
                !one.supports(CollectiveKind::kAllGather, true))
        << one.name;
    EXPECT_EQ(one.merging, Merging::kConcat) << one.name;
    EXPECT_EQ(one.launch, Launch::kConcurrent) << one.name;
  }
}

/// problems_of() must agree with the table about collectives, devices, shards and powers of two.
/// Every supported combination must yield a schedule that the checker proves.
TEST(AlgorithmTable, MatchesTheSupportedSchedules) {
  int made = 0;
  for (const auto& [workers, gpus] :
       {std::pair{4, 2}, std::pair{2, 4}, std::pair{4, 0}, std::pair{3, 1}, std::pair{6, 0}}) {
    const auto cluster = cluster_of(workers, gpus);
    const bool even = (cluster->replicas() & (cluster->replicas() - 1)) == 0;
    for (const AlgorithmTraits& one : all_traits()) {
      for (const CollectiveKind kind : collective_kinds()) {
        Strategy strategy = Strategy::for_algorithm(one.algorithm);
        strategy.collective = kind;
        strategy.out_of_place = !can_be_in_place(kind);
        const auto problems = problems_of(strategy, *cluster);
        const bool there = one.supports(kind, gpus > 0) && (even || !one.power_of_two);
        // The algorithm is for one machine only.
        if (one.drops_odd_device && workers > 1) continue;
        EXPECT_EQ(!complains_about(problems, "algorithm"), there)
            << one.name << " " << to_string(kind) << " " << workers << " x " << gpus;
        if (!problems.empty()) continue;
        const std::int64_t elements = 24 * 7;
        const Collective collective =
            make_collective(*cluster, strategy, DataType::kFloat32, elements, 0);
        EXPECT_EQ(check(*collective.schedule, collective.contract()), std::vector<Violation>())
            << one.name << " " << to_string(kind);
        ++made;
      }
      Strategy two = Strategy::for_algorithm(one.algorithm);
      two.shards = 2;
      const bool room =
          one.shards != ShardLimit::kReplicasOfWorker || cluster->replicas_per_worker() >= 2;
      EXPECT_EQ(!complains_about(problems_of(two, *cluster), "shards"),
                one.shards != ShardLimit::kNoShards && room)
          << one.name << " " << workers << " x " << gpus;
      Strategy channels = Strategy::for_algorithm(one.algorithm);
      channels.channels = 2;
      EXPECT_EQ(!complains_about(problems_of(channels, *cluster), "channels"), one.channels)
          << one.name;
    }
  }
  EXPECT_GT(made, 150);
}

TEST(AlgorithmTable, NcclInsideWorkersHasAStageAcrossWorkers) {
  const auto cluster = cluster_of(4, 2);
  for (const AlgorithmTraits& one : all_traits()) {
    if (one.nccl != NcclPart::kInsideWorkers) continue;
    const Strategy strategy = Strategy::for_algorithm(one.algorithm);
    const auto across = make_across_workers(*cluster, strategy, DataType::kFloat32, 1000, 0);
    ASSERT_TRUE(across) << one.name;
    std::int64_t sends = 0;
    for (Rank r = 1; r < cluster->replicas(); r += 2) {
      for (Lane l = 0; l < across->schedule->lanes(r); ++l) sends += across->schedule->steps(r, l);
    }
    EXPECT_EQ(sends, 0) << one.name << ": only the first rank of a worker has steps";
  }
}

}  // namespace
}  // namespace tutti::core
