// Invalid scenarios. Every problem must be reported with its code, field, place and remedy. Further
// tests check the values of valid scenarios.

#include "core/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/scenario/plan_digest.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::at;
using test::FailsWith;
using test::FailsWithAll;
using enum ProblemCode;

const std::string kCluster =
    "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH latency_us: "
    "1 } }\n";
const std::string kWorkload = "workload { variable { name: \"w\" shape: 1000 } }\n";
const std::string kStrategy = "strategy { algorithm: \"ring\" }\n";

std::string errors_of(const std::string& text) {
  const auto scenario = read_scenario(text, "f", test::shipped_library());
  return scenario ? "" : scenario.error().message();
}

/// Expects that the text is rejected, and that one of the problems is at the mark (place_in()).
void expect_problem(const std::string& text, ProblemCode code, const std::string& field,
                    const std::string& mark) {
  EXPECT_THAT(read_scenario(text, "f", test::shipped_library()),
              FailsWith(at(text, mark, code, field)))
      << text;
}

Scenario good(const std::string& text) {
  auto scenario = read_scenario(text, "f", test::shipped_library());
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return scenario ? std::move(*scenario) : Scenario{};
}

TEST(Scenario, NeedsThreeLines) {
  const Scenario s = good(kCluster + kWorkload + kStrategy);
  EXPECT_EQ(s.name, "f");
  EXPECT_EQ(s.cluster->replicas(), 16);
  EXPECT_EQ(s.plan.packs.size(), 1u);
  EXPECT_EQ(s.run.steps, 3);
}

TEST(Scenario, ItsFilesSufficeToReproduceThePlanElsewhere) {
  const std::string folder = test::source_folder() + "/scenarios/";
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".textproto") continue;
    const auto here = load_scenario(entry.path(), Library(folder));
    ASSERT_TRUE(here) << here.error().message();
    if (here->cluster->workers() > 64) continue;
    ++read;
    const auto there = read_scenario(here->text, "sent", Library(here->files));
    ASSERT_TRUE(there) << there.error().message();
    EXPECT_EQ(plan_digest(*there), plan_digest(*here)) << entry.path();
    ASSERT_EQ(there->workload.times.size(), here->workload.times.size());
    for (std::size_t i = 0; i < here->workload.times.size(); ++i)
      EXPECT_EQ(there->workload.times[i].forward, here->workload.times[i].forward) << entry.path();
    // A library that consists of texts reads no files, even if they exist.
    if (!here->files.empty()) {
      EXPECT_FALSE(
          read_scenario(here->text, folder + "sent", Library(std::vector<Library::File>())));
    }
  }
  EXPECT_GE(read, 4);
}

TEST(PlanDigest, DiffersIfThePlanDiffers) {
  const auto digest = [](const std::string& workload, const std::string& strategy,
                         int workers = 2) {
    return plan_digest(
        good(fmt::format("cluster {{ workers {{ machine: \"dgx1-v100\" count: {} }} network {{ "
                         "kind: ONE_SWITCH latency_us: 1 }} }}"
                         "workload {{ {} }} strategy {{ {} }}",
                         workers, workload, strategy)));
  };
  const std::string two = "variable { name: \"a\" shape: 1000 } variable { name: \"b\" shape: 10 }";
  std::set<std::uint64_t> seen{digest(two, "algorithm: \"ring\"")};
  EXPECT_EQ(*seen.begin(), digest(two, "algorithm: \"ring\"")) << "the same again";
  EXPECT_EQ(*seen.begin(), digest(two + "forward_ms: 5", "algorithm: \"ring\""))
      << "times are not part of the plan";
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"pscpu\"")).second);
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"ring\" reduction: MEAN")).second);
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"ring\" bytes_per_pack: 0")).second);
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"ring\"", 3)).second);
  EXPECT_TRUE(
      seen.insert(digest("variable { name: \"a\" shape: 1001 } variable { name: \"b\" shape: 10 }",
                         "algorithm: \"ring\""))
          .second);
  EXPECT_TRUE(
      seen.insert(digest("variable { name: \"c\" shape: 1000 } variable { name: \"b\" shape: 10 }",
                         "algorithm: \"ring\""))
          .second);
  const std::string exchange =
      "algorithm: \"ring\" }} communicator {{ name: \"tensor\" size: 2 algorithm: \"ring\" "
      "exchange {{ collective: ALL_REDUCE bytes: {} per_forward: {} }} ";
  for (const auto& [bytes, per_forward] : {std::pair(64, 1), {128, 1}, {64, 2}})
    EXPECT_TRUE(
        seen.insert(digest(two, fmt::format(fmt::runtime(exchange), bytes, per_forward))).second);
}

TEST(Scenario, JsonIsEquivalentToText) {
  const Scenario s = good(
      R"({"cluster": {"workers": [{"machine": "dgx1-v100", "count": 2}], "network": {"kind": "ONE_SWITCH", "latencyUs": 1}},
                             "workload": {"variable": [{"name": "w", "shape": ["1000"]}]}, "strategy": {"algorithm": "ring"}})");
  EXPECT_EQ(s.cluster->replicas(), 16);
  EXPECT_EQ(s.workload.bytes(), Bytes(4000));
}

TEST(Scenario, AnEmptyTextReportsAllMissingFields) {
  EXPECT_THAT(read_scenario("", "f", test::shipped_library()),
              FailsWithAll(std::vector<test::Mistake>{{kMissing, "Scenario.strategy", 1, 1, "f"},
                                                      {kMissing, "Scenario.cluster", 1, 1, "f"},
                                                      {kMissing, "Scenario.workload", 1, 1, "f"}}));
}

TEST(Scenario, ReportsEveryProblemAtOnceAndInTheOrderOfTheText) {
  EXPECT_THAT(
      read_scenario(
          "cluster {\n"
          "  workers { machine: \"dgx1-v10\" count: 0 }\n"
          "  network { kind: ONE_SWITCH latency_us: -1 bandwidth_gb_per_s: nan }\n"
          "}\n"
          "workload { model: \"resnet51_torchvision\" batch: -4 forward_ms: 1e300 colour: 5 }\n"
          "strategy { algorithm: \"rnig\" shards: 0 bytes_per_pack: -1 num_packs: 99999999999 }\n"
          "run { steps: 0 seed: -3 }\n",
          "f", test::shipped_library()),
      FailsWithAll(std::vector<test::Mistake>{{kUnknownName, "Workers.machine", 2, 22},
                                              {kTooSmall, "Workers.count", 2, 40},
                                              {kTooSmall, "Network.latency_us", 3, 42},
                                              {kInvalid, "Network.bandwidth_gb_per_s", 3, 65},
                                              {kUnknownName, "Workload.model", 5, 19},
                                              {kTooSmall, "Workload.batch", 5, 49},
                                              {kTooLarge, "Workload.forward_ms", 5, 64},
                                              {kUnknownField, "Workload.colour", 5, 70},
                                              {kUnknownName, "Strategy.algorithm", 6, 23},
                                              {kTooSmall, "Strategy.shards", 6, 38},
                                              {kTooSmall, "Strategy.bytes_per_pack", 6, 56},
                                              {kConflict, "Strategy.num_packs", 6, 59},
                                              {kTooSmall, "Run.steps", 7, 14},
                                              {kTooSmall, "Run.seed", 7, 22}}));
}

TEST(Scenario, SuggestsTheNearestNameForAnUnknownName) {
  const auto read =
      read_scenario("cluster { workers { machine: \"dgx1-v10\" } }" + kWorkload + kStrategy, "f",
                    test::shipped_library());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().problems().front().text, testing::HasSubstr("\"dgx1-v100\""));
}

// --- conditions ---

std::string with_conditions(const std::string& conditions) {
  return kCluster + kWorkload + kStrategy + "conditions { " + conditions + " }";
}

TEST(Conditions, NameDevicesAndLinksOfTheCluster) {
  const Scenario s = good(
      with_conditions("slow { worker: 1 device: \"gpu3\" slowdown: 1.5 from_ms: 2 to_ms: 4 } "
                      "slow { random_workers: 2 slowdown: 2 } "
                      "link { from: \"network\" to: \"w1/nic2\" bandwidth_share: 0.25 at_ms: 7 } "
                      "link { from: \"w0/gpu0\" to: \"w0/gpu1\" bandwidth_share: 0 } "
                      "compute_noise { distribution: PARETO mean_percent: 2 tail_index: 1.5 }"));
  const core::Conditions& c = s.run.conditions;
  ASSERT_EQ(c.slow.size(), 2u);
  EXPECT_EQ(s.cluster->part_name({1, c.slow[0].part}), "w1/gpu3");
  EXPECT_EQ(c.slow[0].slowdown_ppm, 1'500'000);
  EXPECT_EQ(c.slow[0].from, milliseconds(2));
  EXPECT_EQ(c.slow[0].to, milliseconds(4));
  EXPECT_EQ(c.slow[1].random_workers, 2);
  ASSERT_EQ(c.links.size(), 4u) << "both directions of both, in order of time";
  EXPECT_EQ(s.cluster->link_name(c.links[0].link), "w0/gpu0→w0/gpu1");
  EXPECT_EQ(s.cluster->link_name(c.links[1].link), "w0/gpu1→w0/gpu0");
  EXPECT_EQ(c.links[0].share_ppm, 0);
  EXPECT_EQ(s.cluster->link_name(c.links[2].link), "w1/nic2→network");
  EXPECT_EQ(s.cluster->link_name(c.links[3].link), "network→w1/nic2");
  EXPECT_EQ(c.links[3].share_ppm, 250'000);
  EXPECT_EQ(c.links[3].at, milliseconds(7));
  EXPECT_EQ(c.compute_noise, (Noise{Noise::Kind::kPareto, 20'000, 1'500, 0}));
  EXPECT_FALSE(good(kCluster + kWorkload + kStrategy).run.conditions.any());
}

TEST(Conditions, RefusesInvalidValues) {
  const auto expect = [](const std::string& conditions, ProblemCode code, const std::string& field,
                         const std::string& mark) {
    expect_problem(with_conditions(conditions), code, field, mark);
  };
  expect("slow { worker: 2 slowdown: 2 }", kTooLarge, "SlowDevices.worker", "slow { worker: ^2");
  expect("slow { worker: 1 slowdown: 0.5 }", kTooSmall, "SlowDevices.slowdown", "0.5");
  expect("slow { worker: 1 }", kMissing, "SlowDevices.slowdown", "slow ^{");
  expect("slow { slowdown: 2 }", kConflict, "SlowDevices", "slow ^{");
  expect("slow { worker: 1 random_workers: 1 slowdown: 2 }", kConflict, "SlowDevices", "slow ^{");
  expect("slow { random_workers: 3 slowdown: 2 }", kTooLarge, "SlowDevices.random_workers",
         "3 slow");
  expect("slow { random_workers: 1 device: \"gpu0\" slowdown: 2 }", kUnused, "SlowDevices.device",
         "\"gpu0\"");
  expect("slow { worker: 0 device: \"gpu8\" slowdown: 2 }", kUnknownName, "SlowDevices.device",
         "\"gpu8\"");
  expect("slow { worker: 0 slowdown: 2 from_ms: 5 to_ms: 5 }", kTooSmall, "SlowDevices.to_ms",
         "to_ms: ^5");
  expect("link { from: \"w0/nic0\" to: \"network\" }", kMissing, "LinkChange.bandwidth_share",
         "link ^{");
  expect("link { from: \"w0/nic0\" to: \"network\" bandwidth_share: 2 }", kTooLarge,
         "LinkChange.bandwidth_share", "share: ^2");
  expect("link { from: \"w9/nic0\" to: \"network\" bandwidth_share: 1 }", kUnknownName,
         "LinkChange.from", "\"w9");
  expect("link { from: \"w\" to: \"network\" bandwidth_share: 1 }", kUnknownName, "LinkChange.from",
         "\"w\" to");
  expect("link { from: \"w99999999999999999999/nic0\" to: \"network\" bandwidth_share: 1 }",
         kUnknownName, "LinkChange.from", "\"w999");
  expect("link { from: \"network\" to: \"network\" bandwidth_share: 1 }", kConflict,
         "LinkChange.from", "\"network\"");
  expect("link { from: \"w0/gpu0\" to: \"network\" bandwidth_share: 1 }", kUnknownName,
         "LinkChange.from", "\"w0/gpu0\"");
  expect("compute_noise { mean_percent: 1 }", kMissing, "Noise.distribution", "compute_noise ^{");
  expect("compute_noise { distribution: EXPONENTIAL }", kMissing, "Noise.mean_percent",
         "compute_noise ^{");
  expect("compute_noise { distribution: PARETO mean_percent: 1 }", kMissing, "Noise.tail_index",
         "compute_noise ^{");
  expect("compute_noise { distribution: PARETO mean_percent: 1 tail_index: 1 }", kTooSmall,
         "Noise.tail_index", "tail_index: ^1");
  expect("compute_noise { distribution: BERNOULLI mean_percent: 1 probability_percent: 0 }",
         kTooSmall, "Noise.probability_percent", "probability_percent: ^0");
  expect("compute_noise { distribution: EXPONENTIAL mean_percent: 1 tail_index: 2 }", kUnused,
         "Noise.tail_index", "tail_index: ^2");
}

// --- clusters ---

TEST(Scenario, TheConnectionLimitIsPositiveOrAbsent) {
  const auto with = [](const std::string& limit) {
    return "cluster { workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH "
           "latency_us: 1 " +
           limit + " } }\n" + kWorkload + kStrategy;
  };
  expect_problem(with("connection_gb_per_s: 0"), kTooSmall, "Network.connection_gb_per_s",
                 "connection_gb_per_s: ^0");
  EXPECT_EQ(good(with("connection_gb_per_s: 0.625")).cluster->network()->connection,
            Bandwidth(625'000'000));
  EXPECT_EQ(good(with("")).cluster->network()->connection, std::nullopt);
}

std::string with_machine(const std::string& parts) {
  return "cluster {\n  workers { machine: \"m\" }\n  machine { name: \"m\"\n" + parts +
         "\n  }\n}\n" + kWorkload + kStrategy;
}
const std::string kGpu = "device { name: \"gpu0\" kind: GPU memory_gb_per_s: 100 }\n";

TEST(Scenario, AWorkerNeedsDevices) {
  expect_problem(with_machine("nic { name: \"n\" bandwidth_gb_per_s: 1 }"), kMissing,
                 "Machine.device", "machine ^{");
  expect_problem(
      "cluster { workers { machine: \"dgx1-v100\" replicas: 0 } }" + kWorkload + kStrategy,
      kTooSmall, "Workers.replicas", "replicas: ^0");
  expect_problem(
      "cluster { workers { machine: \"dgx1-v100\" replicas: 9 } }" + kWorkload + kStrategy,
      kTooLarge, "Workers.replicas", "replicas: ^9");
  expect_problem("cluster { }" + kWorkload + kStrategy, kMissing, "Cluster.workers", "cluster ^{");
}

TEST(Scenario, EveryWorkerHasTheSameNumberOfDevices) {
  expect_problem(
      "cluster { workers { machine: \"dgx1-v100\" } workers { machine: \"hgx-h100\" replicas: 4 }\n"
      "network { kind: ONE_SWITCH latency_us: 1 } }" +
          kWorkload + kStrategy,
      kConflict, "Workers.replicas", "replicas: ^4");
  expect_problem(
      "cluster { workers { machine: \"nonesuch\" } workers { machine: \"dgx1-v100\" }\n"
      "workers { machine: \"hgx-h100\" replicas: 4 } network { kind: ONE_SWITCH latency_us: 1 } }" +
          kWorkload + kStrategy,
      kConflict, "Workers.replicas", "replicas: ^4");
}

TEST(Scenario, RefusesLinksToUnknownParts) {
  const std::string link = "kind: NVLINK bandwidth_gb_per_s: 1 latency_us: 0 }";
  expect_problem(with_machine(kGpu + "link { from: \"gpu0\" to: \"gpu1\" " + link), kUnknownName,
                 "Link.to", "\"gpu1\"");
  expect_problem(with_machine(kGpu + "link { from: \"gpu0\" to: \"gpu0\" " + link), kConflict,
                 "Link.to", "to: ^\"gpu0\"");
  expect_problem(with_machine("device { name: \"gpu[0-2]\" kind: GPU memory_gb_per_s: 1 } switch { "
                              "name: \"s[0-1]\" kind: PCIE_SWITCH }\n"
                              "link { from: \"gpu[0-2]\" to: \"s[0-1]\" kind: PCIE "
                              "bandwidth_gb_per_s: 1 latency_us: 0 }"),
                 kConflict, "Link", "link ^{");
  expect_problem(with_machine("device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 1 }"),
                 kMissing, "Machine.link", "machine ^{");
}

TEST(Scenario, RefusesImpossibleParametersOfMachines) {
  const auto expect = [&](const std::string& figures, ProblemCode code, const std::string& field,
                          const std::string& mark) {
    expect_problem(with_machine(kGpu + "nic { name: \"n\" bandwidth_gb_per_s: 1 }\n" +
                                "link { from: \"gpu0\" to: \"n\" kind: PCIE " + figures + " }"),
                   code, field, mark);
  };
  expect("bandwidth_gb_per_s: -5 latency_us: 0", kTooSmall, "Link.bandwidth_gb_per_s", "-5");
  expect("bandwidth_gb_per_s: 0 latency_us: 0", kTooSmall, "Link.bandwidth_gb_per_s",
         "0 latency_us");
  expect("bandwidth_gb_per_s: 1", kMissing, "Link.latency_us", "link ^{");
  expect("latency_us: 1", kMissing, "Link.bandwidth_gb_per_s", "link ^{");
  expect("bandwidth_gb_per_s: inf latency_us: 1", kInvalid, "Link.bandwidth_gb_per_s", "inf");
  expect_problem(with_machine(kGpu + kGpu), kDuplicate, "Device.name",
                 kGpu + "device { name: ^\"gpu0\"");
  expect_problem(with_machine("device { name: \"gpu[5-1]\" kind: GPU memory_gb_per_s: 1 }"),
                 kUnknownName, "Device.name", "\"gpu[5-1]\"");
  expect_problem(with_machine("device { name: \"gpu0\" memory_gb_per_s: 1 }"), kMissing,
                 "Device.kind", "device ^{");
  expect_problem(with_machine(kGpu + "ring { span: ONE_WORKER gpu: [0, 0] }"), kInvalid, "Ring.gpu",
                 "[^0, 0]");
}

TEST(Scenario, NotesWhetherCommunicationSlowsComputation) {
  const Library& library = test::shipped_library();
  const auto read = [&](const std::string& run, const std::string& figure) {
    return read_scenario(
        with_machine("device { name: \"gpu0\" kind: GPU memory_gb_per_s: 100 " + figure + " }") +
            "\nrun { " + run + " }",
        "f", library);
  };
  EXPECT_EQ(read("", "")->run.interference, Interference::kWhereKnown);
  EXPECT_EQ(read("interference: ON", "")->run.interference, Interference::kOn);
  EXPECT_EQ(read("interference: OFF", "")->run.interference, Interference::kOff);
  const auto multiprocessors = [](const Scenario& s) {
    return s.cluster->part(s.cluster->replica(0)).device.multiprocessors;
  };
  EXPECT_EQ(multiprocessors(*read("", "multiprocessors: 132")), 132);
  EXPECT_EQ(multiprocessors(*read("", "")), 0) << "not known";
  expect_problem(
      with_machine("device { name: \"gpu0\" kind: GPU memory_gb_per_s: 1 multiprocessors: 0 }"),
      kTooSmall, "Device.multiprocessors", "multiprocessors: ^0");
  expect_problem(
      with_machine("device { name: \"cpu0\" kind: CPU memory_gb_per_s: 1 multiprocessors: 8 }"),
      kUnused, "Device.multiprocessors", "multiprocessors: ^8");
  expect_problem(
      kCluster + "workload { variable { name: \"w\" } compute_bound_percent: 101 }" + kStrategy,
      kTooLarge, "Workload.compute_bound_percent", "101");
}

TEST(Scenario, SeveralWorkersNeedANetworkAndNics) {
  expect_problem("cluster { workers { machine: \"dgx1-v100\" count: 2 } }" + kWorkload + kStrategy,
                 kMissing, "Cluster.network", "cluster ^{");
  const std::string of_nothing =
      "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { } }" + kWorkload + kStrategy;
  expect_problem(of_nothing, kMissing, "Network.kind", "network ^{");
  expect_problem(of_nothing, kMissing, "Network.latency_us", "network ^{");
  expect_problem(
      "cluster { workers { machine: \"m\" count: 2 } network { kind: RAILS latency_us: 1 } machine "
      "{ name: \"m\" " +
          kGpu + "} }" + kWorkload + kStrategy,
      kMissing, "Cluster", "cluster ^{");
}

TEST(Scenario, RefusesABandwidthThatIsTooLowToSimulate) {
  expect_problem(
      "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH "
      "latency_us: "
      "1 bandwidth_gb_per_s: 0.000001 } }\n"
      "workload { variable { name: \"w\" shape: [1000, 1000, 1000] } }" +
          kStrategy,
      kTooSmall, "Cluster", "cluster ^{");
}

TEST(Scenario, DevicesThatSendMustReachEachOther) {
  const std::string devices =
      "device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 9 } device { name: \"cpu0\" kind: "
      "CPU memory_gb_per_s: 9 "
      "} "
      "nic { name: \"nic[0-1]\" bandwidth_gb_per_s: 9 } ";
  const auto link = [](const std::string& from, const std::string& to) {
    return "link { from: \"" + from + "\" to: \"" + to +
           "\" kind: PCIE bandwidth_gb_per_s: 9 latency_us: 0 } ";
  };
  const auto text = [&](const std::string& links, const std::string& network,
                        const std::string& strategy) {
    return "cluster { workers { machine: \"m\" count: 2 } network { kind: " + network +
           " latency_us: 1 } machine { name: \"m\" " + devices + links +
           "} } workload { variable { name: " +
           "\"w\" shape: 8 } } strategy { algorithm: \"ring\" " + strategy + " }";
  };
  const std::string behind_gpus = link("gpu0", "nic[0-1]") + link("gpu1", "nic1") +
                                  link("gpu0", "gpu1") + link("gpu[0-1]", "cpu0");
  expect_problem(text(behind_gpus, "ONE_SWITCH", "staging: VIA_HOST"), kConflict, "Cluster",
                 "cluster ^{");
  expect_problem(text(behind_gpus, "RAILS", "staging: DIRECT"), kConflict, "Cluster", "cluster ^{");
  EXPECT_EQ(errors_of(text(link("gpu[0-1]", "cpu0") + link("cpu0", "nic[0-1]"), "ONE_SWITCH", "")),
            "");
}

TEST(Scenario, ReplicasOfAWorkerMustBeIdentical) {
  expect_problem(
      "cluster { workers { machine: \"dgx1-v100\" replicas: 1 } workers { machine: \"cpu-host\" } "
      "network { kind: ONE_SWITCH latency_us: 1 } }" +
          kWorkload + kStrategy,
      kConflict, "Workers.machine", "\"cpu-host\"");
  const std::string unlike =
      "machine { name: \"m\" device { name: \"gpu0\" kind: GPU memory_gb_per_s: 9 } device { name: "
      "\"gpu1\" kind: GPU "
      "memory_gb_per_s: 8 } link { from: \"gpu0\" to: \"gpu1\" kind: NVLINK bandwidth_gb_per_s: 9 "
      "latency_us: 0 } } }";
  const std::string workload = "workload { variable { name: \"w\" shape: 8 } }";
  expect_problem("cluster { workers { machine: \"m\" } " + unlike + workload + kStrategy, kConflict,
                 "Workers", "workers ^{");
  EXPECT_EQ(errors_of("cluster { workers { machine: \"m\" replicas: 1 } " + unlike + workload +
                      kStrategy),
            "");
}

// --- workloads and strategies ---

TEST(Scenario, RefusesTwoDescriptionsOfTheWorkload) {
  expect_problem(kCluster + "workload { }" + kStrategy, kMissing, "Workload.model", "workload ^{");
  expect_problem(kCluster +
                     "workload { model: \"vgg16_keras\" variable { name: \"x\" } batch: 1 }" +
                     kStrategy,
                 kConflict, "Workload.model", "\"vgg16_keras\"");
  expect_problem(
      kCluster + "workload { model: \"vgg16_keras\" transformer { } batch: 1 }" + kStrategy,
      kConflict, "Workload.transformer", "transformer ^{");
  const std::string variables =
      kCluster +
      "workload { variable { name: \"x\" shape: -1 } variable { name: \"x\" } variable { } }" +
      kStrategy;
  expect_problem(variables, kInvalid, "Variable.shape", "-1");
  expect_problem(variables, kDuplicate, "Variable.name", "} variable { name: ^\"x\"");
  expect_problem(variables, kMissing, "Variable.name", "variable ^{ }");
  expect_problem(kCluster + "workload { model: \"vgg16_keras\" }" + kStrategy, kMissing, "Workload",
                 "workload ^{");
  expect_problem(
      kCluster + "workload { model: \"vgg16_keras\" layer_times: \"resnet50_torchvision_v100\" }" +
          kStrategy,
      kConflict, "Workload.layer_times", "\"resnet50_torchvision_v100\"");
}

TEST(Scenario, RefusesTransformersWithWrongDimensions) {
  const auto expect = [](const std::string& dimensions, ProblemCode code, const std::string& field,
                         const std::string& mark) {
    expect_problem(
        kCluster + "workload { transformer { " + dimensions + " } batch: 1 }" + kStrategy, code,
        "Transformer." + field, mark);
  };
  const std::string small = "hidden: 64 heads: 8 vocabulary: 96 sequence: 16 ";
  expect(small, kMissing, "layers", "transformer ^{");
  expect(small + "layers: 1 kv_heads: 3", kInvalid, "heads", "heads: ^8");
  expect(small + "layers: 1 tensor_parallel: 3", kInvalid, "heads", "heads: ^8");
  // The embedding and the output projection have 32 * 2^40 elements together, and the attention of
  // nine layers has 36 * 2^40.
  const std::string large =
      "hidden: 1048576 heads: 1024 ffn: 1024 vocabulary: 16777216 sequence: 1 ";
  expect(large + "layers: 9", kTooLarge, "layers", "layers: ^9");
}

TEST(Scenario, RefusesStrategiesThatDoNotFitTheCluster) {
  const auto expect = [](const std::string& strategy, ProblemCode code, const std::string& field,
                         const std::string& mark) {
    expect_problem(kCluster + kWorkload + "strategy { " + strategy + " }", code,
                   "Strategy." + field, mark);
  };
  expect("algorithm: \"pscpu\" shards: 3", kConflict, "shards", "shards: ^3");
  expect("algorithm: \"ring\" shards: 9", kConflict, "shards", "shards: ^9");
  expect("algorithm: \"nccl/ring\" shards: 2", kConflict, "shards", "shards: ^2");
  expect("algorithm: \"nccl\" shards: 2", kConflict, "shards", "shards: ^2");
  expect("algorithm: \"ring\" channels: 2", kConflict, "channels", "channels: ^2");
  expect("algorithm: \"nccl/tf_ring\"", kUnknownName, "algorithm", "\"nccl/tf_ring\"");
  expect("algorithm: \"ring/nccl\"", kUnknownName, "algorithm", "\"ring/nccl\"");
  expect("algorithm: \"pscpu/ring\"", kUnknownName, "algorithm", "\"pscpu/ring\"");
  expect("algorithm: \"nccl/rings\"", kUnknownName, "algorithm", "\"nccl/rings\"");
  expect("algorithm: \"ring\" num_packs: 2 merging: SEPARATE", kUnused, "merging", "SEPARATE");
  expect("algorithm: \"ring\" bytes_per_pack: 1 num_packs: 2", kConflict, "num_packs",
         "num_packs: 2");
  expect("algorithm: \"ring\" agg_small_grads_max_group: 2", kUnused, "agg_small_grads_max_group",
         "group: ^2");
  expect_problem(
      kCluster + kWorkload +
          "strategy { algorithm: \"nccl/ring\" launch: CONCURRENT nccl { communicators: 2 } }",
      kUnused, "Nccl.communicators", "communicators: ^2");
  expect_problem(
      kCluster + kWorkload + "strategy { algorithm: \"nccl\" nccl { communicators: 2 } }", kUnused,
      "Nccl.communicators", "communicators: ^2");
  const std::string cpus =
      "cluster { workers { machine: \"cpu-host\" count: 3 } network { kind: ONE_SWITCH latency_us: "
      "1 } }";
  expect_problem(cpus + kWorkload + "strategy { algorithm: \"nccl\" }", kConflict,
                 "Strategy.algorithm", "\"nccl\"");
  expect_problem(cpus + kWorkload + "strategy { algorithm: \"rechd\" }", kConflict,
                 "Strategy.algorithm", "\"rechd\"");
  EXPECT_EQ(errors_of(cpus + kWorkload + "strategy { algorithm: \"pscpu\" shards: 3 }"), "");
}

TEST(Scenario, ErrorsInNamedFilesHavePositionsInThem) {
  const std::string text =
      "cluster { workers { machine: \"broken.textproto\" } }" + kWorkload + kStrategy;
  const auto scenario =
      read_scenario(text, test::source_folder() + "/tests/data/x", test::shipped_library());
  ASSERT_FALSE(scenario);
  const Location& where = scenario.error().problems().front().where;
  EXPECT_EQ(where.file, test::source_folder() + "/tests/data/broken.textproto");
  EXPECT_EQ(where.line, 3);
}

TEST(Scenario, TheDescriptionStatesHowSmallGradientsArePacked) {
  const auto of = [](const std::string& fields) {
    return describe(good(kCluster + kWorkload +
                         "strategy { algorithm: \"ring\" agg_small_grads_max_bytes: 1024 " +
                         fields + " }")
                        .strategy);
  };
  EXPECT_EQ(of(""), "ring, gradients up to 1 KiB packed together");
  EXPECT_EQ(of("agg_small_grads_max_group: 4"),
            "ring, gradients up to 1 KiB packed together, at most 6 small gradients per pack");
  EXPECT_EQ(of("agg_small_grads_exact_group: true"),
            "ring, gradients up to 1 KiB packed together, at most 10 small gradients per pack");
}

/// NCCL executes BytePS's partitions in one stream; other algorithms reduce them concurrently.
TEST(Scenario, PartitionsOfBytePsAreLaunchedAsUsualForTheAlgorithm) {
  const auto of = [](const std::string& algorithm) {
    return good(kCluster + kWorkload + "strategy { byteps { } algorithm: \"" + algorithm + "\" }")
        .strategy.launch;
  };
  EXPECT_EQ(of("nccl"), Launch::kSerial);
  EXPECT_EQ(of("ring"), Launch::kConcurrent);
}

TEST(Scenario, DefaultsOfTheAlgorithms) {
  const Scenario nccl = good(kCluster + kWorkload + "strategy { algorithm: \"nccl\" }");
  EXPECT_EQ(nccl.strategy.launch, Launch::kSerial);
  EXPECT_EQ(nccl.strategy.staging, Staging::kDirect);
  EXPECT_EQ(nccl.strategy.merging, Merging::kScopedAllocator);
  const Scenario pscpu = good(kCluster + kWorkload + "strategy { algorithm: \"pscpu\" }");
  EXPECT_EQ(pscpu.strategy.launch, Launch::kConcurrent);
  EXPECT_EQ(pscpu.strategy.staging, Staging::kViaHost);
  EXPECT_EQ(pscpu.strategy.merging, Merging::kConcat);
  EXPECT_EQ(good(kCluster + kWorkload + "strategy { algorithm: \"rechd\" }").strategy.algorithm,
            BaseAlgorithm::kHalvingDoubling)
      << "TensorFlow's name";
  EXPECT_EQ(good(kCluster + kWorkload + "strategy { algorithm: \"xring\" }").strategy.algorithm,
            BaseAlgorithm::kXring)
      << "which pads, and ring does not";
}

}  // namespace
}  // namespace tutti::core
