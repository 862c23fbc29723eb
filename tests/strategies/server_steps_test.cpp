// Training steps of replicas whose variables are on parameter servers. The tests compare the
// dependencies with closed forms, and measure how old the variables are that asynchronous workers
// use.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/lowering/server_plan.h"
#include "core/lowering/staleness.h"
#include "tests/sim/simulated.h"
#include "tests/support/problems.h"

namespace tutti {
namespace {

using core::Time;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns a machine with two GPUs and a CPU, each behind its own port of a switch: 10 GB/s, and 1
/// us from device to device.
std::string machines() {
  return "machine { name: \"m\" device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 100 } "
         "device { name: \"cpu0\" "
         "kind: CPU "
         "memory_gb_per_s: 50 } nic { name: \"nic0\" bandwidth_gb_per_s: 10 } switch { name: "
         "\"plx\" kind: PCIE_SWITCH "
         "} "
         "link { from: \"gpu[0-1]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 "
         "} "
         "link { from: \"plx\" to: \"cpu0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 } "
         "link { from: \"plx\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 } } "
         "machine { name: \"s\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 50 } nic { "
         "name: \"nic0\" "
         "bandwidth_gb_per_s: 10 } "
         "link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 } "
         "} ";
}

core::Scenario one_worker(const std::string& strategy, const std::string& workload, int steps) {
  return test::read(fmt::format(
      "cluster {{ workers {{ machine: \"m\" }} {} }}\nworkload {{ {} }}\nstrategy {{ {} }}\n"
      "run {{ steps: {} network_model: IDEAL interference: OFF }}\n",
      machines(), workload, strategy, steps));
}

core::Summary simulated(const core::Scenario& s) {
  core::Summary summary;
  EXPECT_TRUE(sim::Simulator(sim::Folds::kNever, sim::SkipRepeats::kNever).run(s, {}, {}, summary));
  return summary;
}

/// The CPU sends N to each GPU in sequence, and each GPU computes. The gradients return in
/// sequence, are added (one addition) and applied (the passes of the update). Then all replicas are
/// notified.
TEST(ServerSteps, OneVariableHasAClosedForm) {
  constexpr std::int64_t kBytes = 4'000'000;
  const Time wire = core::transfer_time(core::Bytes(kBytes), core::Bandwidth(10'000'000'000));
  const auto s =
      one_worker("tensorflow { central_storage {} }",
                 "variable { name: \"v\" shape: 1000000 forward_ms: 3 backward_ms: 5 }", 2);
  const core::DeviceRates& cpu = s.cluster->part(s.cluster->host(0)).device;
  const Time add = core::transfer_time(core::Bytes(kBytes), cpu.reduce);
  const Time update = core::transfer_time(core::kUpdatePasses, core::Bytes(kBytes), cpu.memory);
  const Time alpha = core::nanoseconds(1000);
  const Time step =
      (alpha + wire + wire) + Time(8'000'000'000) + (alpha + wire) + add + update + alpha;
  const core::Summary summary = simulated(s);
  ASSERT_EQ(summary.steps().size(), 2u);
  EXPECT_EQ((summary.steps()[0].end - summary.steps()[0].start).count(), step.count());
  EXPECT_EQ(summary.steps()[1].end.count(), 2 * step.count())
      << "variables are read again in every step";
}

/// A layer waits only for its own variables. The variables of the second layer are read while the
/// first layer computes.
TEST(ServerSteps, LayersWaitOnlyForTheirOwnVariables) {
  const std::string first = "variable { name: \"a\" shape: 250000 forward_ms: 1 backward_ms: 1 } ";
  const std::string large = "variable { name: \"b\" shape: 2500000 forward_ms: 1 backward_ms: 1 } ";
  const auto forward_begins_twice =
      simulated(one_worker("tensorflow { central_storage {} }", first + large, 1));
  // Reading b takes 2 ms over the CPU's port for both GPUs. The forward pass of a hides 1 ms of
  // this read.
  const Time wire_a = core::transfer_time(core::Bytes(1'000'000), core::Bandwidth(10'000'000'000));
  const Time wire_b = 10 * wire_a;
  const core::StepRecord& step = forward_begins_twice.steps()[0];
  const Time all_read = core::nanoseconds(1000) + 2 * wire_a + 2 * wire_b;
  EXPECT_GE(step.end - step.start, all_read + Time(3'000'000'000))
      << "b's layer and both backward passes follow its read";
  EXPECT_LT(step.end - step.start, all_read + Time(4'000'000'000) + 4 * wire_b)
      << "a's forward pass hides part of it";
}

TEST(ServerSteps, DistributedReplicatedReadsNoVariablesAtTheStart) {
  const auto s =
      test::read(fmt::format("cluster {{ workers {{ machine: \"m\" count: 2 }} workers {{ machine: "
                             "\"s\" server: true }} network {{ kind: "
                             "ONE_SWITCH latency_us: 5 }} {} }}\nworkload {{ variable {{ name: "
                             "\"v\" shape: 1000 forward_ms: 1 backward_ms: 1 "
                             "}} }}\nstrategy {{ tensorflow {{ tf_cnn_benchmarks {{ "
                             "variable_update: DISTRIBUTED_REPLICATED }} }} }}\n",
                             machines()));
  ASSERT_EQ(s.plan.packs.size(), 1u);
  EXPECT_EQ(s.plan.packs[0].phase, core::PackPhase::kGradients);
  EXPECT_EQ(s.plan.collective(s.plan.packs[0]).kind, core::CollectiveKind::kAllReduce);
  EXPECT_EQ(s.plan.update, core::Update::kOnServers);
}

// --- asynchronous workers ---

core::Scenario asynchronous(int workers, const std::string& conditions, int steps) {
  return test::read(fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} workers {{ machine: \"s\" server: true }} "
      "network "
      "{{ kind: ONE_SWITCH latency_us: 5 }} {} }}\nworkload {{ variable {{ name: \"a\" shape: 1000 "
      "forward_ms: 1 backward_ms: 1 }} variable {{ name: \"b\" shape: 1000 forward_ms: 1 "
      "backward_ms: 1 }} "
      "}}\nstrategy {{ tensorflow {{ parameter_server {{}} }} }}\n{} run {{ steps: {} }}\n",
      workers, machines(), conditions, steps));
}

std::string staleness_note(const core::Summary& summary) {
  for (const std::string& note : summary.info().notes) {
    if (note.find("asynchronous workers") != std::string::npos) return note;
  }
  return "nothing";
}

TEST(Staleness, CountsTheUpdatesOfOthers) {
  core::Versions s(2, 1);
  s.read(0, 0);
  s.read(1, 0);
  s.applied(0, 0);  // no update in between
  s.applied(1, 0);  // one update in between
  s.read(0, 0);
  s.read(1, 0);
  for (int i = 0; i < 3; ++i) s.read(1, 0), s.applied(1, 0);
  s.applied(0, 0);  // three updates in between
  EXPECT_EQ(s.behind().updates, 6);
  EXPECT_EQ(s.behind().most, 3);
  EXPECT_DOUBLE_EQ(s.behind().mean(), 4.0 / 6);
}

/// If the bandwidth of the server's links is too low, workers wait for the links, and for many
/// steps, the differences between the workers' start times change.
core::Scenario narrow(int workers, const std::string& conditions, int steps) {
  core::Scenario s = asynchronous(workers, conditions, steps);
  const auto text = [&] {
    std::string t = s.text;
    const std::string from = "latency_us: 5 ";
    return t.replace(t.find(from), from.size(), "latency_us: 5 bandwidth_gb_per_s: 0.002 ");
  };
  return test::read(text());
}

TEST(SteadyState, DoesNotDependOnTheNumberOfSteps) {
  for (const std::string conditions :
       {"", "conditions { slow { worker: 1 slowdown: 3 } }",
        "conditions { compute_noise { distribution: EXPONENTIAL mean_percent: 20 } }"}) {
    std::optional<core::SteadyState> first;
    for (const int steps : {1, 3, 10, 40, 100}) {
      const core::Summary summary = simulated(narrow(3, conditions, steps));
      ASSERT_TRUE(summary.steady_state()) << conditions;
      const core::SteadyState& state = *summary.steady_state();
      if (!first) first = state;
      EXPECT_EQ(state.step_time, first->step_time) << steps << conditions;
      EXPECT_EQ(state.low, first->low) << steps << conditions;
      EXPECT_EQ(state.high, first->high) << steps << conditions;
      EXPECT_EQ(summary.step_time(), state.step_time);
      EXPECT_LE(state.low, state.step_time);
      EXPECT_GE(state.high, state.step_time);
      EXPECT_GE(std::ssize(summary.steps()), steps);
    }
  }
}

TEST(SteadyState, IsMissingIfConditionsChangeWithTime) {
  const std::string slow = "conditions { slow { worker: 1 slowdown: 3 from_ms: 5 } }";
  const core::Summary summary = simulated(asynchronous(2, slow, 7));
  EXPECT_FALSE(summary.steady_state());
  EXPECT_EQ(std::ssize(summary.steps()), 7);
}

/// Workers that share no link take as long as their computation: two layers, forward and backward.
TEST(SteadyState, OneWorkerAloneHasItsStepTime) {
  const core::Summary summary = simulated(asynchronous(1, "", 1));
  ASSERT_TRUE(summary.steady_state());
  EXPECT_TRUE(summary.steady_state()->steady);
  EXPECT_EQ(summary.steady_state()->first_step, 8);
  EXPECT_EQ(summary.steady_state()->end_step, 32);
  EXPECT_EQ(summary.steady_state()->low, summary.steady_state()->high);
  const core::StepRecord& last = summary.steps().back();
  EXPECT_EQ(summary.step_time(), last.end - last.start);
}

TEST(Staleness, OneWorkerIsNeverBehind) {
  EXPECT_THAT(staleness_note(simulated(asynchronous(1, "", 3))),
              HasSubstr("0.00 updates by other workers"));
}

/// With W identical workers, every other worker makes one update between a worker's read of a
/// variable and its update of this variable.
TEST(Staleness, IdenticalWorkersHaveTheirNumberMinusOne) {
  for (const int workers : {2, 4}) {
    const std::string note = staleness_note(simulated(asynchronous(workers, "", 20)));
    EXPECT_THAT(note, HasSubstr(fmt::format("and at most {}", workers - 1))) << note;
  }
}

/// A worker that takes ten times as long delays no other worker. The gradients of the slow worker
/// are older by the number of steps that another worker completes meanwhile.
TEST(Staleness, ASlowWorkerMissesTheStepsThatOthersCompleteMeanwhile) {
  const std::string slow = "conditions { slow { worker: 1 slowdown: 10 } }";
  const std::string even = staleness_note(simulated(asynchronous(2, "", 30)));
  const std::string uneven = staleness_note(simulated(asynchronous(2, slow, 30)));
  EXPECT_THAT(uneven, testing::AnyOf(HasSubstr("and at most 9"), HasSubstr("and at most 10")))
      << uneven;
  EXPECT_THAT(uneven, HasSubstr("has ended 44 steps, and the fastest 442")) << uneven;
  EXPECT_THAT(even, HasSubstr("has ended 32 steps, and the fastest 32")) << even;
}

// --- invalid scenarios ---

std::vector<std::string> refused(const std::string& cluster, const std::string& strategy) {
  return test::kinds_of(
      core::read_scenario(fmt::format("cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 5 }} "
                                      "{} }}\nworkload {{ variable {{ "
                                      "name: \"v\" shape: 8 }} }}\nstrategy {{ {} }}\n",
                                      cluster, machines(), strategy),
                          "f", core::Library(std::vector<core::Library::File>())));
}

TEST(ServerStrategies, ReportMissingServers) {
  const std::string two = "workers { machine: \"m\" count: 2 } ",
                    server = "workers { machine: \"s\" server: true } ";
  EXPECT_THAT(refused(two, "tensorflow { one_device {} }"),
              ElementsAre("conflict TensorFlow.one_device"));
  EXPECT_THAT(refused(two, "tensorflow { mirrored {} }"),
              ElementsAre("unsupported TensorFlow.mirrored"));
  EXPECT_THAT(refused(two, "tensorflow { central_storage {} }"),
              ElementsAre("conflict TensorFlow.central_storage"));
  EXPECT_THAT(refused(two, "tensorflow { parameter_server {} }"),
              ElementsAre("missing TensorFlow.parameter_server"));
  EXPECT_THAT(refused(two, "tensorflow { tf_cnn_benchmarks {} }"),
              ElementsAre("missing TensorFlow.tf_cnn_benchmarks"));
  EXPECT_THAT(refused(two + server, "algorithm: \"ring\""), ElementsAre("conflict Scenario"));
  EXPECT_THAT(refused(server, "tensorflow { parameter_server {} }"),
              ElementsAre("conflict Cluster"));
  EXPECT_THAT(refused(server + two, "tensorflow { parameter_server {} }"),
              ElementsAre("conflict Workers"));
  EXPECT_THAT(refused(two + server, "tensorflow { parameter_server {} } reduction: MAX"),
              ElementsAre("conflict Strategy.reduction"));
  EXPECT_THAT(refused(two + server, "tensorflow { parameter_server {} } bytes_per_pack: 8"),
              ElementsAre("conflict Strategy.bytes_per_pack"));
  EXPECT_THAT(
      refused(two, "tensorflow { tf_cnn_benchmarks { variable_update: DISTRIBUTED_ALL_REDUCE } }"),
      ElementsAre("missing TensorFlow.tf_cnn_benchmarks"));
  EXPECT_THAT(refused("workers { machine: \"m\" }",
                      "tensorflow { mirrored { cross_device_ops: HIERARCHICAL_COPY_ALL_REDUCE "
                      "num_packs: -1 } }"),
              ElementsAre("too-small MirroredStrategy.num_packs"));
  EXPECT_THAT(refused("workers { machine: \"m\" }",
                      "algorithm: \"reduction_to_one_device\" reduce_to_device: \"gpu7\""),
              ElementsAre("unknown-name Strategy.reduce_to_device"));
}

TEST(TensorFlow, RefusesUnsupportedReductions) {
  const auto kinds = [](int workers, const std::string& type, const std::string& strategy) {
    return test::kinds_of(
        core::read_scenario(fmt::format("cluster {{ workers {{ machine: \"m\" count: {} }} network "
                                        "{{ kind: ONE_SWITCH latency_us: 5 }} {} "
                                        "}}\nworkload {{ variable {{ name: \"v\" shape: 64 "
                                        "data_type: {} }} }}\nstrategy {{ {} }}\n",
                                        workers, machines(), type, strategy),
                            "f", core::Library(std::vector<core::Library::File>())));
  };
  const std::string all_reduce = "tensorflow { multi_worker_mirrored {} } ",
                    mirrored = "tensorflow { mirrored {} } ";
  const auto reduction = ElementsAre("conflict Strategy.reduction");
  EXPECT_THAT(kinds(2, "FLOAT32", all_reduce + "reduction: MAX"), reduction);
  EXPECT_THAT(kinds(2, "FLOAT32", all_reduce + "reduction: PROD"), reduction);
  EXPECT_THAT(kinds(1, "FLOAT32", mirrored + "reduction: MIN"), reduction);
  EXPECT_THAT(kinds(2, "FLOAT32", all_reduce + "reduction: MEAN"), testing::IsEmpty());
  const auto type = ElementsAre("conflict Strategy.tensorflow");
  EXPECT_THAT(kinds(2, "INT32", all_reduce), type);
  EXPECT_THAT(kinds(2, "INT32",
                    "tensorflow { tf_cnn_benchmarks { variable_update: COLLECTIVE_ALL_REDUCE } }"),
              type);
  EXPECT_THAT(kinds(2, "INT64", all_reduce), testing::IsEmpty());
  EXPECT_THAT(kinds(1, "INT32", mirrored), testing::IsEmpty()) << "its kernels do";
}

TEST(HierarchicalCopies, AnOddDeviceIsReducedUnlessItIsDropped) {
  for (const bool drops : {false, true}) {
    const std::string odd =
        "machine { name: \"m3\" device { name: \"gpu[0-2]\" kind: GPU memory_gb_per_s: 100 } "
        "device { name: \"cpu0\" "
        "kind: CPU "
        "memory_gb_per_s: 50 } link { from: \"gpu[0-2]\" to: \"cpu0\" kind: PCIE "
        "bandwidth_gb_per_s: 10 latency_us: 1 "
        "} }";
    const auto s = test::read(
        fmt::format("cluster {{ workers {{ machine: \"m3\" }} {} }}\nworkload {{ variable {{ name: "
                    "\"v\" shape: 8 }} }}\n"
                    "strategy {{ algorithm: \"hierarchical_copy\" drop_odd_device: {} }}\n",
                    odd, drops ? "true" : "false"));
    const core::Collective& c = s.plan.collective(s.plan.packs.front());
    EXPECT_EQ(c.contract().contributors.count, drops ? 2 : 3);
    EXPECT_EQ(c.contract().receivers.count, 3);
    EXPECT_EQ(core::check(*c.schedule, c.contract()), std::vector<core::Violation>{});
    EXPECT_TRUE(s.plan.notes.has("plan.odd-device-left-out") ||
                s.plan.notes.has("plan.odd-device-counts"));
  }
}

}  // namespace
}  // namespace tutti
