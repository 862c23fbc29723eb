// Conditions of a run: slow devices, links that change, background traffic and noise. Complete
// scenarios are simulated and their step times compared with closed forms.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::sim {
namespace {

using core::Summary;
using core::Time;
using testing::HasSubstr;

/// Returns a scenario of four hosts that compute 10 + 20 ms and reduce 4 MB over ports of 1 GB/s.
core::Scenario scenario(const std::string& conditions, const std::string& run = "steps: 3",
                        const std::string& algorithm = "ring") {
  const std::string host =
      "machine { name: \"host\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 30 } nic { "
      "name: \"nic0\" "
      "bandwidth_gb_per_s: 1 } link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: "
      "16 latency_us: 0 } }";
  auto s = core::read_scenario(
      "cluster { workers { machine: \"host\" count: 4 } network { kind: ONE_SWITCH latency_us: 0 "
      "} " +
          host +
          " }\nworkload { variable { name: \"w\" shape: 1000000 } forward_ms: 10 backward_ms: 20 "
          "update_ms: 1 }\n"
          "strategy { algorithm: \"" +
          algorithm + "\" }\nrun { " + run + " }\nconditions { " + conditions + " }",
      "f", test::shipped_library());
  EXPECT_TRUE(s) << (s ? "" : s.error().message());
  return std::move(*s);
}

Summary summary_of(const core::Scenario& s) {
  Summary summary;
  const auto ran = Simulator().run(s, {}, {}, summary);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
  return summary;
}

std::vector<Time> lengths(const Summary& summary) {
  std::vector<Time> all;
  for (const core::StepRecord& step : summary.steps()) all.push_back(step.end - step.start);
  return all;
}

TEST(SlowDevices, DelayAllReplicasByTheirLongerComputation) {
  const Summary plain = summary_of(scenario(""));
  const Summary slow = summary_of(scenario("slow { worker: 2 slowdown: 1.5 }"));
  // The step takes longer by 15 ms of forward and backward pass, half a millisecond of updates, and
  // 3 additions of a quarter of the buffer at 10 GB/s.
  const Time longer = lengths(slow)[2] - lengths(plain)[2];
  EXPECT_GE(longer, core::microseconds(15'500));
  EXPECT_LE(longer, core::microseconds(15'500 + 3 * 50));
  for (const core::StepRecord& step : slow.steps()) {
    EXPECT_EQ(step.awaited, "w2/cpu0");
    EXPECT_EQ(step.slowest, "w2/cpu0");
  }
  EXPECT_EQ(slow.steps()[0].awaited_for, core::milliseconds(15));
  ASSERT_TRUE(slow.awaited());
  EXPECT_EQ(slow.awaited()->device, "w2/cpu0");
  EXPECT_EQ(slow.awaited()->steps, 2);
  EXPECT_EQ(slow.awaited()->of_steps, 2);
  EXPECT_THAT(slow.info().notes,
              testing::Contains("every device of worker 2 takes 1.5 times as long"));
}

TEST(SlowDevices, AreSlowInTheirIntervalAndMultiply) {
  const std::vector<Time> plain = lengths(summary_of(scenario("")));
  const std::vector<Time> later = lengths(summary_of(
      scenario("slow { worker: 0 device: \"cpu0\" slowdown: 2 from_ms: 40 to_ms: 60 }")));
  EXPECT_EQ(later[0], plain[0]);
  EXPECT_GE(later[1] - plain[1], core::milliseconds(20))
      << "the backward pass begins at about 47 ms";
  EXPECT_EQ(later[2], plain[2]);
  const auto forward = [](const std::string& conditions) {
    return summary_of(scenario(conditions)).steps()[0].forward;
  };
  EXPECT_EQ(forward("slow { worker: 1 slowdown: 2 } slow { worker: 1 slowdown: 1.5 }"),
            core::milliseconds(30));
}

TEST(SlowDevices, AreChosenByTheSeed) {
  const auto last = [](int seed) {
    return summary_of(scenario("slow { random_workers: 1 slowdown: 2 }",
                               "steps: 1 seed: " + std::to_string(seed)))
        .steps()[0]
        .awaited;
  };
  std::set<std::string> devices;
  for (int seed = 0; seed < 40; ++seed) devices.insert(last(seed));
  EXPECT_EQ(devices.size(), 4u) << "each of the four now and then";
  EXPECT_EQ(last(3), last(3));
  const auto s = scenario("slow { random_workers: 4 slowdown: 2 }", "steps: 1");
  EXPECT_EQ(core::chosen(s.run.conditions.slow, 1, *s.cluster).size(), 4u) << "each once";
}

/// A ring of four moves 6 quarters of 4 MB over every port in sequence, which takes 6 ms. With half
/// the bandwidth of a port, each takes twice as long.
TEST(LinkChanges, TheRingTakesTheTimeOfTheNarrowPort) {
  for (const char* model : {"FIFO", "FAIR"}) {
    const std::string run = std::string("steps: 1 network_model: ") + model;
    const Time plain = summary_of(scenario("", run)).step_time();
    const Time half =
        summary_of(scenario("link { from: \"w1/nic0\" to: \"network\" bandwidth_share: 0.5 }", run))
            .step_time();
    EXPECT_GE(half - plain, core::microseconds(5'700))
        << model << ": some adding is hidden behind it";
    EXPECT_LE(half - plain, core::microseconds(6'100)) << model;
    const Time late =
        summary_of(
            scenario("link { from: \"network\" to: \"w1/nic0\" bandwidth_share: 0.5 at_ms: 33 }",
                     run))
            .step_time();
    EXPECT_GE(late - plain, core::microseconds(2'500))
        << model << ": about half of it is over by then";
    EXPECT_LE(late - plain, core::microseconds(3'500)) << model;
  }
}

TEST(LinkChanges, ADeadLinkEndsTheRunWithItsName) {
  for (const char* model : {"FIFO", "FAIR"}) {
    Summary summary;
    const auto ran = Simulator().run(
        scenario("link { from: \"w3/nic0\" to: \"network\" bandwidth_share: 0 at_ms: 50 }",
                 std::string("steps: 5 network_model: ") + model),
        {}, {}, summary);
    EXPECT_THAT(test::kinds_of(ran), testing::ElementsAre("invalid Conditions")) << model;
    EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRun);
    EXPECT_THAT(ran.error().message(),
                HasSubstr("step 1 never ends: link w3/nic0→network is dead from 50.0 ms on, link "
                          "network→w3/nic0 is dead from 50.0 ms on; all messages over dead links "
                          "wait forever, including pack 0"));
    EXPECT_EQ(summary.steps().size(), 1u) << "completed steps are recorded";
  }
}

TEST(GoneWorkers, AreNamedByTheErrorAsInTheNotes) {
  for (const auto& [from_ms, words] :
       {std::pair{"0", "worker 2 never starts"}, std::pair{"50", "worker 2 is lost at 50.0 ms"}}) {
    const auto s = scenario(std::string("gone { worker: 2 from_ms: ") + from_ms + " }", "steps: 5");
    Summary summary;
    const auto ran = Simulator().run(s, {}, {}, summary);
    ASSERT_FALSE(ran);
    EXPECT_THAT(ran.error().message(), HasSubstr(std::string(" never ends: ") + words + "; "));
    EXPECT_THAT(core::describe(s.run.conditions, {}, *s.cluster), testing::ElementsAre(words));
  }
}

TEST(LinkChanges, ARestoredLinkOnlyDelaysMessages) {
  for (const char* model : {"FIFO", "FAIR"}) {
    const std::string run = std::string("steps: 2 network_model: ") + model;
    const Summary plain = summary_of(scenario("", run));
    const Summary gap = summary_of(
        scenario("link { from: \"w3/nic0\" to: \"network\" bandwidth_share: 0 at_ms: 32 } "
                 "link { from: \"w3/nic0\" to: \"network\" bandwidth_share: 1 at_ms: 132 }",
                 run));
    const Time later = gap.steps()[0].end - plain.steps()[0].end;
    EXPECT_GE(later, core::milliseconds(99)) << model;
    EXPECT_LE(later, core::milliseconds(101)) << model;
    EXPECT_EQ(lengths(gap)[1], lengths(plain)[1]) << model << ": then the times are as before";
  }
}

TEST(LinkChanges, ChangesOfUnusedLinksHaveNoEffect) {
  for (const char* model : {"FIFO", "FAIR"}) {
    const std::string run = std::string("steps: 1 network_model: ") + model;
    EXPECT_EQ(
        summary_of(
            scenario("link { from: \"w3/nic0\" to: \"network\" bandwidth_share: 0 at_ms: 60 }",
                     run))
            .step_time(),
        summary_of(scenario("", run)).step_time())
        << "it dies after the end";
  }
}

TEST(LinkChanges, AreRefusedForIdealNetworks) {
  Summary summary;
  const auto ran =
      Simulator().run(scenario("link { from: \"w3/nic0\" to: \"network\" bandwidth_share: 0.5 }",
                               "network_model: IDEAL"),
                      {}, {}, summary);
  EXPECT_THAT(test::kinds_of(ran), testing::ElementsAre("conflict Run.network_model"));
  EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
}

/// 4 MB in a ring of four over ports of 1 GB/s take 6 rounds of 1 ms, plus 3 additions. If a third
/// of the bandwidth is taken, each round takes 1.5 ms.
TEST(Background, ATrafficOfOneThirdLengthensARingByHalf) {
  for (const char* model : {"FIFO", "FAIR"}) {
    const std::string run = std::string("steps: 2 network_model: ") + model;
    const auto took = [&](const std::string& conditions) {
      return lengths(summary_of(scenario(conditions, run)))[1];
    };
    const Time longer = took("background { where: PORTS share: 0.333333 }") - took("");
    EXPECT_NEAR(static_cast<double>(longer.count()) / 1e6, 6 * 500, 0.1) << model;
    EXPECT_EQ(took("background { from: \"w1/nic0\" to: \"network\" share: 0.5 }"),
              took("link { from: \"w1/nic0\" to: \"network\" bandwidth_share: 0.5 }"))
        << "constant traffic is equivalent to a narrower link";
  }
}

TEST(Background, BurstsEndWithTheRunAndAreReproducible) {
  for (const char* model : {"FIFO", "FAIR"}) {
    const std::string run = std::string("steps: 4 seed: 7 network_model: ") + model;
    const std::string bursts = "background { where: PORTS share: 0.9 burst_ms: 1 pause_ms: 2 }";
    const std::vector<Time> first = lengths(summary_of(scenario(bursts, run)));
    EXPECT_EQ(first, lengths(summary_of(scenario(bursts, run))));
    const std::vector<Time> quiet = lengths(summary_of(scenario("", run)));
    const std::vector<Time> always =
        lengths(summary_of(scenario("background { where: PORTS share: 0.9 }", run)));
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_GT(first[i], quiet[i]);
      EXPECT_LT(first[i], always[i]);
    }
    Summary summary;
    const auto stuck = Simulator().run(
        scenario(
            bursts + " link { from: \"w1/nic0\" to: \"network\" bandwidth_share: 0 at_ms: 40 }",
            run),
        {}, {}, summary);
    EXPECT_THAT(test::kinds_of(stuck), testing::ElementsAre("invalid Conditions")) << model;
  }
}

TEST(Background, ErrorsAreReported) {
  const auto problem = [](const std::string& background,
                          const std::string& network = "kind: ONE_SWITCH latency_us: 1") {
    return test::kinds_of(core::read_scenario(
        "cluster { workers { machine: \"cpu-host\" count: 2 } network { " + network +
            " } } workload { variable { name: \"w\" shape: 1 } update_ms: 0 } strategy "
            "{ algorithm: \"ring\" } conditions { "
            "background { " +
            background + " } }",
        "f", test::shipped_library()));
  };
  using testing::ElementsAre;
  EXPECT_THAT(problem("where: PORTS"), ElementsAre("missing BackgroundLoad.share"));
  EXPECT_THAT(problem("where: PORTS share: 1"), ElementsAre("too-large BackgroundLoad.share"));
  EXPECT_THAT(problem("where: PORTS share: 0.1 burst_ms: 1"),
              ElementsAre("missing BackgroundLoad.pause_ms"));
  EXPECT_THAT(problem("where: PORTS share: 0.1 pause_ms: 1"),
              ElementsAre("unused BackgroundLoad.pause_ms"));
  EXPECT_THAT(problem("where: SWITCHES share: 0.1"), ElementsAre("conflict BackgroundLoad.where"));
  EXPECT_THAT(problem("where: SWITCHES share: 0.1",
                      "kind: FAT_TREE link: \"edr\" fat_tree { workers_per_leaf: 1 spines: 1 }"),
              testing::IsEmpty());
  EXPECT_THAT(problem("where: PORTS share: 0.1 from: \"w0/nic0\""),
              ElementsAre("unused BackgroundLoad.where"));
  EXPECT_THAT(problem("share: 0.1 from: \"w0/nic7\" to: \"network\""),
              ElementsAre("unknown-name BackgroundLoad.from"));
}

TEST(NoisyRuns, WaitForTheSlowestReplicaAndDoNotDependOnRecording) {
  const std::string noise = "compute_noise { distribution: EXPONENTIAL mean_percent: 5 }";
  const core::Scenario s = scenario(noise, "steps: 60 seed: 5", "pscpu");
  const Summary summary = summary_of(s);
  Time waited;
  std::set<std::string> awaited;
  for (const core::StepRecord& step : summary.steps()) {
    waited += step.awaited_for;
    awaited.insert(step.awaited);
    // The replica computed longer by the factor of its own random draw.
    Time longest;
    for (std::int64_t r = 0; r < 4; ++r) {
      const std::int64_t pace = core::noisy_pace(s.run.conditions.compute_noise, 5, r, step.step);
      longest = std::max(longest, Time(core::milliseconds(10).count() / 1'000'000 * pace) +
                                      Time(core::milliseconds(20).count() / 1'000'000 * pace));
    }
    // A replica that was ahead did some of this in the previous step.
    EXPECT_LE(step.forward + step.backward, longest) << step.step;
    if (step.step > 0) continue;
    EXPECT_EQ(step.forward + step.backward, longest);
  }
  EXPECT_EQ(awaited.size(), 3u) << "worker 0 holds the sums and begins long before the others";
  EXPECT_GT(waited, Time());
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  Summary recorded;
  ASSERT_TRUE(Simulator().run(s, record, {}, recorded));
  EXPECT_EQ(lengths(recorded), lengths(summary));
}

}  // namespace
}  // namespace tutti::sim
