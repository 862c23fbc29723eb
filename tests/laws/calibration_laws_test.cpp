// Calibration against the simulator: what was simulated with known figures is to be found again, whatever the figures were
// that the fit starts from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/random.h"
#include "core/calibrate/calibrate.h"
#include "core/calibrate/run_times.h"
#include "core/scenario/rewrite.h"
#include "core/timeline/writer.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"

namespace tutti {
namespace {

using core::CalibratedFigure;
using core::CalibratedTime;
using core::Calibration;
using core::Determination;
using core::Expected;
using core::Scenario;
using test::TemporaryFolder;
using testing::HasSubstr;

struct Figures {
  double latency_us = 3;
  double card_gb_per_s = 4;
  double reduce_gb_per_s = 20;
};

std::string text_of(const Figures& figures, const std::string& algorithm = "ring", int workers = 4) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} network {{ kind: ONE_SWITCH latency_us: {} }} machine {{ "
      "name: "
      "\"m\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 90 reduce_gb_per_s: {} }} nic {{ name: \"nic0\" "
      "bandwidth_gb_per_s: {} }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 100 latency_us: "
      "0.01 "
      "}} }} }}\n"
      "workload {{ variable {{ name: \"a\" shape: 200 }} variable {{ name: \"b\" shape: 40001 }} variable {{ name: "
      "\"c\" "
      "shape: 3000000 }} variable {{ name: \"d\" shape: 700000 }} variable {{ name: \"e\" shape: 7 }} backward_ms: 400 "
      "}}\n"
      "strategy {{ algorithm: \"{}\" merging: SEPARATE {} }}\n",
      workers, figures.latency_us, figures.reduce_gb_per_s, figures.card_gb_per_s, algorithm,
      algorithm == "pscpu" ? "shards: 2" : "");
}

core::Library library() { return core::Library(test::source_folder() + "/scenarios"); }

Scenario scenario_of(const std::string& text) {
  auto scenario = core::read_scenario(text, "s.textproto", library());
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return std::move(*scenario);
}

/// The file of a timeline of `text`, simulated.
std::string simulated(const TemporaryFolder& folder, const std::string& name, const std::string& text,
                      core::RecordLevel level = core::RecordLevel::kNone) {
  std::ofstream file(folder.file(name), std::ios::binary);
  core::TimelineWriter writer(file);
  core::RecordOptions record;
  record.level = level;
  EXPECT_TRUE(sim::Simulator().run(scenario_of(text), record, {}, writer));
  return folder.file(name);
}

/// The file of a log as nccl-tests prints it: times as simulated, off by about `noise`.
std::string log_of(const TemporaryFolder& folder, const std::string& name, const std::string& text, double noise,
                   std::uint64_t seed) {
  const Scenario scenario = scenario_of(text);
  const auto n = static_cast<double>(scenario.cluster->replicas());
  core::Random random(seed);
  std::string log = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (std::int64_t elements = 16; elements < 20'000'000; elements *= 4) {
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    log += fmt::format("{} {} float sum -1", 4 * elements, elements);
    for (const bool out_of_place : {true, false}) {
      core::RunTimes times(core::RunTimes::Detail::kPacks);
      const Scenario one =
          scenario_of(core::with_one_buffer(text, "s", {.elements = elements, .out_of_place = out_of_place}));
      EXPECT_TRUE(sim::Simulator().run(one, record, {}, times));
      const double us = times.us().at({}) * std::exp(noise * (static_cast<double>(random.below(2001)) / 1e3 - 1));
      const double algbw = static_cast<double>(4 * elements) / us / 1e3;
      log += fmt::format(" {:.4f} {:.2f} {:.2f} 0", us, algbw, algbw * 2 * (n - 1) / n);
    }
    log += '\n';
  }
  return folder.write(name, log);
}

core::CalibrationRequest request(std::vector<std::string> timelines, std::vector<std::string> logs,
                                 std::vector<std::string> keep) {
  return {std::move(timelines), false, std::move(logs), std::move(keep)};
}

Expected<Calibration> try_calibrate(const std::string& text, const core::CalibrationRequest& request) {
  sim::Simulator simulator;
  return core::calibrate(scenario_of(text), request, simulator, library(), {});
}

Calibration calibrated(const std::string& text, const core::CalibrationRequest& request) {
  auto result = try_calibrate(text, request);
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? std::move(*result) : Calibration{};
}

CalibratedFigure figure(const Calibration& calibration, const std::string& name) {
  for (const CalibratedFigure& f : calibration.figures) {
    if (f.figure.name == name) return f;
  }
  ADD_FAILURE() << "no figure " << name;
  return {};
}

void expect_found(const Calibration& calibration, const std::string& name, double truth, double within) {
  const CalibratedFigure f = figure(calibration, name);
  EXPECT_EQ(f.determination, Determination::kDetermined) << name << ": " << f.why();
  EXPECT_NEAR(f.value / truth, 1, within) << name;
  EXPECT_LE(f.low, truth) << name;
  EXPECT_GE(f.high, truth) << name;
}

TEST(CalibrationLaw, WhatWasSimulatedIsFoundAgainFromItsTimeline) {
  const TemporaryFolder folder;
  for (const Figures truth : {Figures{3, 4, 20}, Figures{31, 0.9, 20}, Figures{0.4, 40, 20}}) {
    const std::string timeline = simulated(folder, "t", text_of(truth));
    const Calibration c = calibrated(text_of({3, 4, 20}), request({timeline}, {}, {}));
    expect_found(c, "network.latency", truth.latency_us, 0.02);
    expect_found(c, "network.bandwidth", truth.card_gb_per_s, 0.02);
    EXPECT_LT(c.after.worst, 0.005);
    ASSERT_EQ(c.times.size(), 5u) << "a time per pack";
    ASSERT_EQ(c.steps.size(), 1u);
    EXPECT_NEAR(c.steps[0].after_us / c.steps[0].measured_us, 1, 0.001);
    EXPECT_THAT(c.notes, testing::Contains(HasSubstr("was simulated, not measured")));
  }
}

TEST(CalibrationLaw, WhatWasSimulatedIsFoundAgainFromALog) {
  const TemporaryFolder folder;
  for (const std::string algorithm : {"ring", "halving_doubling", "pscpu"}) {
    const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}, algorithm), 0, 0);
    const Calibration c = calibrated(text_of({3, 4, 20}, algorithm), request({}, {log}, {}));
    expect_found(c, "network.latency", 12, 0.02);
    expect_found(c, "network.bandwidth", 1.5, 0.02);
  }
}

TEST(CalibrationLaw, OnTheTruthNothingChanges) {
  const TemporaryFolder folder;
  const std::string text = text_of({3, 4, 20});
  const Calibration c =
      calibrated(text, request({simulated(folder, "t", text)}, {log_of(folder, "l", text, 0, 0)}, {}));
  EXPECT_LT(c.before.worst, 1e-4);
  EXPECT_LT(c.after.worst, 1e-3);
  for (const CalibratedFigure& f : c.figures) EXPECT_NEAR(f.value / f.figure.before, 1, 1e-3) << f.figure.name;
}

TEST(CalibrationLaw, IntervalsCoverTheTruthUnderNoise) {
  const TemporaryFolder folder;
  std::map<std::string, int> covered;
  constexpr int kRuns = 16;
  const std::map<std::string, double> truths{{"network.latency", 12}, {"network.bandwidth", 1.5}};
  for (int seed = 0; seed < kRuns; ++seed) {
    const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}), 0.1, static_cast<std::uint64_t>(seed));
    const Calibration c = calibrated(text_of({3, 4, 20}), request({}, {log}, {}));
    for (const auto& [name, truth] : truths) {
      const CalibratedFigure f = figure(c, name);
      EXPECT_EQ(f.determination, Determination::kDetermined);
      EXPECT_LT(f.high / f.low, 1.5) << "the interval says something";
      if (f.low <= truth && truth <= f.high) ++covered[name];
    }
  }
  // 95 % of 16 are 15.2; four standard deviations below that 12.
  for (const auto& [name, truth] : truths) EXPECT_GE(covered[name], 12) << name;
}

TEST(CalibrationLaw, NeitherNamesNorOrderOfFilesMatter) {
  const TemporaryFolder folder;
  const std::string first = log_of(folder, "b.log", text_of({12, 1.5, 20}), 0.1, 1);
  const std::string second = log_of(folder, "a.log", text_of({12, 1.5, 20}), 0.1, 2);
  const std::string ring = simulated(folder, "t1", text_of({12, 1.5, 20}));
  const std::string star = simulated(folder, "t0", text_of({12, 1.5, 20}, "pscpu"));
  const Calibration c = calibrated(text_of({}), request({ring, star}, {first, second}, {}));
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{first, "x"}, {second, "z"}, {ring, "y"}, {star, "w"}})
    std::filesystem::copy_file(from, folder.file(to));
  const Calibration d =
      calibrated(text_of({}), request({folder.file("w"), folder.file("y")}, {folder.file("z"), folder.file("x")}, {}));
  ASSERT_EQ(c.figures.size(), d.figures.size());
  for (std::size_t f = 0; f < c.figures.size(); ++f) {
    EXPECT_EQ(c.figures[f].value, d.figures[f].value);
    EXPECT_EQ(c.figures[f].high, d.figures[f].high);
  }
  EXPECT_EQ(c.cluster_text, d.cluster_text);
}

TEST(CalibrationLaw, RepetitionsCountByTheirMedian) {
  const TemporaryFolder folder;
  const std::string good = simulated(folder, "1", text_of({12, 1.5, 20}));
  const std::string same = simulated(folder, "2", text_of({12, 1.5, 20}));
  const Calibration one = calibrated(text_of({}), request({good}, {}, {}));
  const Calibration two = calibrated(text_of({}), request({good, same}, {}, {}));
  EXPECT_EQ(one.times.size(), two.times.size());
  EXPECT_EQ(figure(one, "network.latency").value, figure(two, "network.latency").value);
}

TEST(CalibrationLaw, WhatCannotBeKnownIsLeftAndSaid) {
  const TemporaryFolder folder;
  const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}), 0.05, 4);
  const Calibration c = calibrated(text_of({3, 4, 20}), request({}, {log}, {}));
  for (const char* name : {"pcie.latency", "pcie.bandwidth", "cpu.copy", "cpu.reduce"}) {
    const CalibratedFigure f = figure(c, name);
    EXPECT_NE(f.determination, Determination::kDetermined) << name;
    EXPECT_EQ(f.value, f.figure.before) << name;
    EXPECT_THAT(f.why(), HasSubstr("not determined by these measurements")) << name;
  }
}

TEST(CalibrationLaw, PacksDoNotTellAddingFromSendingButLaneStepsDo) {
  // Every all-reduce adds half of what it sends, so that the times of packs know only what both take together.
  const TemporaryFolder folder;
  const Figures truth{12, 9, 3};
  const std::string ring = simulated(folder, "ring", text_of(truth), core::RecordLevel::kSteps);
  const std::string star = simulated(folder, "star", text_of(truth, "pscpu"), core::RecordLevel::kSteps);
  core::CalibrationRequest both = request({ring, star}, {}, {});
  const Calibration packs = calibrated(text_of({3, 4, 20}), both);
  EXPECT_EQ(figure(packs, "cpu.reduce").determination, Determination::kConfounded);
  EXPECT_THAT(figure(packs, "cpu.reduce").why(), HasSubstr("network.bandwidth would explain"));
  EXPECT_LT(packs.after.worst, 0.05);
  both.lane_steps = true;
  const Calibration steps = calibrated(text_of({3, 4, 20}), both);
  expect_found(steps, "network.latency", 12, 0.02);
  expect_found(steps, "network.bandwidth", 9, 0.02);
  expect_found(steps, "cpu.reduce", 3, 0.02);
  EXPECT_LT(steps.after.worst, 0.01);
}

TEST(CalibrationLaw, ALinkThatHeldBackIsRaisedNoFurtherThanNeeded) {
  const TemporaryFolder folder;
  // Here the PCIe link is the narrow one; measured was a network of 9 GB/s behind PCIe of 100.
  std::string start = text_of({3, 4, 20});
  start.replace(start.find("bandwidth_gb_per_s: 100"), 23, "bandwidth_gb_per_s: 5");
  const Calibration c = calibrated(start, request({}, {log_of(folder, "log", text_of({3, 9, 20}), 0.02, 4)}, {}));
  const CalibratedFigure card = figure(c, "network.bandwidth");
  const CalibratedFigure pcie = figure(c, "pcie.bandwidth");
  EXPECT_LT(c.after.median, 0.02);
  EXPECT_NEAR(std::min(card.value, pcie.value), 9, 0.3);
  EXPECT_NEAR(std::max(card.value, pcie.value), 9, 0.6) << "no further than needed";
  EXPECT_THAT(card.why() + pcie.why(), HasSubstr("at least this"));
}

TEST(CalibrationLaw, TheClusterTextPredictsWhatTheReportSays) {
  const TemporaryFolder folder;
  const std::string timeline = simulated(folder, "t", text_of({12, 1.5, 20}));
  const std::string start = text_of({3, 4, 20});
  const Calibration c = calibrated(start, request({timeline}, {}, {}));
  const std::string rest = start.substr(start.find("workload"));
  static_cast<void>(folder.write("c.textproto", c.cluster_text));
  const auto scenario = core::read_scenario("cluster { file: \"c.textproto\" } " + rest, folder.file("s"), library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  core::RunTimes times(core::RunTimes::Detail::kPacks);
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  ASSERT_TRUE(sim::Simulator().run(*scenario, record, {}, times));
  for (const auto& [key, us] : times.us()) EXPECT_EQ(us, c.times[static_cast<std::size_t>(key.pack)].after_us);
  // And a calibration that starts there finds nothing to do.
  const Calibration again = calibrated("cluster { " + c.cluster_text + " } " + rest, request({timeline}, {}, {}));
  EXPECT_LT(again.before.worst, 0.005);
}

/// `workers` alike hosts, but what stands in `odd` is that of the third.
std::string hosts(int workers, const std::string& odd_card, const std::string& odd_link, const std::string& odd_cpu,
                  const std::string& strategy = "algorithm: \"ring\"", double odd_latency_us = 0.5,
                  const std::string& cards = "nic[0-1]") {
  const auto machine = [&cards](const std::string& name, const std::string& card, const std::string& link,
                                const std::string& cpu, double latency_us) {
    return fmt::format(
        "machine {{ name: \"{}\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 90 reduce_gb_per_s: {} }} nic {{ "
        "name: \"{}\" bandwidth_gb_per_s: {} }} link {{ from: \"cpu0\" to: \"{}\" kind: PCIE "
        "bandwidth_gb_per_s: {} latency_us: {} }} }}\n",
        name, cpu, cards, card, cards, link, latency_us);
  };
  return fmt::format(
             "cluster {{ workers {{ machine: \"m\" count: 2 }} workers {{ machine: \"m of w2\" }} workers {{ machine: "
             "\"m\" "
             "count: {} }} network {{ kind: ONE_SWITCH latency_us: 5 }}\n",
             workers - 3) +
         machine("m", "2", "10", "30", 0.5) + machine("m of w2", odd_card, odd_link, odd_cpu, odd_latency_us) +
         fmt::format(
             "}}\nworkload {{ variable {{ name: \"a\" shape: 20000 }} variable {{ name: \"b\" shape: 400000 }} "
             "variable {{ "
             "name: \"c\" shape: 3000000 }} backward_ms: 60 update_ms: 0 }}\nstrategy {{ {} }} run {{ steps: 3 }}\n",
             strategy);
}

TEST(CalibrationLaw, ACardThatIsSlowerThanItsLikeIsFoundWithItsInterval) {
  const TemporaryFolder folder;
  for (const int workers : {4, 5}) {
    const std::string timeline = simulated(folder, "slow", hosts(workers, "1", "10", "30"), core::RecordLevel::kSteps);
    const Calibration c = calibrated(hosts(workers, "2", "10", "30"), request({timeline}, {}, {}));
    expect_found(c, "network.bandwidth of w2/nic0", 1, 0.02);
    const CalibratedFigure others = figure(c, "network.bandwidth");
    EXPECT_NEAR(others.value, 2, 0.04) << "the others are as they were";
    EXPECT_LT(c.after.worst, 0.02);
    // The file has it, and predicts with it what was measured.
    EXPECT_THAT(c.cluster_text, HasSubstr(" of w2\""));
    const std::string rest = hosts(workers, "2", "10", "30");
    const Calibration again = calibrated("cluster { " + c.cluster_text + " } " + rest.substr(rest.find("workload")),
                                         request({timeline}, {}, {}));
    EXPECT_LT(again.before.worst, 0.02);
  }
}

TEST(CalibrationLaw, ADeviceThatAddsMoreSlowlyThanItsLikeIsFoundWithItsInterval) {
  const TemporaryFolder folder;
  const std::string shuffle = "algorithm: \"pscpu\" shards: 4";
  const std::string timeline = simulated(folder, "slow", hosts(4, "2", "10", "12", shuffle), core::RecordLevel::kSteps);
  const Calibration c = calibrated(hosts(4, "2", "10", "30", shuffle), request({timeline}, {}, {}));
  expect_found(c, "cpu.reduce of w2/cpu0", 12, 0.02);
  EXPECT_NEAR(figure(c, "cpu.reduce").value, 30, 0.6);
}

TEST(CalibrationLaw, ALinkOfAnotherLatencyThanItsLikeIsFoundWithItsInterval) {
  const TemporaryFolder folder;
  const std::string ring = "algorithm: \"ring\"";
  for (const double latency : {4.0, 12.0}) {
    const std::string timeline =
        simulated(folder, "late", hosts(4, "2", "10", "30", ring, latency, "nic0"), core::RecordLevel::kSteps);
    const Calibration c = calibrated(hosts(4, "2", "10", "30", ring, 0.5, "nic0"), request({timeline}, {}, {}));
    // Only the sum of latencies in a row is seen, and those of the kind stay as stated.
    expect_found(c, "pcie.latency of w2/cpu0-w2/nic0", latency, 0.05);
    EXPECT_NEAR(figure(c, "network.latency").value, 5, 0.2);
    EXPECT_NEAR(figure(c, "network.bandwidth").value, 2, 0.04) << "what is late is not slow";
    for (const CalibratedFigure& f : c.figures) EXPECT_EQ(f.figure.name.find("bandwidth of"), std::string::npos);
    EXPECT_LT(c.after.worst, 0.02);
  }
}

TEST(CalibrationLaw, ALinkMayBeBothSlowAndLate) {
  const TemporaryFolder folder;
  const std::string ring = "algorithm: \"ring\"";
  const std::string timeline =
      simulated(folder, "both", hosts(5, "2", "1", "30", ring, 8, "nic0"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(hosts(5, "2", "10", "30", ring, 0.5, "nic0"), request({timeline}, {}, {}));
  // What the narrow link takes for a first piece is in it too, since the card is taken for the narrow one.
  expect_found(c, "pcie.latency of w2/cpu0-w2/nic0", 8, 0.15);
  // A card that is stated to be narrower than its link is the one that is taken, and a note names the other.
  expect_found(c, "network.bandwidth of w2/nic0", 1, 0.05);
  EXPECT_THAT(c.notes, testing::Contains(testing::AllOf(
                           HasSubstr("that w2/nic0 has another rate than others of its kind could not be told from"),
                           HasSubstr("w2/cpu0-w2/nic0"))));
}

/// A worker with GPUs that are joined each with each, at 40 GB/s; what stands in `odd` is of gpu1 and gpu2.
std::string mesh(const std::string& odd, const std::string& odd_latency_us = "1") {
  std::string links;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const bool is_odd = a == 1 && b == 2;
      links +=
          fmt::format("link {{ from: \"gpu{}\" to: \"gpu{}\" kind: NVLINK bandwidth_gb_per_s: {} latency_us: {} }} ", a,
                      b, is_odd ? odd : "40", is_odd ? odd_latency_us : "1");
    }
  }
  return "cluster { workers { machine: \"m\" } machine { name: \"m\" device { name: \"gpu[0-3]\" kind: GPU "
         "memory_gb_per_s: 900 } device { name: \"cpu0\" kind: CPU memory_gb_per_s: 90 } switch { name: \"plx\" kind: "
         "PCIE_SWITCH } link { from: \"gpu[0-3]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 } link "
         "{ "
         "from: \"cpu0\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 } " +
         links +
         "} }\nworkload { variable { name: \"a\" shape: 20000 } variable { name: \"b\" shape: 400000 } variable { "
         "name: "
         "\"c\" shape: 3000000 } backward_ms: 60 update_ms: 0 }\nstrategy { algorithm: \"psgpu\" shards: 4 } run { "
         "steps: 3 "
         "}\n";
}

TEST(CalibrationLaw, ALinkThatIsFasterThanItsLikeIsFoundWithItsInterval) {
  const TemporaryFolder folder;
  const std::string timeline = simulated(folder, "fast", mesh("80"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(mesh("40"), request({timeline}, {}, {}));
  expect_found(c, "nvlink.bandwidth of w0/gpu1-w0/gpu2", 80, 0.05);
  EXPECT_NEAR(figure(c, "nvlink.bandwidth").value, 40, 1);
}

TEST(CalibrationLaw, ALinkThatIsEarlierThanItsLikeIsFoundWithItsInterval) {
  const TemporaryFolder folder;
  const std::string timeline = simulated(folder, "early", mesh("40", "0.25"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(mesh("40"), request({timeline}, {}, {}));
  expect_found(c, "nvlink.latency of w0/gpu1-w0/gpu2", 0.25, 0.05);
  EXPECT_NEAR(figure(c, "nvlink.latency").value, 1, 0.05);
}

TEST(CalibrationLaw, WhatCouldNotBeToldApartIsSaid) {
  const TemporaryFolder folder;
  // Two workers: every message crosses the links of both.
  const std::string two = text_of({3, 4, 20}, "ring", 2);
  EXPECT_THAT(calibrated(two, request({simulated(folder, "t", two, core::RecordLevel::kSteps)}, {}, {})).notes,
              testing::Contains(HasSubstr("between three devices or more (for a network's links: workers)")));
  const std::string four = text_of({3, 4, 20});
  EXPECT_THAT(calibrated(four, request({simulated(folder, "t", four)}, {}, {})).notes,
              testing::Contains(HasSubstr("no timeline holds lane steps (--record steps)")));
}

TEST(CalibrationLaw, WhatWaitsInQueuesIsNotTakenForSlow) {
  const TemporaryFolder folder;
  // Packs that begin together, and a worker that sends to all others at once.
  const std::string crowded = "algorithm: \"pscpu\" merging: SEPARATE launch: CONCURRENT";
  const auto text = [&](const std::string& card) {
    std::string all = hosts(4, card, "10", "30", crowded);
    all.replace(all.find("backward_ms: 60"), 15, "backward_ms: 0.1");
    return all;
  };
  const std::string timeline = simulated(folder, "crowded", text("2"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(text("2"), request({timeline}, {}, {}));
  for (const CalibratedFigure& f : c.figures) EXPECT_EQ(f.figure.name.find(" of "), std::string::npos) << f.figure.name;
  EXPECT_THAT(c.notes, testing::Contains(HasSubstr("met others on their way, so that nothing was learnt")));
}

/// A simulated timeline, told as if real processes had made it.
class AsIfRun : public core::TimelineSink {
 public:
  AsIfRun(core::TimelineSink& to, double core_wait, bool devices_in_memory)
      : to_(to), core_wait_(core_wait), devices_in_memory_(devices_in_memory) {}
  void begin(const core::RunInfo& run) override {
    core::RunInfo changed = run;
    changed.devices_in_memory = devices_in_memory_;
    to_.begin(changed);
  }
  void track(const core::Track& track) override { to_.track(track); }
  void span(core::TrackId track, const core::Span& span) override { to_.span(track, span); }
  void step(const core::StepRecord& step) override {
    core::StepRecord changed = step;
    changed.core_wait = core::Time(std::llround(static_cast<double>(step.communication.count()) * core_wait_));
    to_.step(changed);
  }
  void pack(const core::PackRecord& pack) override { to_.pack(pack); }
  void link(const core::LinkRecord& link) override { to_.link(link); }
  void path(const core::PathPiece& piece) override { to_.path(piece); }
  void note(const std::string& text) override { to_.note(text); }
  void end() override { to_.end(); }

 private:
  core::TimelineSink& to_;
  double core_wait_;
  bool devices_in_memory_;
};

std::string as_if_run(const TemporaryFolder& folder, const std::string& text, double core_wait,
                      bool devices_in_memory) {
  const std::string name = folder.file("run");
  std::ofstream file(name, std::ios::binary);
  core::TimelineWriter writer(file);
  AsIfRun run(writer, core_wait, devices_in_memory);
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  EXPECT_TRUE(sim::Simulator().run(scenario_of(text), record, {}, run));
  return name;
}

bool one_stands_out(const Calibration& calibration) {
  return std::any_of(calibration.figures.begin(), calibration.figures.end(),
                     [](const CalibratedFigure& f) { return f.figure.name.find(" of ") != std::string::npos; });
}

TEST(CalibrationLaw, WhatWaitedForACoreIsNotTakenForASlowLink) {
  const TemporaryFolder folder;
  const std::string slow = hosts(4, "1", "10", "30");
  const std::string stated = hosts(4, "2", "10", "30");
  const Calibration quiet = calibrated(stated, request({as_if_run(folder, slow, 0.09, false)}, {}, {}));
  EXPECT_TRUE(one_stands_out(quiet)) << "a little waiting hides nothing";
  EXPECT_THAT(quiet.notes, testing::Not(testing::Contains(HasSubstr("stood ready"))));
  const Calibration crowded = calibrated(stated, request({as_if_run(folder, slow, 0.5, false)}, {}, {}));
  EXPECT_FALSE(one_stands_out(crowded));
  EXPECT_THAT(crowded.notes,
              testing::Contains(testing::AllOf(HasSubstr("in 3 of 3 steps workers stood ready"),
                                               HasSubstr("for up to 50 %"), HasSubstr("up to 2 times as high"))));
}

TEST(CalibrationLaw, LinksThatAreThereInNameAloneAreNotLookedAt) {
  const TemporaryFolder folder;
  const std::string fast = mesh("80");
  const std::string stated = mesh("40");
  EXPECT_TRUE(one_stands_out(calibrated(stated, request({as_if_run(folder, fast, 0, false)}, {}, {}))));
  const Calibration c = calibrated(stated, request({as_if_run(folder, fast, 0, true)}, {}, {}));
  EXPECT_FALSE(one_stands_out(c));
  EXPECT_THAT(c.notes, testing::Contains(HasSubstr("devices lay in the memory of their workers")));
}

TEST(CalibrationLaw, WhereNothingStandsOutEachKindHasOneFigure) {
  const TemporaryFolder folder;
  const std::string timeline = simulated(folder, "even", hosts(4, "2", "10", "30"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(hosts(4, "4", "10", "30"), request({timeline}, {}, {}));
  for (const CalibratedFigure& f : c.figures) EXPECT_EQ(f.figure.name.find(" of "), std::string::npos) << f.figure.name;
  EXPECT_THAT(c.notes, testing::Contains(HasSubstr("no link or device stands out, so each kind has one figure")));
}

TEST(CalibrationLaw, KeptFiguresStayAndUnknownOnesAreRefused) {
  const TemporaryFolder folder;
  const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}), 0.05, 4);
  const Calibration c = calibrated(text_of({3, 4, 20}), request({}, {log}, {"network"}));
  EXPECT_EQ(figure(c, "network.latency").value, 3);
  EXPECT_EQ(figure(c, "network.bandwidth").determination, Determination::kKept);
  const auto refused = try_calibrate(text_of({}), request({}, {log}, {"netwrok", "pcie.latency"}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), testing::AllOf(HasSubstr("--keep netwrok: the cluster has no such figure"),
                                                        HasSubstr("network.latency, network.bandwidth")));
}

TEST(CalibrationLaw, NcclOverTwoMachinesIsFoundAgain) {
  const TemporaryFolder folder;
  const auto text = [](double latency, double card, double launch) {
    return fmt::format(
        "cluster {{ workers {{ machine: \"m\" count: 2 }} network {{ kind: RAILS latency_us: {} bandwidth_gb_per_s: {} "
        "}} "
        "machine {{ name: \"m\" device {{ name: \"gpu[0-3]\" kind: GPU memory_gb_per_s: 1300 }} device {{ name: "
        "\"cpu0\" "
        "kind: CPU memory_gb_per_s: 100 }} switch {{ name: \"sw\" kind: NVSWITCH }} switch {{ name: \"plx\" kind: "
        "PCIE_SWITCH }} nic {{ name: \"nic[0-3]\" "
        "bandwidth_gb_per_s: 25 }} link {{ from: \"gpu[0-3]\" to: \"sw\" kind: NVLINK bandwidth_gb_per_s: 200 "
        "latency_us: "
        "0.3 }} link {{ from: \"gpu[0-3]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 64 latency_us: 0.5 }} link {{ "
        "from: \"nic[0-3]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 64 latency_us: 0.5 }} link {{ "
        "from: \"cpu0\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 24 latency_us: 0.5 }} }} }}\n"
        "workload {{ variable {{ name: \"a\" shape: 9 }} }} strategy {{ algorithm: \"nccl\" launch_us: {} }}",
        latency, card, launch);
  };
  const std::string log = log_of(folder, "log", text(3, 11, 20), 0.02, 1);
  const Calibration c = calibrated(text(3, 25, 20), request({}, {log}, {"launch"}));
  expect_found(c, "network.bandwidth", 11, 0.05);
  EXPECT_LT(c.after.median, 0.02);
  EXPECT_EQ(figure(c, "launch").determination, Determination::kKept);
}

}  // namespace
}  // namespace tutti
