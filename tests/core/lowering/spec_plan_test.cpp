// Plans for TensorFlow's all_reduce_spec: which entry takes which gradients, the schedules of its
// algorithms, the notes of a plan, and the golden cases from TensorFlow's sources.

#include "core/lowering/spec_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/algorithm/xring.h"
#include "core/framework/tensorflow/spec_text.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using test::Data;
using test::golden_cases;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::shared_ptr<const Cluster> gpu_cluster(int workers, int gpus) {
  return std::make_shared<const Cluster>(
      std::vector<WorkerGroup>{{test::switch_machine(gpus), workers}}, gpus,
      Network{Network::Kind::kOneSwitch, std::nullopt, microseconds(1), "test"});
}

/// Returns a workload of float32 vectors with these numbers of elements, in creation order.
Workload gradients_of(const std::vector<std::int64_t>& sizes) {
  Workload w;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Variable v;
    v.name = "v" + std::to_string(i);
    v.shape = {sizes[i]};
    v.elements = sizes[i];
    w.gradients.push_back(v);
    w.segments.push_back({v.name, {static_cast<int>(i)}});
  }
  return w;
}

Strategy by_spec(std::string_view text, LimitUnit unit = LimitUnit::kElements) {
  auto read = parse_spec(text);
  EXPECT_TRUE(read) << text;
  AllReduceSpec spec;
  spec.entries = std::move(read->entries);
  spec.api = read->api;
  spec.limit_unit = unit;
  Strategy strategy = Strategy::for_algorithm(
      spec.entries.empty() ? AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu)
                           : spec.entries.back().algorithm.value_or(
                                 AlgorithmChoice(BaseAlgorithm::kPscpu, BaseAlgorithm::kPscpu)));
  strategy.spec = std::move(spec);
  return strategy;
}

Plan planned(const Workload& w, const Strategy& strategy, const Cluster& cluster) {
  auto plan = make_plan(w, strategy, cluster);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().text);
  return plan ? std::move(*plan) : Plan{};
}

std::vector<std::vector<int>> variables(const Plan& p) {
  std::vector<std::vector<int>> lists;
  for (const Pack& pack : p.packs) {
    lists.emplace_back();
    for (const Member& m : pack.payload.members) lists.back().push_back(m.variable);
  }
  return lists;
}

std::vector<int> entries(const Plan& p) {
  std::vector<int> list;
  for (const Pack& pack : p.packs) list.push_back(pack.entry);
  return list;
}

/// Returns the ranks that add several inputs in one step.
std::set<Rank> adding_ranks(const Collective& c) {
  std::set<Rank> ranks;
  for (Rank r = 0; r < c.schedule->ranks(); ++r) {
    for (Lane l = 0; l < c.schedule->lanes(r); ++l) {
      for (std::int64_t i = 0; i < c.schedule->steps(r, l); ++i) {
        if (c.schedule->step(r, l, i).kind == StepKind::kReduce) ranks.insert(r);
      }
    }
  }
  return ranks;
}

TEST(SpecPlan, EveryGradientUsesTheFirstEntryWhoseLimitFits) {
  const auto cluster = gpu_cluster(2, 2);
  const Plan p = planned(gradients_of({10, 1000, 20, 2000}),
                         by_spec("[('pscpu',1,100),('xring',2,-1)]"), *cluster);
  EXPECT_THAT(variables(p),
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(1), ElementsAre(3)));
  EXPECT_THAT(entries(p), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(p.entry_of_gradient, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(p.collective(p.packs[0]).schedule->ranks(), 6) << "the workers' CPUs add";
  EXPECT_EQ(p.collective(p.packs[2]).schedule->ranks(), 4);
  EXPECT_EQ(p.widest().schedule->ranks(), 6);
}

TEST(SpecPlan, EachEntryNumbersItsPacksIndependently) {
  const auto cluster = gpu_cluster(4, 1);
  const Plan p =
      planned(gradients_of({1, 2, 3, 1000, 1001}), by_spec("pscpu:100:pscpu#2"), *cluster);
  std::vector<int> turns;
  for (const Pack& pack : p.packs) turns.push_back(pack.turn);
  EXPECT_THAT(turns, ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(adding_ranks(p.collective(p.packs[0])), ElementsAre(4));
  EXPECT_THAT(adding_ranks(p.collective(p.packs[2])), ElementsAre(6));
  EXPECT_THAT(adding_ranks(p.collective(p.packs[3])), ElementsAre(4, 6))
      << "the first group of two, not the fourth";
  EXPECT_THAT(adding_ranks(p.collective(p.packs[4])), ElementsAre(5, 7));
}

TEST(SpecPlan, PacksContainGradientsOfOneEntry) {
  const auto cluster = gpu_cluster(2, 2);
  Strategy strategy = by_spec("pscpu:100:xring");
  strategy.num_packs = 2;
  const Plan cut = planned(gradients_of({10, 1000, 21, 2000}), strategy, *cluster);
  EXPECT_THAT(entries(cut), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(variables(cut),
              ElementsAre(ElementsAre(0, 2), ElementsAre(2), ElementsAre(1, 3), ElementsAre(3)));
  EXPECT_EQ(cut.collective(cut.packs[0]).elements, 15);
  EXPECT_EQ(cut.collective(cut.packs[1]).elements, 16);
  strategy.num_packs = 0;
  strategy.agg_small_grads_max_bytes = Bytes(100);
  const Plan small = planned(gradients_of({10, 1000, 20, 21, 22}), strategy, *cluster);
  EXPECT_THAT(variables(small), ElementsAre(ElementsAre(0, 2, 3, 4), ElementsAre(1)))
      << "neighbours among those that the entry takes";
  strategy.num_packs = 1;
  EXPECT_EQ(planned(gradients_of({10, 1000, 20}), strategy, *cluster).packs.size(), 2u)
      << "num_packs goes first";
}

TEST(SpecPlan, GroupsOfSmallGradientsHaveTwoMoreThanTheLimitUnlessExact) {
  const auto cluster = gpu_cluster(2, 1);
  Strategy strategy = by_spec("'pscpu'");
  strategy.agg_small_grads_max_bytes = Bytes(100);
  strategy.agg_small_grads_max_group = 3;
  const auto sizes = [&] {
    std::vector<std::size_t> members;
    for (const Pack& pack :
         planned(gradients_of(std::vector<std::int64_t>(10, 5)), strategy, *cluster).packs)
      members.push_back(pack.payload.members.size());
    return members;
  };
  EXPECT_THAT(sizes(), ElementsAre(5, 5));
  strategy.agg_small_grads_exact_group = true;
  EXPECT_THAT(sizes(), ElementsAre(3, 3, 3, 1));
}

TEST(SpecPlan, NcclsPacksFormOneChainAcrossEntries) {
  const auto cluster = gpu_cluster(1, 2);
  const Plan p = planned(gradients_of({10, 1000, 20, 500, 2000}),
                         by_spec("nccl:100:xring:600:nccl"), *cluster);
  EXPECT_THAT(entries(p), ElementsAre(0, 0, 1, 2, 2));
  std::map<int, int> after;  // previous pack of each pack, both by their only variable
  for (const Pack& pack : p.packs) {
    const int before = pack.after < 0 ? -1 : p.packs[pack.after].payload.members[0].variable;
    after[pack.payload.members[0].variable] = before;
  }
  EXPECT_EQ(after, (std::map<int, int>{{4, -1}, {2, 4}, {1, 2}, {0, 1}, {3, -1}}));
}

/// GPU 0 of a worker sends the sum to other workers. TensorFlow does so only after all GPUs of the
/// worker have their copy, so every other GPU first sends GPU 0 an empty message.
TEST(SpecPlan, StagesAcrossWorkersWaitForAllGpusOfTheWorker) {
  for (const char* name : {"nccl/xring", "nccl/rechd", "nccl/pscpu"}) {
    for (const auto& [workers, told] : std::vector<std::pair<int, int>>{{1, 0}, {2, 2 * 3}}) {
      const Plan plan = planned(gradients_of({800}), by_spec(name), *gpu_cluster(workers, 4));
      const Schedule& schedule = *plan.collective(plan.packs[0]).schedule;
      EXPECT_THAT(check(schedule, plan.collective(plan.packs[0]).contract()), IsEmpty());
      int signals = 0;
      for (Rank r = 0; r < schedule.ranks(); ++r) {
        for (Lane l = 0; l < schedule.lanes(r); ++l) {
          for (std::int64_t i = 0; i < schedule.steps(r, l); ++i) {
            const Step step = schedule.step(r, l, i);
            if (step.kind != StepKind::kSend || step.source.count > 0) continue;
            ++signals;
            EXPECT_EQ(step.to.rank(r, schedule.ranks()), r / 4 * 4)
                << "the first GPU of its worker";
          }
        }
      }
      EXPECT_EQ(signals, told) << name << ", " << workers << " workers";
    }
  }
}

// --- notes of plans ---

TEST(SpecPlan, NotesStateDifferencesFromTensorFlow) {
  const auto cluster = gpu_cluster(2, 2);
  const Workload w = gradients_of({10, 1000, 20, 2000});
  const auto notes = [&](const Strategy& s) { return planned(w, s, *cluster).notes.codes(); };
  const auto texts = [&](const Strategy& s) { return planned(w, s, *cluster).notes.texts(); };
  for (const auto& [limit, moved] : {std::pair(100, " 0 of 4 "), std::pair(60, " 1 of 4 ")}) {
    const Strategy s =
        by_spec(fmt::format("[('pscpu',1,{}),('xring',1,-1)]", limit), LimitUnit::kBytes);
    EXPECT_THAT(notes(s), Contains("spec.limits-in-bytes"));
    EXPECT_THAT(texts(s), Contains(HasSubstr(moved))) << "would use another entry";
  }
  EXPECT_THAT(notes(by_spec("pscpu:100:xring")), Contains("spec.limits-in-elements"));
  const Strategy restored = by_spec("[('pscpu',1,100),('xring',1,-1)]");
  EXPECT_THAT(notes(restored), Contains("spec.results-restored"));
  EXPECT_THAT(texts(restored), Contains(testing::ContainsRegex("2 of 4 variables .* v1 .* v2")));
  EXPECT_THAT(notes(by_spec("pscpu:100:xring")), Not(Contains("spec.results-restored")))
      << "tf_cnn_benchmarks carries variables with gradients";
  EXPECT_THAT(notes(by_spec("nccl")), Contains("spec.nccl-in-one-process"));
  EXPECT_THAT(notes(by_spec("nccl/pscpu#2")), Contains("spec.shards-ignored"));
  EXPECT_THAT(notes(by_spec("pscpu:5:xring")), Contains("spec.entry-without-gradients"));
  EXPECT_THAT(notes(by_spec("('xring',2)")), IsEmpty());
}

TEST(SpecPlan, ResultsByEntryRequireVariablesOfOneShape) {
  const auto cluster = gpu_cluster(2, 2);
  Strategy strategy = by_spec("[('pscpu',1,100),('xring',1,-1)]");
  strategy.spec->result_order = ResultOrder::kByEntry;
  const auto refused = make_plan(gradients_of({10, 1000, 20, 2000}), strategy, *cluster);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "all_reduce_spec");
  EXPECT_TRUE(make_plan(gradients_of({10, 20, 1000}), strategy, *cluster))
      << "results are in this order anyway";
}

TEST(SpecPlan, LiteralValidationAppliesTensorFlowsLimits) {
  const auto cluster = gpu_cluster(2, 2);
  const auto error = [&](const char* text, const std::vector<std::int64_t>& sizes) {
    Strategy strategy = by_spec(text);
    strategy.spec->validation = SpecValidation::kLiteral;
    const auto plan = make_plan(gradients_of(sizes), strategy, *cluster);
    if (plan) return std::string();
    EXPECT_FALSE(plan.error().text.empty());
    return fmt::format("{} {}", to_string(plan.error().code), plan.error().field);
  };
  EXPECT_EQ(error("[('nccl/rechd',1,-1)]", {10, 20}), "");
  const std::string conflict = "conflict all_reduce_spec";
  EXPECT_EQ(error("[('nccl/rechd',1,-1)]", {10, 21}), conflict) << "21 elements cannot be halved";
  EXPECT_EQ(error("'nccl'", {10}), conflict);
  EXPECT_EQ(error("[('nccl/xring',1,1000),('xring',1,10)]", {5000}), conflict)
      << "no entry takes them";
  EXPECT_EQ(error("[('nccl/xring',1,5000),('xring',1,10)]", {5000}), "");
  EXPECT_EQ(error("[('rechd',1,5),('xring',1,-1)]", {10}), "")
      << "an unsupported algorithm that no gradient uses";
  EXPECT_EQ(error("[('rechd',1,50),('xring',1,-1)]", {10}), conflict);
  EXPECT_EQ(error("('pscpu',3)", {10}), conflict) << "for two workers";
  EXPECT_EQ(error("('pscpu',2)", {10}), "");
  EXPECT_EQ(error("None", {10}), conflict);
}

// --- TensorFlow's cases ---

TEST(TensorFlowSpec, PiecesOfARingArePadded) {
  for (const Data& c : golden_cases("xring.padded_split")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::int64_t elements = c["input"]["elements"].number(),
                       pieces = c["input"]["pieces"].number();
    const std::int64_t padded = padded_for_xring(elements, pieces, 1);
    EXPECT_EQ(padded - elements, c["expected"]["pad_elements"].number());
    EXPECT_EQ(padded / pieces, c["expected"]["piece_elements"].number());
    // The pieces are sent in one message each.
    const Collective made = make_all_reduce(*test::plain_cluster(static_cast<int>(pieces)),
                                            Strategy::for_algorithm(BaseAlgorithm::kXring),
                                            DataType::kFloat32, elements, 0);
    EXPECT_EQ(made.elements, padded);
    EXPECT_EQ(made.schedule->step(0, 0, 0).source.count, c["expected"]["piece_elements"].number());
    EXPECT_THAT(check(*made.schedule, made.contract()), IsEmpty());
  }
}

/// Each device d has two scalars, d and d + 1, as in TensorFlow's test. Every device must end with
/// the values that the test asserts. The checker proves that the schedules add every contribution
/// once.
TEST(TensorFlowSpec, SumsAndAveragesTheMatrixOfTensorFlowsTest) {
  for (const Data& c : golden_cases("MultiWorkerAllReduce.reduce")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto cluster = gpu_cluster(static_cast<int>(c["input"]["worker_devices"].items().size()),
                                     static_cast<int>(c["input"]["num_gpus_per_worker"].number()));
    const std::int64_t n = cluster->replicas();
    ASSERT_EQ(c["expected"]["SUM"].text(), "n(n-1)/2 and n(n+1)/2");
    ASSERT_EQ(c["expected"]["MEAN"].text(), "(n-1)/2 and (n+1)/2");
    const std::vector<std::int64_t> sums{n * (n - 1) / 2, n * (n + 1) / 2};
    for (const char* text : {"('pscpu/pscpu',2,-1)", "[('pscpu/pscpu',2,100),('xring',2,-1)]"}) {
      for (const auto& [num_packs, agg] :
           std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {0, 100}}) {
        Strategy strategy = by_spec(text);
        strategy.num_packs = num_packs;
        strategy.agg_small_grads_max_bytes = Bytes(agg);
        for (const Reduction reduction : {Reduction::kSum, Reduction::kMean}) {
          strategy.reduction = reduction;
          const Plan plan = planned(gradients_of({1, 1}), strategy, *cluster);
          std::vector<double> result(2, 0);
          for (const Pack& pack : plan.packs) {
            const Contract contract = plan.collective(pack).contract();
            EXPECT_THAT(check(*plan.collective(pack).schedule, contract), IsEmpty());
            double factor = 1;
            for (std::int64_t i = 0; i < plan.collective(pack).schedule->steps(0, 0); ++i) {
              const Step step = plan.collective(pack).schedule->step(0, 0, i);
              if (step.kind == StepKind::kScale) factor *= step.factor;
            }
            for (Lane l = 1; l < plan.collective(pack).schedule->lanes(0); ++l) {
              for (std::int64_t i = 0; i < plan.collective(pack).schedule->steps(0, l); ++i) {
                const Step step = plan.collective(pack).schedule->step(0, l, i);
                if (step.kind == StepKind::kScale) factor *= step.factor;
              }
            }
            for (const Member& m : pack.payload.members) {
              for (std::int32_t d = 0; d < contract.contributors.count; ++d)
                result[m.variable] += factor * (d + m.variable);
            }
          }
          for (std::size_t v = 0; v < 2; ++v) {
            const double expected = static_cast<double>(sums[v]) /
                                    (reduction == Reduction::kMean ? static_cast<double>(n) : 1);
            EXPECT_DOUBLE_EQ(result[v], expected)
                << text << ", num_packs " << num_packs << ", agg " << agg;
          }
        }
      }
    }
  }
}

TEST(TensorFlowSpec, RefusesAnEmptyReduction) {
  for (const Data& c : golden_cases("nccl.ops")) {
    SCOPED_TRACE(test::golden_name(c));
    ASSERT_TRUE(c["input"]["tensors"].items().empty());
    const auto plan = make_plan(gradients_of({}), by_spec("nccl"), *gpu_cluster(1, 2));
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().field, "");
    EXPECT_TRUE(make_plan(gradients_of({1}), by_spec("nccl"), *gpu_cluster(1, 2)));
  }
}

/// TensorFlow's builder accepts a list of gather devices for the first stage, but rejects any other
/// number than one per worker. Here the schedule has one gather device per worker by construction.
TEST(TensorFlowSpec, EveryWorkersCpuGathersInTheFirstStageOfPscpuPscpu) {
  for (const Data& c : golden_cases("pscpu/pscpu.build")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto workers = static_cast<int>(c["input"]["num_workers"].number());
    ASSERT_NE(c["input"]["first_gather_devices"].number(), workers);
    const Plan plan =
        planned(gradients_of({30}), by_spec("('pscpu/pscpu', 2)"), *gpu_cluster(workers, 2));
    EXPECT_EQ(adding_ranks(plan.collective(plan.packs[0])).size(),
              static_cast<std::size_t>(workers));
  }
}

TEST(TensorFlowSpec, SecondStageOfPscpuPscpuInTfCnnBenchmarks) {
  for (const Data& c : golden_cases("tf_cnn_benchmarks pscpu/pscpu#2")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto workers = static_cast<int>(c["input"]["workers"].number());
    const auto cluster = gpu_cluster(workers, 2);
    const std::string text = "pscpu/pscpu#" + c["input"]["shards"].text();
    const Plan plan = planned(gradients_of({30, 40}), by_spec(text), *cluster);
    EXPECT_TRUE(plan.notes.has("spec.shards-ignored"));
    for (const Pack& pack : plan.packs) {
      std::vector<std::string> second;  // CPUs that add twice: their own GPUs, and then the workers
      for (const Rank r : adding_ranks(plan.collective(pack))) {
        int adds = 0;
        for (Lane l = 0; l < plan.collective(pack).schedule->lanes(r); ++l) {
          for (std::int64_t i = 0; i < plan.collective(pack).schedule->steps(r, l); ++i)
            adds += plan.collective(pack).schedule->step(r, l, i).kind == StepKind::kReduce ? 1 : 0;
        }
        if (adds > 1)
          second.push_back("w" + std::to_string(plan.collective(pack).group.device(r).worker) +
                           "/cpu:0");
      }
      std::vector<std::string> expected;
      for (const Data& name : c["expected"]["second_gather_devices"].items())
        expected.push_back(name.text());
      EXPECT_EQ(second, expected);
    }
    Strategy contrib = by_spec(text);
    contrib.spec->api = SpecApi::kMultiWorkerAllReduce;
    EXPECT_THAT(planned(gradients_of({30}), contrib, *cluster).notes.codes(), IsEmpty());
  }
}

}  // namespace
}  // namespace tutti::core
