// Runs the golden cases of CollectiveAllReduce and its options: packing, launch order, group sizes,
// means, and the sums of TensorFlow's own test.

#include "core/framework/tensorflow/collective_all_reduce.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "core/lowering/plan.h"
#include "core/scenario/scenario.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
using core::CommunicationOptions;
using core::Implementation;
using core::Lane;
using core::Plan;
using core::Rank;
using core::Scenario;
using core::Step;
using core::StepKind;
using test::Data;
using testing::HasSubstr;

core::Expected<Scenario> read(const std::string& strategy, const std::string& machines,
                              const std::string& variables) {
  return core::read_scenario(
      fmt::format("cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 5 }} }}\n"
                  "workload {{ {} forward_ms: 1 backward_ms: 2 }}\nstrategy {{ {} }}\n",
                  machines, variables, strategy),
      "test.textproto", test::shipped_library());
}

std::string workers_of(int workers, int gpus) {
  return fmt::format("workers {{ machine: \"dgx1-v100\" count: {} replicas: {} }}", workers, gpus);
}

Scenario good(const std::string& strategy, const std::string& variables, int workers = 2,
              int gpus = 2) {
  core::Expected<Scenario> scenario = read(strategy, workers_of(workers, gpus), variables);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return scenario ? std::move(*scenario) : Scenario{};
}

CommunicationOptions options_of(const std::vector<Data>& three) {
  CommunicationOptions options;
  options.bytes_per_pack = three[0].number();
  if (!three[1].is_null()) options.timeout_seconds = three[1].real();
  options.implementation = *core::parse_implementation(three[2].text());
  return options;
}

TEST(CollectiveAllReduceReference, NegativePacksAreRefused) {
  for (const Data& c : test::golden_cases("CommunicationOptions")) {
    SCOPED_TRACE(test::golden_name(c));
    const std::int64_t bytes = c["input"]["bytes_per_pack"].number();
    for (const char* which : {"communication_options", "hints"}) {
      const auto scenario = read(
          fmt::format("tensorflow {{ multi_worker_mirrored {{ {} {{ bytes_per_pack: {} }} }} }}",
                      which, bytes),
          workers_of(2, 2), "variable { name: \"a\" shape: 4 }");
      EXPECT_THAT(test::kinds_of(scenario),
                  testing::ElementsAre("too-small CommunicationOptions.bytes_per_pack"))
          << which;
    }
  }
}

TEST(CollectiveAllReduceReference, OptionsOfTheCallAreMergedIntoThoseOfTheStrategy) {
  for (const Data& c : test::golden_cases("CommunicationOptions.merge")) {
    SCOPED_TRACE(test::golden_name(c));
    const CommunicationOptions merged = core::merge(options_of(c["input"]["base"].items()),
                                                    options_of(c["input"]["override"].items()));
    EXPECT_EQ(merged, options_of(c["expected"]["merged"].items()));
  }
  EXPECT_EQ(core::merge({7, 1.5, Implementation::kNccl}, std::nullopt),
            (CommunicationOptions{7, 1.5, Implementation::kNccl}));
}

TEST(CollectiveAllReduceReference, AHintForABatch) {
  for (const Data& c : test::golden_cases("CollectiveAllReduce.hint")) {
    SCOPED_TRACE(test::golden_name(c));
    EXPECT_EQ(to_string(core::hint_for_batch(
                  *core::parse_implementation(c["input"]["implementation"].text()),
                  c["input"]["batch_size"].number())),
              c["expected"]["hint_passed"].text());
  }
  EXPECT_EQ(core::hint_for_batch(Implementation::kNccl, 1), Implementation::kAuto);
}

TEST(CollectiveAllReduceReference, SelectsTheReductionsImplementation) {
  for (const Data& c : test::golden_cases("implementation selection (reduction)")) {
    SCOPED_TRACE(test::golden_name(c));
    const Data in = c["input"];
    const auto how = core::runtime_collective(
        CollectiveKind::kAllReduce, in["config.collective_nccl"].text() == "true",
        *core::parse_implementation(in["communication_hint"].text()),
        in["NcclReduce_registered"].text() == "true");
    ASSERT_TRUE(how);
    EXPECT_EQ(to_string(*how), c["expected"]["collective"].text());
  }
}

TEST(CollectiveAllReduceReference, SelectsTheOtherImplementations) {
  for (const Data& c : test::golden_cases("implementation selection")) {
    SCOPED_TRACE(test::golden_name(c));
    ASSERT_EQ(c["input"]["type"].text(), "gather");
    const auto how =
        core::runtime_collective(CollectiveKind::kAllGather, true,
                                 *core::parse_implementation(c["input"]["hint"].text()), true);
    ASSERT_TRUE(how);
    EXPECT_EQ(to_string(*how), c["expected"]["collective"].text());
  }
}

TEST(CollectiveAllReduceReference, NcclLaunchesAreOrdered) {
  for (const Data& c : test::golden_cases("CollectiveAllReduce.nccl_serialisation")) {
    SCOPED_TRACE(test::golden_name(c));
    std::vector<std::string> launched;
    for (const Data& name : c["input"]["tensors_in_launch_order"].items())
      launched.push_back(name.text());
    std::string variables;  // gradients are passed last-created first
    for (auto name = launched.rbegin(); name != launched.rend(); ++name)
      variables += fmt::format("variable {{ name: \"{}\" shape: 4 }} ", *name);
    const auto edges = [&](const std::string& hint) {
      const Scenario scenario =
          good(fmt::format("tensorflow {{ multi_worker_mirrored {{ communication_options {{ "
                           "bytes_per_pack: 1 implementation: {} }} }} }}",
                           hint),
               variables);
      const auto name = [&](const core::Pack& pack) {
        return scenario.workload.gradients[pack.payload.members.front().variable].name;
      };
      std::vector<std::string> all;
      for (const core::Pack& pack : scenario.plan.packs) {
        if (pack.after >= 0)
          all.push_back(name(scenario.plan.packs[pack.after]) + "->" + name(pack));
      }
      return all;
    };
    std::vector<std::string> expected;
    for (const Data& edge : c["expected"]["control_edges"].items()) expected.push_back(edge.text());
    EXPECT_EQ(edges(c["input"]["hint"].text()), expected);
    EXPECT_TRUE(edges("RING").empty()) << "rings run beside each other";
  }
}

/// A group consists of all devices of all workers. So Tutti must check in advance what TensorFlow
/// checks late: that all workers have the same number of devices.
TEST(CollectiveAllReduceReference, TheGroupIsAMultipleOfTheDevices) {
  for (const Data& c : test::golden_cases("CollectiveAllReduce.group_size")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto devices = static_cast<int>(c["input"]["devices"].number());
    const auto others = static_cast<int>(c["input"]["group_size"].number()) - devices;
    ASSERT_GT(others, 0);
    const auto scenario = read("tensorflow { multi_worker_mirrored { communication_options { } } }",
                               workers_of(1, devices) + ' ' + workers_of(1, others),
                               "variable { name: \"a\" shape: 4 }");
    EXPECT_THAT(test::kinds_of(scenario), testing::ElementsAre("conflict Workers.replicas"));
  }
}

TEST(CollectiveAllReduceReference, TheMeanIsOverTheWholeGroup) {
  for (const Data& c : test::golden_cases("CollectiveAllReduce.MEAN")) {
    SCOPED_TRACE(test::golden_name(c));
    const Scenario scenario = good(
        "tensorflow { multi_worker_mirrored { communication_options { } } } reduction: MEAN",
        "variable { name: \"a\" shape: 100 }", static_cast<int>(c["input"]["workers"].number()),
        static_cast<int>(c["input"]["devices_per_worker"].number()));
    ASSERT_EQ(scenario.plan.packs.size(), 1u);
    const core::Schedule& schedule =
        *scenario.plan.collective(scenario.plan.packs.front()).schedule;
    for (Rank r = 0; r < schedule.ranks(); ++r) {
      const Lane last = schedule.lanes(r) - 1;
      const Step step = schedule.step(r, last, schedule.steps(r, last) - 1);
      ASSERT_EQ(step.kind, StepKind::kScale) << "rank " << r;
      EXPECT_DOUBLE_EQ(c["input"]["sum"].real() * step.factor, c["expected"]["mean"].real());
    }
  }
}

/// Executes a schedule of sends, receives and divisions on numbers, one step at a time of any lane
/// that can proceed.
std::vector<std::vector<double>> run(const core::Schedule& schedule,
                                     std::vector<std::vector<double>> data) {
  std::map<std::tuple<Rank, Lane, Rank, Lane>, std::deque<std::vector<double>>> sent;
  std::map<std::pair<Rank, Lane>, std::int64_t> done;
  for (bool moved = true; std::exchange(moved, false);) {
    for (Rank r = 0; r < schedule.ranks(); ++r) {
      for (Lane l = 0; l < schedule.lanes(r); ++l) {
        std::int64_t& next = done[{r, l}];
        if (next == schedule.steps(r, l)) continue;
        const Step step = schedule.step(r, l, next);
        if (step.wait.lane >= 0 && done[{r, step.wait.lane}] < step.wait.count) continue;
        std::vector<double>& own = data[r];
        const auto at = own.begin() + step.target.offset;
        if (step.kind == StepKind::kSend) {
          const auto from = own.begin() + step.source.offset;
          sent[{r, l, step.to.rank(r, schedule.ranks()), step.to.lane}].emplace_back(
              from, from + step.source.count);
        } else if (receives(step.kind)) {
          auto& channel = sent[{step.from.rank(r, schedule.ranks()), step.from.lane, r, l}];
          if (channel.empty()) continue;
          for (std::int64_t i = 0; i < step.target.count; ++i) {
            const double came = channel.front()[i];
            at[i] = step.kind == StepKind::kReceiveReduce ? at[i] + came : came;
          }
          channel.pop_front();
        } else if (step.kind == StepKind::kScale) {
          for (std::int64_t i = 0; i < step.target.count; ++i) at[i] *= step.factor;
        }
        ++next;
        moved = true;
      }
    }
  }
  return data;
}

TEST(CollectiveAllReduceReference, SumsAndMeansOfTheUpstreamTest) {
  for (const Data& c : test::golden_cases("CollectiveAllReduce.reduce")) {
    SCOPED_TRACE(test::golden_name(c));
    const auto workers = static_cast<int>(c["input"]["workers"].number());
    const auto devices = static_cast<int>(c["input"]["devices_per_worker"].number());
    for (const char* reduction : {"SUM", "MEAN"}) {
      const Scenario scenario =
          good(fmt::format("tensorflow {{ multi_worker_mirrored {{ communication_options {{ "
                           "bytes_per_pack: 1 }} }} }} "
                           "reduction: {}",
                           reduction),
               "variable { name: \"v0\" shape: 1 } variable { name: \"v1\" shape: 1 }", workers,
               devices);
      ASSERT_EQ(scenario.plan.packs.size(), 2u);
      for (const core::Pack& pack : scenario.plan.packs) {
        const int v = pack.payload.members.front().variable;
        std::vector<std::vector<double>> values;  // device d of every worker has d and d + 1
        for (int r = 0; r < workers * devices; ++r)
          values.push_back({static_cast<double>(r % devices + v)});
        const std::vector<double> expected{c["expected"][reduction].items()[v].real()};
        for (const std::vector<double>& result :
             run(*scenario.plan.collective(pack).schedule, values)) {
          ASSERT_EQ(result.size(), 1u);
          EXPECT_DOUBLE_EQ(result[0], expected[0]) << reduction << " of v" << v;
        }
      }
    }
  }
}

TEST(CollectiveAllReduceReference, MixedTypesDisableTheScopedAllocator) {
  for (const Data& c : test::golden_cases("ScopedAllocator grouping")) {
    SCOPED_TRACE(test::golden_name(c));
    std::string variables;
    int number = 0;
    for (const Data& type : c["input"]["dtypes_in_scope"].items()) {
      variables += fmt::format("variable {{ name: \"v{}\" shape: 4 data_type: {} }} ", number++,
                               type.text() == "float32" ? "FLOAT32" : "FLOAT16");
    }
    const Scenario scenario =
        good("tensorflow { multi_worker_mirrored { communication_options { } } }", variables);
    EXPECT_EQ(scenario.plan.packs.size(), static_cast<std::size_t>(number)) << "nothing is merged";
    EXPECT_THAT(scenario.plan.notes.texts(),
                testing::Contains(HasSubstr(c["expected"]["message"].text())));
  }
}

}  // namespace
}  // namespace tutti
