// What a scenario may not say, and what the user is told: every problem, where it stands, and what to do.

#include "core/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/strategy/plan_digest.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

const std::string kCluster =
    "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 } }\n";
const std::string kWorkload = "workload { variable { name: \"w\" shape: 1000 } }\n";
const std::string kStrategy = "strategy { algorithm: \"ring\" }\n";

Library library() { return Library(test::source_folder() + "/scenarios"); }

std::string errors_of(const std::string& text) {
  const auto scenario = read_scenario(text, "f", library());
  return scenario ? "" : scenario.error().message();
}

Scenario good(const std::string& text) {
  auto scenario = read_scenario(text, "f", library());
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

TEST(Scenario, WithTheFilesThatItNamesItIsReadAnywhereAndMakesTheSamePlan) {
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
    // A library of texts reads no file, also where there are some.
    if (!here->files.empty()) {
      EXPECT_FALSE(read_scenario(here->text, folder + "sent", Library(std::vector<Library::File>())));
    }
  }
  EXPECT_GE(read, 4);
}

TEST(PlanDigest, DiffersWhereverThePlanDoes) {
  const auto digest = [](const std::string& workload, const std::string& strategy, int workers = 2) {
    return plan_digest(good(fmt::format(
        "cluster {{ workers {{ machine: \"dgx1-v100\" count: {} }} network {{ kind: ONE_SWITCH latency_us: 1 }} }}"
        "workload {{ {} }} strategy {{ {} }}",
        workers, workload, strategy)));
  };
  const std::string two = "variable { name: \"a\" shape: 1000 } variable { name: \"b\" shape: 10 }";
  std::set<std::uint64_t> seen{digest(two, "algorithm: \"ring\"")};
  EXPECT_EQ(*seen.begin(), digest(two, "algorithm: \"ring\"")) << "the same again";
  EXPECT_EQ(*seen.begin(), digest(two + "forward_ms: 5", "algorithm: \"ring\"")) << "times are no part of it";
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"pscpu\"")).second);
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"ring\" reduction: MEAN")).second);
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"ring\" bytes_per_pack: 0")).second);
  EXPECT_TRUE(seen.insert(digest(two, "algorithm: \"ring\"", 3)).second);
  EXPECT_TRUE(seen.insert(digest("variable { name: \"a\" shape: 1001 } variable { name: \"b\" shape: 10 }",
                                 "algorithm: \"ring\""))
                  .second);
  EXPECT_TRUE(seen.insert(digest("variable { name: \"c\" shape: 1000 } variable { name: \"b\" shape: 10 }",
                                 "algorithm: \"ring\""))
                  .second);
}

TEST(Scenario, IsTheSameAsJson) {
  const Scenario s = good(
      R"({"cluster": {"workers": [{"machine": "dgx1-v100", "count": 2}], "network": {"kind": "ONE_SWITCH", "latencyUs": 1}},
                             "workload": {"variable": [{"name": "w", "shape": ["1000"]}]}, "strategy": {"algorithm": "ring"}})");
  EXPECT_EQ(s.cluster->replicas(), 16);
  EXPECT_EQ(s.workload.bytes(), Bytes(4000));
}

TEST(Scenario, EmptyTextNamesEverythingThatIsMissing) {
  EXPECT_EQ(errors_of(""),
            "f:1:1: strategy is missing; say at least strategy { algorithm: \"ring\" }\n"
            "f:1:1: cluster is missing; say at least cluster { workers { machine: … } }\n"
            "f:1:1: workload is missing; say at least workload { model: … }");
}

TEST(Scenario, ReportsEveryProblemAtOnceAndInTheOrderOfTheText) {
  const std::string errors = errors_of(
      "cluster {\n"
      "  workers { machine: \"dgx1-v10\" count: 0 }\n"
      "  network { kind: ONE_SWITCH latency_us: -1 bandwidth_gb_per_s: nan }\n"
      "}\n"
      "workload { model: \"resnet51_torchvision\" batch: -4 forward_ms: 1e300 colour: 5 }\n"
      "strategy { algorithm: \"rnig\" shards: 0 bytes_per_pack: -1 num_packs: 99999999999 }\n"
      "run { steps: 0 seed: -3 }\n");
  EXPECT_EQ(errors,
            "f:2:22: there is no machine \"dgx1-v10\"; did you mean \"dgx1-v100\"?\n"
            "f:2:40: workers: count must be at least 1 (got 0)\n"
            "f:3:42: network: latency_us must be at least 0 (got -1)\n"
            "f:3:65: bandwidth_gb_per_s: nan is not a number to work with; give a finite one\n"
            "f:5:19: there is no model \"resnet51_torchvision\"; did you mean \"resnet50_torchvision\"?\n"
            "f:5:49: workload: batch must be at least 1 (got -4)\n"
            "f:5:64: workload: forward_ms must be at most 100000000 (got 1e+300)\n"
            "f:5:70: unknown field \"colour\" in Workload; it has model, variable, batch, gradient_type, layer_times, "
            "flops_efficiency, forward_ms, "
            "backward_ms, update_ms, micro_batches, accumulate_ms, compute_bound_percent, sparse_gradient, on_read\n"
            "f:6:23: strategy: there is no algorithm \"rnig\"; did you mean \"ring\"?\n"
            "f:6:38: strategy: shards must be at least 1 (got 0)\n"
            "f:6:56: strategy: bytes_per_pack must be at least 0 (got -1)\n"
            "f:6:70: num_packs: 99999999999 does not fit; the most is 2147483647\n"
            "f:7:14: run: steps must be at least 1 (got 0)\n"
            "f:7:22: seed: -3 does not fit; the least is 0");
}

// --- conditions ---

std::string with_conditions(const std::string& conditions) {
  return kCluster + kWorkload + kStrategy + "conditions { " + conditions + " }";
}

TEST(Conditions, NameDevicesAndLinksOfTheCluster) {
  const Scenario s =
      good(with_conditions("slow { worker: 1 device: \"gpu3\" slowdown: 1.5 from_ms: 2 to_ms: 4 } "
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

TEST(Conditions, ThatMakeNoSenseAreReported) {
  const auto expect = [](const std::string& conditions, const std::string& problem) {
    EXPECT_THAT(errors_of(with_conditions(conditions)), HasSubstr(problem));
  };
  expect("slow { worker: 2 slowdown: 2 }", "f:4:29: slow: worker must be at most 1 (got 2)");
  expect("slow { worker: 1 slowdown: 0.5 }", "slow: slowdown must be at least 1 (got 0.5)");
  expect("slow { worker: 1 }", "slow: slowdown is missing; how many times as long");
  expect("slow { slowdown: 2 }", "slow: say either worker, which one, or random_workers");
  expect("slow { worker: 1 random_workers: 1 slowdown: 2 }", "slow: say either worker, which one, or random_workers");
  expect("slow { random_workers: 3 slowdown: 2 }", "slow: random_workers must be at most 2 (got 3)");
  expect("slow { random_workers: 1 device: \"gpu0\" slowdown: 2 }", "leave out device");
  expect("slow { worker: 0 device: \"gpu8\" slowdown: 2 }",
         "slow: worker 0 (machine \"dgx1-v100\") has no device \"gpu8\"; it has gpu0, gpu1");
  expect("slow { worker: 0 slowdown: 2 from_ms: 5 to_ms: 5 }", "slow: to_ms must be above from_ms (got 5 and 5)");
  expect("link { from: \"w0/nic0\" to: \"network\" }", "link: bandwidth_share is missing; what is left");
  expect("link { from: \"w0/nic0\" to: \"network\" bandwidth_share: 2 }",
         "link: bandwidth_share must be at most 1 (got 2)");
  expect("link { from: \"w9/nic0\" to: \"network\" bandwidth_share: 1 }",
         "link: there is no part \"w9/nic0\"; parts are called w0/gpu0, w1/nic0, …, and the network is called network");
  expect("link { from: \"w\" to: \"network\" bandwidth_share: 1 }", "link: there is no part \"w\"");
  expect("link { from: \"w99999999999999999999/nic0\" to: \"network\" bandwidth_share: 1 }", "link: there is no part");
  expect("link { from: \"network\" to: \"network\" bandwidth_share: 1 }", "one end must be a part of a worker");
  expect("link { from: \"w0/gpu0\" to: \"network\" bandwidth_share: 1 }",
         "link: nothing joins \"w0/gpu0\" and \"network\" directly; from there links lead to ");
  expect("compute_noise { mean_percent: 1 }", "compute_noise: distribution is missing; say EXPONENTIAL");
  expect("compute_noise { distribution: EXPONENTIAL }", "compute_noise: mean_percent is missing");
  expect("compute_noise { distribution: PARETO mean_percent: 1 }", "compute_noise: tail_index is missing; above 1");
  expect("compute_noise { distribution: PARETO mean_percent: 1 tail_index: 1 }", "tail_index must be at least 1.01");
  expect("compute_noise { distribution: BERNOULLI mean_percent: 1 probability_percent: 0 }",
         "probability_percent must be at least 0.001");
  expect("compute_noise { distribution: EXPONENTIAL mean_percent: 1 tail_index: 2 }",
         "compute_noise: tail_index is of PARETO noise");
}

// --- clusters ---

TEST(Scenario, AConnectionCarriesSomethingOrItIsNotLimited) {
  const auto with = [](const std::string& limit) {
    return "cluster { workers { machine: \"cpu-host\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 " + limit +
           " } }\n" + kWorkload + kStrategy;
  };
  EXPECT_THAT(errors_of(with("connection_gb_per_s: 0")),
              HasSubstr("f:1:114: network: connection_gb_per_s must be above 0 (got 0)"));
  EXPECT_EQ(good(with("connection_gb_per_s: 0.625")).cluster->network()->connection, Bandwidth(625'000'000));
  EXPECT_EQ(good(with("")).cluster->network()->connection, std::nullopt);
}

std::string with_machine(const std::string& parts) {
  return "cluster {\n  workers { machine: \"m\" }\n  machine { name: \"m\"\n" + parts + "\n  }\n}\n" + kWorkload +
         kStrategy;
}
const std::string kGpu = "device { name: \"gpu0\" kind: GPU memory_gb_per_s: 100 }\n";

TEST(Scenario, AWorkerNeedsDevices) {
  EXPECT_THAT(errors_of(with_machine("nic { name: \"n\" bandwidth_gb_per_s: 1 }")),
              HasSubstr("machine \"m\" has no device; a worker needs at least one"));
  EXPECT_THAT(errors_of("cluster { workers { machine: \"dgx1-v100\" replicas: 0 } }" + kWorkload + kStrategy),
              HasSubstr("f:1:52: workers: replicas must be from 1 to 8, the GPUs of \"dgx1-v100\" (got 0); a worker "
                        "without devices cannot take part"));
  EXPECT_THAT(errors_of("cluster { }" + kWorkload + kStrategy), HasSubstr("the cluster has no workers"));
}

TEST(Scenario, EveryWorkerHasTheSameNumberOfDevices) {
  EXPECT_THAT(errors_of("cluster { workers { machine: \"dgx1-v100\" } workers { machine: \"hgx-h100\" replicas: 4 }\n"
                        "network { kind: ONE_SWITCH latency_us: 1 } }" +
                        kWorkload + kStrategy),
              HasSubstr("f:1:52: workers \"hgx-h100\" have 4 devices with replicas, workers \"dgx1-v100\" have 8: "
                        "collectives need the same number on every "
                        "worker; say replicas: 4 for both"));
}

TEST(Scenario, LinksLeadSomewhere) {
  EXPECT_THAT(errors_of(with_machine(
                  kGpu + "link { from: \"gpu0\" to: \"gpu1\" kind: NVLINK bandwidth_gb_per_s: 1 latency_us: 0 }")),
              HasSubstr("f:5:25: link \"gpu0\"–\"gpu1\": to \"gpu1\" leads nowhere: machine \"m\" has no such part; "
                        "did you mean \"gpu0\"?"));
  EXPECT_THAT(errors_of(with_machine(
                  kGpu + "link { from: \"gpu0\" to: \"gpu0\" kind: NVLINK bandwidth_gb_per_s: 1 latency_us: 0 }")),
              HasSubstr("a part cannot be linked to itself"));
  EXPECT_THAT(
      errors_of(with_machine(
          "device { name: \"gpu[0-2]\" kind: GPU memory_gb_per_s: 1 } switch { name: \"s[0-1]\" kind: PCIE_SWITCH }\n"
          "link { from: \"gpu[0-2]\" to: \"s[0-1]\" kind: PCIE bandwidth_gb_per_s: 1 latency_us: 0 }")),
      HasSubstr("3 parts cannot be joined to 2"));
  EXPECT_THAT(errors_of(with_machine("device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 1 }")),
              HasSubstr("no links lead from \"gpu0\" to \"gpu1\""));
}

TEST(Scenario, FiguresOfMachinesMakeSense) {
  const std::string link = "link { from: \"gpu0\" to: \"n\" kind: PCIE ";
  const auto errors = [&](const std::string& figures) {
    return errors_of(with_machine(kGpu + "nic { name: \"n\" bandwidth_gb_per_s: 1 }\n" + link + figures + " }"));
  };
  EXPECT_THAT(errors("bandwidth_gb_per_s: -5 latency_us: 0"),
              HasSubstr("link \"gpu0\"–\"n\": bandwidth_gb_per_s must be above 0 (got -5)"));
  EXPECT_THAT(errors("bandwidth_gb_per_s: 0 latency_us: 0"), HasSubstr("must be above 0 (got 0)"));
  EXPECT_THAT(errors("bandwidth_gb_per_s: 1"), HasSubstr("latency_us is missing; 0 is allowed"));
  EXPECT_THAT(errors("latency_us: 1"), HasSubstr("bandwidth_gb_per_s is missing"));
  EXPECT_THAT(errors("bandwidth_gb_per_s: inf latency_us: 1"), HasSubstr("inf is not a number to work with"));
  EXPECT_THAT(errors_of(with_machine(kGpu + kGpu)), HasSubstr("\"gpu0\" is declared twice in machine \"m\""));
  EXPECT_THAT(errors_of(with_machine("device { name: \"gpu[5-1]\" kind: GPU memory_gb_per_s: 1 }")),
              HasSubstr("\"gpu[5-1]\" is not a name"));
  EXPECT_THAT(errors_of(with_machine("device { name: \"gpu0\" memory_gb_per_s: 1 }")),
              HasSubstr("kind is missing; say GPU or CPU"));
  EXPECT_THAT(errors_of(with_machine(kGpu + "ring { span: ONE_WORKER gpu: [0, 0] }")),
              HasSubstr("gpu must hold each GPU index from 0 to 0 once"));
}

TEST(Scenario, SaysWhereCommunicationSlowsComputation) {
  const Library library(test::source_folder() + "/scenarios");
  const auto read = [&](const std::string& run, const std::string& figure) {
    return read_scenario(with_machine("device { name: \"gpu0\" kind: GPU memory_gb_per_s: 100 " + figure + " }") +
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
  EXPECT_THAT(errors_of(with_machine("device { name: \"gpu0\" kind: GPU memory_gb_per_s: 1 multiprocessors: 0 }")),
              HasSubstr("device \"gpu0\": multiprocessors must be"));
  EXPECT_THAT(errors_of(with_machine("device { name: \"cpu0\" kind: CPU memory_gb_per_s: 1 multiprocessors: 8 }")),
              HasSubstr("device \"cpu0\": multiprocessors are those of a GPU; leave them out"));
  EXPECT_THAT(errors_of(kCluster + "workload { variable { name: \"w\" } compute_bound_percent: 101 }" + kStrategy),
              HasSubstr("workload: compute_bound_percent must be"));
}

TEST(Scenario, SeveralWorkersNeedANetworkAndCards) {
  EXPECT_THAT(errors_of("cluster { workers { machine: \"dgx1-v100\" count: 2 } }" + kWorkload + kStrategy),
              HasSubstr("2 workers need a network"));
  EXPECT_THAT(errors_of("cluster { workers { machine: \"dgx1-v100\" count: 2 } network { } }" + kWorkload + kStrategy),
              testing::AllOf(HasSubstr("network: kind is missing"),
                             HasSubstr("network: latency_us is missing; one way, from card to card")));
  EXPECT_THAT(
      errors_of(
          "cluster { workers { machine: \"m\" count: 2 } network { kind: RAILS latency_us: 1 } machine { name: \"m\" " +
          kGpu + "} }" + kWorkload + kStrategy),
      HasSubstr("machine \"m\" has no network card"));
}

TEST(Scenario, ABandwidthThatIsMillionsOffIsFoundBeforeTheRun) {
  EXPECT_THAT(errors_of("cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH latency_us: "
                        "1 bandwidth_gb_per_s: 0.000001 } }\n"
                        "workload { variable { name: \"w\" shape: [1000, 1000, 1000] } }" +
                        kStrategy),
              HasSubstr("the network at 1e-06 GB/s would take more than a day for the 4000000000 bytes of gradients; "
                        "check its bandwidth"));
}

TEST(Scenario, DevicesThatSendMustReachEachOther) {
  const std::string devices =
      "device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 9 } device { name: \"cpu0\" kind: CPU memory_gb_per_s: 9 "
      "} "
      "nic { name: \"nic[0-1]\" bandwidth_gb_per_s: 9 } ";
  const auto link = [](const std::string& from, const std::string& to) {
    return "link { from: \"" + from + "\" to: \"" + to + "\" kind: PCIE bandwidth_gb_per_s: 9 latency_us: 0 } ";
  };
  const auto errors = [&](const std::string& links, const std::string& network, const std::string& strategy) {
    return errors_of("cluster { workers { machine: \"m\" count: 2 } network { kind: " + network +
                     " latency_us: 1 } machine { name: \"m\" " + devices + links + "} } workload { variable { name: " +
                     "\"w\" shape: 8 } } strategy { algorithm: \"ring\" " + strategy + " }");
  };
  const std::string behind_gpus =
      link("gpu0", "nic[0-1]") + link("gpu1", "nic1") + link("gpu0", "gpu1") + link("gpu[0-1]", "cpu0");
  EXPECT_THAT(errors(behind_gpus, "ONE_SWITCH", "staging: VIA_HOST"),
              HasSubstr("through both hosts' memory (staging: VIA_HOST); switches and CPUs pass traffic on"));
  EXPECT_THAT(errors(behind_gpus, "RAILS", "staging: DIRECT"),
              HasSubstr("no links lead from w0/gpu0 (machine \"m\") to w1/gpu1 (machine \"m\") on the sender's rail"));
  EXPECT_EQ(errors(link("gpu[0-1]", "cpu0") + link("cpu0", "nic[0-1]"), "ONE_SWITCH", ""), "");
}

TEST(Scenario, ReplicasAreOfOneKindAndAlikeInsideAWorker) {
  EXPECT_THAT(errors_of("cluster { workers { machine: \"dgx1-v100\" replicas: 1 } workers { machine: \"cpu-host\" } "
                        "network { kind: ONE_SWITCH latency_us: 1 } }" +
                        kWorkload + kStrategy),
              HasSubstr("a collective's devices are all of one kind"));
  const std::string unlike =
      "machine { name: \"m\" device { name: \"gpu0\" kind: GPU memory_gb_per_s: 9 } device { name: \"gpu1\" kind: GPU "
      "memory_gb_per_s: 8 } link { from: \"gpu0\" to: \"gpu1\" kind: NVLINK bandwidth_gb_per_s: 9 latency_us: 0 } } }";
  const std::string workload = "workload { variable { name: \"w\" shape: 8 } }";
  EXPECT_THAT(errors_of("cluster { workers { machine: \"m\" } " + unlike + workload + kStrategy),
              HasSubstr("\"gpu0\" and \"gpu1\" differ in their rates"));
  EXPECT_EQ(errors_of("cluster { workers { machine: \"m\" replicas: 1 } " + unlike + workload + kStrategy), "");
}

// --- workloads and strategies ---

TEST(Scenario, WorkloadsAreGivenOnce) {
  EXPECT_THAT(errors_of(kCluster + "workload { }" + kStrategy),
              HasSubstr("workload: say model: \"…\", or list variables"));
  EXPECT_THAT(errors_of(kCluster + "workload { model: \"vgg16_keras\" variable { name: \"x\" } batch: 1 }" + kStrategy),
              HasSubstr("model and variable both list variables; keep one"));
  EXPECT_THAT(
      errors_of(kCluster + "workload { variable { name: \"x\" shape: -1 } variable { name: \"x\" } variable { } }" +
                kStrategy),
      testing::AllOf(HasSubstr("f:2:40: variable \"x\": sides of its shape must be 0 or more"),
                     HasSubstr("variable \"x\" is listed twice"), HasSubstr("a variable needs a name")));
  EXPECT_THAT(errors_of(kCluster + "workload { model: \"vgg16_keras\" }" + kStrategy), HasSubstr("batch is missing"));
  EXPECT_THAT(errors_of(kCluster + "workload { model: \"vgg16_keras\" layer_times: \"resnet50_torchvision_v100\" }" +
                        kStrategy),
              HasSubstr("is it the profile of another model?"));
}

TEST(Scenario, StrategiesFitTheCluster) {
  const auto errors = [](const std::string& strategy) {
    return errors_of(kCluster + kWorkload + "strategy { " + strategy + " }");
  };
  EXPECT_THAT(errors("algorithm: \"pscpu\" shards: 3"),
              HasSubstr("strategy: shards: 3 shards are more than the 2 workers"));
  EXPECT_THAT(errors("algorithm: \"ring\" shards: 9"), HasSubstr("9 rings cannot be rotated against each other"));
  EXPECT_THAT(errors("algorithm: \"nccl/ring\" shards: 2"), HasSubstr("leave shards out"));
  EXPECT_THAT(errors("algorithm: \"nccl\" shards: 2"), HasSubstr("did you mean channels?"));
  EXPECT_THAT(errors("algorithm: \"ring\" channels: 2"), HasSubstr("did you mean shards?"));
  EXPECT_THAT(errors("algorithm: \"nccl/tf_ring\""), HasSubstr("there are nccl/ring, "));
  EXPECT_THAT(errors("algorithm: \"ring/nccl\""), HasSubstr("ring does not work inside workers"));
  EXPECT_THAT(errors("algorithm: \"pscpu/ring\""), HasSubstr("hosts hold the sums"));
  EXPECT_THAT(errors("algorithm: \"nccl/rings\""), HasSubstr("did you mean \"nccl/ring\"?"));
  EXPECT_THAT(errors("algorithm: \"ring\" num_packs: 2 merging: SEPARATE"), HasSubstr("leave merging out"));
  EXPECT_THAT(errors("algorithm: \"ring\" bytes_per_pack: 1 num_packs: 2"),
              HasSubstr("bytes_per_pack and num_packs are two ways of packing; keep one"));
  EXPECT_THAT(errors("algorithm: \"ring\" agg_small_grads_max_group: 2"),
              HasSubstr("does nothing without agg_small_grads_max_bytes"));
  const std::string cpus =
      "cluster { workers { machine: \"cpu-host\" count: 3 } network { kind: ONE_SWITCH latency_us: 1 } }";
  EXPECT_THAT(errors_of(cpus + kWorkload + "strategy { algorithm: \"nccl\" }"),
              HasSubstr("\"nccl\" needs GPUs, and a worker of this cluster has none; take ring"));
  EXPECT_THAT(errors_of(cpus + kWorkload + "strategy { algorithm: \"rechd\" }"),
              HasSubstr("needs a power of two of replicas (here 3); take ring"));
  EXPECT_EQ(errors_of(cpus + kWorkload + "strategy { algorithm: \"pscpu\" shards: 3 }"), "");
}

TEST(Scenario, ErrorsInNamedFilesAreReportedThere) {
  const auto scenario = read_scenario("cluster { workers { machine: \"broken.textproto\" } }" + kWorkload + kStrategy,
                                      test::source_folder() + "/tests/data/x", library());
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message(), HasSubstr("tests/data/broken.textproto:3:"));
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
  EXPECT_EQ(good(kCluster + kWorkload + "strategy { algorithm: \"xring\" }").strategy.algorithm, BaseAlgorithm::kXring)
      << "which pads, and ring does not";
}

}  // namespace
}  // namespace tutti::core
