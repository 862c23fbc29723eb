#include "core/strategy/collective.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using test::Data;
using test::golden_cases;

std::shared_ptr<const Cluster> gpu_cluster(int workers, int gpus) {
  return std::make_shared<const Cluster>(
      std::vector<WorkerGroup>{{test::switch_machine(gpus), workers}}, gpus,
      Network{Network::Kind::kOneSwitch, std::nullopt, microseconds(1), "test"});
}

Strategy strategy(AlgorithmChoice algorithm, int shards = 1) {
  Strategy s = Strategy::for_algorithm(algorithm);
  s.shards = shards;
  return s;
}

/// Returns the ranks that add several inputs at once (kReduce), in the order of the pieces that
/// they add.
std::vector<Rank> adding_ranks(const Collective& collective) {
  std::map<std::int64_t, Rank> by_inputs;
  std::vector<Rank> ranks;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
    for (Lane l = 0; l < collective.schedule->lanes(r); ++l) {
      for (std::int64_t i = 0; i < collective.schedule->steps(r, l); ++i) {
        if (collective.schedule->step(r, l, i).kind == StepKind::kReduce) ranks.push_back(r);
      }
    }
  }
  return ranks;
}

std::string tensorflow_name(const Collective& collective, Rank rank) {
  const PartId id = collective.group.device(rank);
  const std::string name = collective.group.cluster().part(id).name;
  return "w" + std::to_string(id.worker) + "/" + name.substr(0, 3) + ":" + name.substr(3);
}

TEST(TensorFlowPacking, PsgpuGathersOnTheExpectedGpus) {
  for (const Data& c : golden_cases("psgpu.gather_groups")) {
    const auto cluster = gpu_cluster(static_cast<int>(c["input"]["workers"].number()),
                                     static_cast<int>(c["input"]["gpus_per_worker"].number()));
    int index = 0;
    for (const Data& group : c["expected"]["groups"].items()) {
      const Collective collective = make_all_reduce(
          *cluster,
          strategy(BaseAlgorithm::kPsgpu, static_cast<int>(c["input"]["shards"].number())),
          DataType::kFloat32, 1000, index++);
      std::set<std::string> got, expected;
      for (const Rank r : adding_ranks(collective)) got.insert(tensorflow_name(collective, r));
      for (const Data& name : group.items()) expected.insert(name.text());
      EXPECT_EQ(got, expected) << "pack " << index - 1;
    }
  }
}

TEST(TensorFlowPacking, SecondStageOfHierarchicalShuffles) {
  const std::vector<std::pair<std::vector<Data>, AlgorithmChoice>> features{
      {golden_cases("pscpu/pscpu.second_stage"),
       AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu)},
      {golden_cases("nccl/pscpu.second_stage"),
       AlgorithmChoice(BaseAlgorithm::kNccl, BaseAlgorithm::kPscpu)}};
  for (const auto& [cases, algorithm] : features) {
    for (const Data& c : cases) {
      SCOPED_TRACE(test::golden_name(c));
      const auto workers = static_cast<int>(c["input"]["workers"].number());
      const auto cluster = gpu_cluster(workers, 2);
      for (const int index : {0, 1}) {
        const Collective collective = make_all_reduce(
            *cluster, strategy(algorithm, static_cast<int>(c["input"]["shards"].number())),
            DataType::kFloat32, 1000, index);
        std::multiset<std::string> adding;
        for (const Rank r : adding_ranks(collective)) adding.insert(tensorflow_name(collective, r));
        // In its first stage, pscpu/pscpu adds once on every CPU.
        if (algorithm == AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu)) {
          for (int w = 0; w < workers; ++w)
            adding.erase(adding.find("w" + std::to_string(w) + "/cpu:0"));
        }
        std::multiset<std::string> expected;
        for (const Data& name : c["expected"]["second_gather_devices"].items())
          expected.insert(name.text());
        EXPECT_EQ(adding, expected) << "pack " << index << ": the same devices for every pack";
      }
    }
  }
}

TEST(Pscpu, PacksAlternateBetweenTheCpusOfWorkers) {
  const auto cluster = gpu_cluster(4, 1);
  const auto summing_at = [&](int index) {
    return adding_ranks(make_all_reduce(*cluster, strategy(BaseAlgorithm::kPscpu, 2),
                                        DataType::kFloat32, 1000, index));
  };
  EXPECT_EQ(summing_at(0), (std::vector<Rank>{4, 6})) << "groups are strided: CPUs 0 and 2";
  EXPECT_EQ(summing_at(1), (std::vector<Rank>{5, 7}));
  EXPECT_EQ(summing_at(2), summing_at(0));
}

TEST(Nccl, SmallPacksUseFewChannels) {
  const auto cluster = gpu_cluster(1, 8);
  Strategy s = strategy(BaseAlgorithm::kNccl);
  s.channels = 8;
  const auto lanes = [&](std::int64_t bytes) {
    return make_all_reduce(*cluster, s, DataType::kFloat32, bytes / 4, 0).schedule->lanes(0);
  };
  EXPECT_EQ(lanes(4), 1);
  EXPECT_EQ(lanes(8 << 10), 1) << "16 KiB of traffic";
  EXPECT_EQ(lanes(16 << 10), 2);
  EXPECT_EQ(lanes(1 << 20), 8);
}

TEST(Nccl, ChannelsEnterAndLeaveWorkersAtDifferentGpus) {
  const auto cluster = gpu_cluster(2, 4);
  Strategy s = strategy(BaseAlgorithm::kNccl);
  s.channels = 4;
  const Collective c = make_all_reduce(*cluster, s, DataType::kFloat32, 1 << 20, 0);
  std::set<Rank> leaving;
  for (Lane l = 0; l < 4; ++l) {
    for (Rank r = 0; r < 4; ++r) {
      if (c.schedule->step(r, l, 0).to.rank(r, 8) >= 4) leaving.insert(r);
    }
  }
  EXPECT_EQ(leaving.size(), 4u);
}

TEST(Collective, EveryAlgorithmIsProvedOnEveryShapeOfCluster) {
  for (const auto& [workers, gpus] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 1}}) {
    const auto cluster = gpu_cluster(workers, gpus);
    for (const std::string& name : algorithm_names()) {
      for (const int shards : {1, 2, 3}) {
        for (const Reduction reduction : {Reduction::kSum, Reduction::kMean}) {
          Strategy s = strategy(*parse_algorithm(name), shards);
          s.reduction = reduction;
          if (!problems_of(s, *cluster).empty()) continue;
          for (const std::int64_t elements :
               {std::int64_t{1}, std::int64_t{workers} * gpus - 1, std::int64_t{1009}}) {
            for (const int index : {0, 1}) {
              const Collective c =
                  make_all_reduce(*cluster, s, DataType::kFloat32, elements, index);
              EXPECT_EQ(check(*c.schedule, c.contract()), std::vector<Violation>())
                  << name << ", " << shards << " shards, " << workers << " x " << gpus << ", "
                  << elements << " elements, pack " << index;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti::core
