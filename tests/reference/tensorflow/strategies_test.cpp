// Runs the golden cases of CrossDeviceOps on one machine, of the placement of variables, and of the
// strategies that place them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "core/framework/tensorflow/cross_device_ops.h"
#include "core/lowering/server_plan.h"
#include "core/scenario/scenario.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CrossDeviceOps;
using core::Placed;
using core::Placement;
using core::Scenario;
using test::Data;
using testing::HasSubstr;

/// Returns the device of the root of the pack's collective, such as "w0/cpu0".
std::string device_of_root(const Scenario& scenario, const core::Pack& pack) {
  const core::Collective& collective = scenario.plan.collective(pack);
  return scenario.cluster->part_name(collective.group.device(collective.root));
}

core::Expected<Scenario> read(const std::string& workers, const std::string& strategy,
                              const std::string& variables = "variable { name: \"v\" shape: 8 }") {
  return core::read_scenario(
      fmt::format("cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 5 }} }}\n"
                  "workload {{ {} }}\nstrategy {{ {} }}\n",
                  workers, variables, strategy),
      "test.textproto", test::shipped_library());
}
std::string gpus(int count, int workers = 1) {
  return fmt::format("workers {{ machine: \"dgx1-v100\" count: {} replicas: {} }}", workers, count);
}

// --- CrossDeviceOps ---

TEST(CrossDeviceOpsReference, NumPacks) {
  for (const Data& c : test::golden_cases("NcclAllReduce.num_packs")) {
    SCOPED_TRACE(test::golden_name(c));
    const bool first = c["input"]["version"].text() == "1.15";
    const std::int64_t packs = c["input"]["num_packs"].number();
    const std::string problem =
        core::problem_of_num_packs(CrossDeviceOps::kNcclAllReduce, packs, !first);
    const std::string strategy = fmt::format(
        "tensorflow {{ mirrored {{ cross_device_ops: NCCL_ALL_REDUCE num_packs: {} tf_1_15: {} }} "
        "}}",
        packs, first ? "true" : "false");
    const auto scenario = read(
        gpus(2), strategy, "variable { name: \"a\" shape: 8 } variable { name: \"b\" shape: 8 }");
    if (!c["expected"].has("error")) {
      EXPECT_EQ(problem, "");
      ASSERT_TRUE(scenario) << scenario.error().message();
      EXPECT_EQ(scenario->plan.packs.size(), 2u) << "no packing: one for each gradient";
      continue;
    }
    EXPECT_EQ(problem, c["expected"]["message"].text());
    EXPECT_THAT(test::kinds_of(scenario),
                testing::ElementsAre("too-small MirroredStrategy.num_packs"));
  }
  EXPECT_EQ(core::problem_of_num_packs(CrossDeviceOps::kNcclAllReduce, -1, true),
            "NCCL all-reduce requires num_packs >= 0, but -1 is specified");
}

TEST(CrossDeviceOpsReference, ChooseTheBest) {
  for (const Data& c : test::golden_cases("choose_the_best")) {
    SCOPED_TRACE(test::golden_name(c));
    bool all_gpus = true;
    for (const Data& device : c["input"]["devices"].items())
      all_gpus = all_gpus && device.text().find("gpu") != std::string::npos;
    const std::string flag = "NcclAllReduce_kernel_registered";
    const bool nccl = !c["input"].has(flag) || c["input"][flag].text() == "true";
    EXPECT_EQ(to_string(core::choose_the_best(all_gpus, nccl)), c["expected"]["class"].text());
    // The same choice for a scenario, with several devices so that it is visible.
    const std::string workers =
        all_gpus ? gpus(2) : "workers { machine: \"cpu-host\" replicas: 2 }";
    const auto scenario = read(
        workers,
        fmt::format("tensorflow {{ mirrored {{ nccl_kernels: {} }} }}", nccl ? "true" : "false"),
        "variable { name: \"a\" shape: 8 } variable { name: \"b\" shape: 8 }");
    ASSERT_TRUE(scenario) << scenario.error().message();
    EXPECT_THAT(scenario->strategy.distribution_name, HasSubstr(c["expected"]["class"].text()));
    if (c["expected"].has("num_packs")) {
      EXPECT_EQ(std::ssize(scenario->plan.packs), c["expected"]["num_packs"].number());
    }
  }
}

TEST(CrossDeviceOpsReference, HierarchicalCopy) {
  for (const Data& c : test::golden_cases("hierarchical_copy")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto devices = static_cast<int>(c["input"]["devices"].number());
    if (devices == 1) {
      ASSERT_THAT(c["expected"]["result"].text(), HasSubstr("add_n of an empty list"));
      const auto refused = read(gpus(1), "algorithm: \"hierarchical_copy\"");
      EXPECT_THAT(test::kinds_of(refused), testing::ElementsAre("conflict Strategy.algorithm"));
      continue;
    }
    const Data e = c["expected"];
    const core::CopyRoots roots = core::copy_roots(core::HierarchicalCopy::Topology::kDgx1, devices,
                                                   c["input"]["pack_index"].number());
    EXPECT_EQ(roots.first, e["first_root"].number());
    EXPECT_EQ(roots.first, e["final_sum_on"].number());
    EXPECT_EQ(roots.second, e["second_root"].number());
    std::vector<int> halves[2];
    for (int d = 0; d < devices; ++d) halves[d < roots.group ? 0 : 1].push_back(d);
    const bool swapped = roots.first >= roots.group;
    EXPECT_EQ(halves[swapped ? 1 : 0], e["first_group"].ints());
    EXPECT_EQ(halves[swapped ? 0 : 1], e["second_group"].ints());
  }
}

/// The roots for GCP_V100 are those in tf_cnn_benchmarks.
TEST(CrossDeviceOpsReference, HierarchicalCopyOfGcp) {
  std::vector<std::pair<int, int>> roots;
  for (int i = 0; i < 5; ++i) {
    const core::CopyRoots r = core::copy_roots(core::HierarchicalCopy::Topology::kGcpV100, 8, i);
    roots.emplace_back(r.first, r.second);
  }
  EXPECT_EQ(roots, (std::vector<std::pair<int, int>>{{0, 5}, {2, 7}, {5, 0}, {7, 2}, {0, 5}}));
}

// --- sums of numbers ---

struct Numbers {
  std::vector<double> data, scratch;
};

/// Executes a schedule on numbers, one step at a time of any lane that can proceed.
void run(const core::Schedule& schedule, std::vector<Numbers>& ranks) {
  using core::Buffer, core::Lane, core::Rank, core::Step, core::StepKind;
  std::map<std::pair<Rank, Lane>, std::deque<std::tuple<Rank, Lane, std::vector<double>>>> sent;
  std::map<std::pair<Rank, Lane>, std::int64_t> done;
  for (bool moved = true; std::exchange(moved, false);) {
    for (Rank r = 0; r < schedule.ranks(); ++r) {
      ranks[r].scratch.resize(static_cast<std::size_t>(schedule.scratch(r)));
      const auto at = [&](const core::Range& range) {
        Numbers& own = ranks[r];
        return (range.buffer == Buffer::kData ? own.data : own.scratch).begin() + range.offset;
      };
      for (Lane l = 0; l < schedule.lanes(r); ++l) {
        std::int64_t& next = done[{r, l}];
        if (next == schedule.steps(r, l)) continue;
        Step step = schedule.step(r, l, next);
        if (step.wait.lane >= 0 && done[{r, step.wait.lane}] < step.wait.count) continue;
        if (step.kind == StepKind::kSend) {
          const auto from = at(step.source);
          sent[{step.to.rank(r, schedule.ranks()), step.to.lane}].emplace_back(
              r, l, std::vector<double>(from, from + step.source.count));
        } else if (receives(step.kind)) {
          auto& queue = sent[{r, l}];
          if (queue.empty()) continue;
          const auto& [sender, lane, values] = queue.front();
          if (step.kind == StepKind::kReceiveAny)
            step.target.offset += step.stride * schedule.arrival_slot(r, l, sender);
          std::copy(values.begin(), values.end(), at(step.target));
          queue.pop_front();
        } else if (step.kind == StepKind::kScale) {
          for (std::int64_t i = 0; i < step.target.count; ++i) at(step.target)[i] *= step.factor;
        } else if (step.kind == StepKind::kReduce) {
          for (std::int64_t i = 0; i < step.target.count; ++i) {
            double sum = step.accumulate ? at(step.target)[i] : 0;
            for (std::int32_t k = 0; k < step.inputs; ++k)
              sum += at(step.source)[k * step.stride + i];
            at(step.target)[i] = sum;
          }
        }
        ++next;
        moved = true;
      }
    }
  }
}

std::vector<double> flat(const Data& rows) {
  std::vector<double> all;
  for (const Data& row : rows.items()) {
    for (const Data& value : row.items()) all.push_back(value.real());
  }
  return all;
}

/// Expects that every replica has these values at the end, for all reductions on one machine.
void expect_reduced(const std::vector<std::vector<double>>& inputs, const std::string& reduction,
                    const std::vector<double>& expected) {
  const std::string variable =
      fmt::format("variable {{ name: \"t\" shape: {} }}", inputs.front().size());
  for (const char* ops : {"REDUCTION_TO_ONE_DEVICE", "HIERARCHICAL_COPY_ALL_REDUCE"}) {
    const auto scenario =
        read(gpus(static_cast<int>(inputs.size())),
             fmt::format("tensorflow {{ mirrored {{ cross_device_ops: {} }} }} reduction: {}", ops,
                         reduction),
             variable);
    ASSERT_TRUE(scenario) << scenario.error().message();
    ASSERT_EQ(scenario->plan.packs.size(), 1u);
    std::vector<Numbers> ranks;
    for (const std::vector<double>& input : inputs) ranks.push_back({input, {}});
    run(*scenario->plan.collective(scenario->plan.packs.front()).schedule, ranks);
    for (const Numbers& rank : ranks) EXPECT_EQ(rank.data, expected) << ops;
  }
}

TEST(CrossDeviceOpsReference, DenseGradientsAreSummed) {
  for (const Data& c : test::golden_cases("aggregate dense")) {
    SCOPED_TRACE(test::golden_name(c));
    expect_reduced({flat(c["input"]["t0"]), flat(c["input"]["t1"])}, "SUM",
                   flat(c["expected"]["sum"]));
  }
}

/// If n replicas have the same value, their mean is n times the value, divided by n.
TEST(CrossDeviceOpsReference, AMeanDividesTheSum) {
  for (const Data& c : test::golden_cases("divide")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<double> t = flat(c["input"]["t"]);
    std::vector<std::vector<double>> inputs(static_cast<std::size_t>(c["input"]["n"].number()),
                                            std::vector<double>(t.size(), 0));
    inputs.back() = t;
    expect_reduced(inputs, "MEAN", flat(c["expected"]["result"]));
  }
}

// --- placement of variables ---

std::vector<int> placed(const std::vector<std::int64_t>& loads, int places, Placement placement) {
  std::vector<Placed> variables;
  for (const std::int64_t load : loads) variables.push_back({load, core::Bytes(load)});
  return core::place(variables, places, placement);
}

int task_of(const std::string& device) { return std::stoi(device.substr(device.rfind(':') + 1)); }

TEST(VariablePlacementReference, RoundRobin) {
  for (const Data& c : test::golden_cases("replica_device_setter (default round robin)")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::vector<Data> names = c["input"]["variables_in_order"].items();
    const std::vector<int> at =
        placed(std::vector<std::int64_t>(names.size(), 1),
               static_cast<int>(c["input"]["ps"].number()), Placement::kRoundRobin);
    for (std::size_t v = 0; v < names.size(); ++v)
      EXPECT_EQ(at[v], task_of(c["expected"][names[v].text()].text()));
  }
}

TEST(VariablePlacementReference, PinnedVariablesDoNotAdvanceTheRoundRobin) {
  for (const Data& c : test::golden_cases("replica_device_setter")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<Placed> variables;
    std::vector<std::string> names;
    for (const Data& one : c["input"]["order"].items()) {
      const std::string text = one.text();
      names.push_back(text.substr(0, 1));
      const bool pinned =
          text.find("/job:") != std::string::npos && text.find("/job:ps") == std::string::npos;
      variables.push_back({1, core::Bytes(4), pinned});
    }
    const std::vector<int> at = core::place(variables, 2, Placement::kRoundRobin);
    for (std::size_t v = 0; v < names.size(); ++v) {
      const std::string device = c["expected"][names[v]].text();
      EXPECT_EQ(at[v], variables[v].pinned ? -1 : task_of(device)) << device;
    }
  }
}

TEST(VariablePlacementReference, GreedyByBytes) {
  for (const Data& c : test::golden_cases("greedy by bytes")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<std::int64_t> bytes;
    if (c["input"].has("bytes")) {
      bytes = c["input"]["bytes"].numbers();
    } else {
      for (const Data& shape : c["input"]["float32_shapes"].items()) {
        std::int64_t elements = 1;
        for (const std::int64_t side : shape.numbers()) elements *= side;
        bytes.push_back(4 * elements);
      }
    }
    const auto ps = static_cast<int>(c["input"]["ps"].number());
    const std::vector<int> at = placed(bytes, ps, Placement::kGreedyBytes);
    EXPECT_EQ(at, c["expected"]["ps_task"].ints());
    std::vector<std::int64_t> loads(static_cast<std::size_t>(ps));
    for (std::size_t v = 0; v < bytes.size(); ++v) loads[at[v]] += bytes[v];
    EXPECT_EQ(loads, c["expected"]["final_loads"].numbers());
  }
}

TEST(VariablePlacementReference, GreedyWithUniformLoads) {
  for (const Data& c : test::golden_cases("greedy uniform load")) {
    SCOPED_TRACE(test::golden_name(c));
    EXPECT_EQ(placed(c["input"]["loads"].numbers(), static_cast<int>(c["input"]["ps"].number()),
                     Placement::kGreedyBytes),
              c["expected"]["ps_task"].ints());
  }
}

TEST(VariablePlacementReference, CachesHoldTheVariablesThatAreRead) {
  for (const Data& c :
       test::golden_cases("variable cache placement (distributed parameter_server)")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::int64_t elements = c["input"]["elements"].number();
    EXPECT_EQ(core::caches_by_load({elements}, 8),
              std::vector<int>{c["expected"]["cached_on"].text() == "cpu" ? -1 : 0});
    EXPECT_EQ(core::caches_by_load({elements + 1, elements + 2, elements + 1}, 2),
              (std::vector<int>{0, 1, 0}));
  }
}

TEST(VariablePlacementReference, CopiesAreSummedOnAlternatingDevices) {
  for (const Data& c : test::golden_cases("replicated without nccl (tf_cnn_benchmarks)")) {
    SCOPED_TRACE(test::golden_name(c));
    std::string variables;
    const std::int64_t index = c["input"]["tensor_index"].number();
    for (std::int64_t v = 0; v <= index; ++v)
      variables += fmt::format("variable {{ name: \"v{}\" shape: 8 }} ", v);
    const auto scenario =
        read(gpus(static_cast<int>(c["input"]["gpus"].number())),
             "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED } }", variables);
    ASSERT_TRUE(scenario) << scenario.error().message();
    const core::Pack& pack = scenario->plan.packs.front();  // the last-created variable
    ASSERT_EQ(pack.payload.members.front().variable, index);
    const std::string device = c["expected"]["reduced_on"].text();
    EXPECT_EQ(scenario->plan.collective(pack).root, task_of(device)) << device;
    const auto by_cpu = read(gpus(8),
                             "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED "
                             "local_parameter_device: CPU } }",
                             variables);
    ASSERT_TRUE(by_cpu) << by_cpu.error().message();
    for (const core::Pack& p : by_cpu->plan.packs) EXPECT_EQ(device_of_root(*by_cpu, p), "w0/cpu0");
  }
}

TEST(VariablePlacementReference, CentralStorage) {
  for (const Data& c : test::golden_cases("CentralStorageStrategy placement")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto devices = static_cast<int>(c["input"]["compute_devices"].items().size());
    ASSERT_EQ(devices, 1);
    ASSERT_EQ(c["expected"]["parameter_device"].text(), "GPU:0");
    for (const auto& [count, device] : {std::pair(1, "w0/gpu0"), std::pair(2, "w0/cpu0")}) {
      const auto scenario = read(gpus(count), "tensorflow { central_storage {} }");
      ASSERT_TRUE(scenario) << scenario.error().message();
      for (const core::Pack& p : scenario->plan.packs)
        EXPECT_EQ(device_of_root(*scenario, p), device);
    }
  }
}

// --- errors of TensorFlow ---

TEST(StrategiesReference, ParameterServerStrategy) {
  for (const Data& c : test::golden_cases("ParameterServerStrategy (1.15)")) {
    SCOPED_TRACE(test::golden_name(c));
    if (c["expected"].has("message")) {
      const auto refused = read(gpus(2, 2), "tensorflow { parameter_server {} }");
      EXPECT_THAT(test::kinds_of(refused),
                  testing::ElementsAre("missing TensorFlow.parameter_server"));
      continue;
    }
    // "Cannot reduce to another worker": a worker never adds up gradients of another worker's
    // replicas, and never sends a sum to them.
    ASSERT_THAT(c["expected"]["message_prefix"].text(), HasSubstr("another worker"));
    const auto scenario =
        read(gpus(2, 3) + " workers { machine: \"cpu-host\" count: 2 server: true }",
             "tensorflow { parameter_server {} }");
    ASSERT_TRUE(scenario) << scenario.error().message();
    ASSERT_TRUE(scenario->plan.partition);
    for (std::int64_t g = 0; g < scenario->plan.partition->groups(); ++g) {
      for (const core::Pack& pack : scenario->plan.packs) {
        const core::Collective collective = scenario->plan.planned(pack.collective).in(g);
        const core::Schedule& schedule = *collective.schedule;
        std::set<std::int32_t> workers;
        for (core::Rank r = 0; r < schedule.ranks(); ++r) {
          std::int64_t steps = 0;
          for (core::Lane l = 0; l < schedule.lanes(r); ++l) steps += schedule.steps(r, l);
          if (steps > 0) workers.insert(collective.group.device(r).worker);
        }
        EXPECT_LE(workers.size(), 2u);
        for (const std::int32_t w : workers)
          EXPECT_TRUE(w == g || w >= 3) << "worker " << w << " in the sum of worker " << g;
      }
    }
  }
}

TEST(StrategiesReference, ReplicatedAcceptsOneEntry) {
  for (const Data& c : test::golden_cases("tf_cnn_benchmarks replicated")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto refused =
        read(gpus(4), fmt::format("tensorflow {{ tf_cnn_benchmarks {{ variable_update: REPLICATED "
                                  "all_reduce_spec {{ text: "
                                  "\"{}\" }} }} }}",
                                  c["input"]["spec"].text()));
    EXPECT_THAT(test::kinds_of(refused),
                testing::ElementsAre("unsupported TensorFlow.tf_cnn_benchmarks"));
  }
}

}  // namespace
}  // namespace tutti
