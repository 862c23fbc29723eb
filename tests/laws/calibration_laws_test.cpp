// Calibrates against simulated measurements. The fit must recover the parameters of the simulation,
// whatever values it starts with.

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
#include "tests/laws/calibrated.h"
#include "tests/support/problems.h"

namespace tutti {
namespace {

using core::CalibratedFigure;
using core::CalibratedTime;
using core::Calibration;
using core::Determination;
using core::Expected;
using core::Scenario;
using test::calibrated;
using test::expect_found;
using test::figure;
using test::Figures;
using test::request;
using test::scenario_of;
using test::shipped_library;
using test::simulated;
using test::TemporaryFolder;
using test::text_of;
using test::try_calibrate;
using testing::HasSubstr;

/// Returns the path of a log in the format of nccl-tests, with simulated times that deviate by
/// about `noise`.
std::string log_of(const TemporaryFolder& folder, const std::string& name, const std::string& text,
                   double noise, std::uint64_t seed) {
  const Scenario scenario = scenario_of(text);
  const auto n = static_cast<double>(scenario.cluster->replicas());
  core::Random random(seed);
  std::string log =
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (std::int64_t elements = 16; elements < 20'000'000; elements *= 4) {
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    log += fmt::format("{} {} float sum -1", 4 * elements, elements);
    for (const bool out_of_place : {true, false}) {
      core::RunTimes times(core::RunTimes::Detail::kPacks);
      const Scenario one = scenario_of(
          core::with_one_buffer(text, "s", {.elements = elements, .out_of_place = out_of_place}));
      EXPECT_TRUE(sim::Simulator().run(one, record, {}, times));
      const double us =
          times.us().at({}) * std::exp(noise * (static_cast<double>(random.below(2001)) / 1e3 - 1));
      const double algbw = static_cast<double>(4 * elements) / us / 1e3;
      log += fmt::format(" {:.4f} {:.2f} {:.2f} 0", us, algbw, algbw * 2 * (n - 1) / n);
    }
    log += '\n';
  }
  return folder.write(name, log);
}

TEST(CalibrationLaw, FitReproducesTheParametersOfASimulatedTimeline) {
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

TEST(CalibrationLaw, FitReproducesTheParametersOfASimulatedLog) {
  const TemporaryFolder folder;
  for (const std::string algorithm : {"ring", "halving_doubling", "pscpu"}) {
    const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}, algorithm), 0, 0);
    const Calibration c = calibrated(text_of({3, 4, 20}, algorithm), request({}, {log}, {}));
    expect_found(c, "network.latency", 12, 0.02);
    expect_found(c, "network.bandwidth", 1.5, 0.02);
  }
}

TEST(CalibrationLaw, TrueParametersDoNotChange) {
  const TemporaryFolder folder;
  const std::string text = text_of({3, 4, 20});
  const Calibration c = calibrated(
      text, request({simulated(folder, "t", text)}, {log_of(folder, "l", text, 0, 0)}, {}));
  EXPECT_LT(c.before.worst, 1e-4);
  EXPECT_LT(c.after.worst, 1e-3);
  for (const CalibratedFigure& f : c.figures)
    EXPECT_NEAR(f.value / f.figure.before, 1, 1e-3) << f.figure.name;
}

TEST(CalibrationLaw, IntervalsContainTheTruthUnderNoise) {
  const TemporaryFolder folder;
  std::map<std::string, int> covered;
  constexpr int kRuns = 16;
  const std::map<std::string, double> truths{{"network.latency", 12}, {"network.bandwidth", 1.5}};
  for (int seed = 0; seed < kRuns; ++seed) {
    const std::string log =
        log_of(folder, "log", text_of({12, 1.5, 20}), 0.1, static_cast<std::uint64_t>(seed));
    const Calibration c = calibrated(text_of({3, 4, 20}), request({}, {log}, {}));
    for (const auto& [name, truth] : truths) {
      const CalibratedFigure f = figure(c, name);
      EXPECT_EQ(f.determination, Determination::kDetermined);
      EXPECT_LT(f.high / f.low, 1.5) << "the interval is not too wide";
      if (f.low <= truth && truth <= f.high) ++covered[name];
    }
  }
  // 95 % of 16 are 15.2. The lower limit of twelve is about four standard deviations below this
  // mean.
  for (const auto& [name, truth] : truths) EXPECT_GE(covered[name], 12) << name;
}

TEST(CalibrationLaw, NamesAndOrderOfFilesDoNotMatter) {
  const TemporaryFolder folder;
  const std::string first = log_of(folder, "b.log", text_of({12, 1.5, 20}), 0.1, 1);
  const std::string second = log_of(folder, "a.log", text_of({12, 1.5, 20}), 0.1, 2);
  const std::string ring = simulated(folder, "t1", text_of({12, 1.5, 20}));
  const std::string star = simulated(folder, "t0", text_of({12, 1.5, 20}, "pscpu"));
  const Calibration c = calibrated(text_of({}), request({ring, star}, {first, second}, {}));
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{first, "x"}, {second, "z"}, {ring, "y"}, {star, "w"}})
    std::filesystem::copy_file(from, folder.file(to));
  const Calibration d = calibrated(text_of({}), request({folder.file("w"), folder.file("y")},
                                                        {folder.file("z"), folder.file("x")}, {}));
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

TEST(CalibrationLaw, ReportsUndeterminedParameters) {
  const TemporaryFolder folder;
  const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}), 0.05, 4);
  const Calibration c = calibrated(text_of({3, 4, 20}), request({}, {log}, {}));
  for (const char* name : {"pcie.latency", "pcie.bandwidth", "cpu.copy", "cpu.reduce"}) {
    const CalibratedFigure f = figure(c, name);
    EXPECT_NE(f.determination, Determination::kDetermined) << name;
    EXPECT_EQ(f.value, f.figure.before) << name;
    EXPECT_THAT(f.why(),
                testing::ContainsRegex("left unchanged, because (the measured times hardly "
                                       "depend on this parameter|.*these measurements)"))
        << name;
  }
}

TEST(CalibrationLaw, OnlyLaneStepsDistinguishReductionFromTransfer) {
  // Every all-reduce adds half of the bytes that it sends. The times of packs therefore determine
  // only the sum of the cost of sending and the cost of adding.
  const TemporaryFolder folder;
  const Figures truth{12, 9, 3};
  const std::string ring = simulated(folder, "ring", text_of(truth), core::RecordLevel::kSteps);
  const std::string star =
      simulated(folder, "star", text_of(truth, "pscpu"), core::RecordLevel::kSteps);
  core::CalibrationRequest both = request({ring, star}, {}, {});
  const Calibration packs = calibrated(text_of({3, 4, 20}), both);
  EXPECT_EQ(figure(packs, "cpu.reduce").determination, Determination::kConfounded);
  EXPECT_THAT(figure(packs, "cpu.reduce").why(),
              HasSubstr("network.bandwidth explains these measurements equally well"));
  EXPECT_LT(packs.after.worst, 0.05);
  both.lane_steps = true;
  const Calibration steps = calibrated(text_of({3, 4, 20}), both);
  expect_found(steps, "network.latency", 12, 0.02);
  expect_found(steps, "network.bandwidth", 9, 0.02);
  expect_found(steps, "cpu.reduce", 3, 0.02);
  EXPECT_LT(steps.after.worst, 0.01);
}

TEST(CalibrationLaw, ALinkThatIsTooSlowIsRaisedOnlyAsFarAsNecessary) {
  const TemporaryFolder folder;
  // At the start of the fit, the PCIe link has the lowest bandwidth. The measurements are from a
  // network of 9 GB/s behind PCIe of 100 GB/s.
  std::string start = text_of({3, 4, 20});
  start.replace(start.find("bandwidth_gb_per_s: 100"), 23, "bandwidth_gb_per_s: 5");
  const Calibration c =
      calibrated(start, request({}, {log_of(folder, "log", text_of({3, 9, 20}), 0.02, 4)}, {}));
  const CalibratedFigure card = figure(c, "network.bandwidth");
  const CalibratedFigure pcie = figure(c, "pcie.bandwidth");
  EXPECT_LT(c.after.median, 0.02);
  EXPECT_NEAR(std::min(card.value, pcie.value), 9, 0.3);
  EXPECT_NEAR(std::max(card.value, pcie.value), 9, 0.6) << "no further than needed";
  EXPECT_THAT(card.why() + pcie.why(), HasSubstr("a lower bound"));
}

TEST(CalibrationLaw, TheWrittenClusterReproducesTheReportedTimes) {
  const TemporaryFolder folder;
  const std::string timeline = simulated(folder, "t", text_of({12, 1.5, 20}));
  const std::string start = text_of({3, 4, 20});
  const Calibration c = calibrated(start, request({timeline}, {}, {}));
  const std::string rest = start.substr(start.find("workload"));
  static_cast<void>(folder.write("c.textproto", c.cluster_text));
  const auto scenario = core::read_scenario("cluster { file: \"c.textproto\" } " + rest,
                                            folder.file("s"), shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  core::RunTimes times(core::RunTimes::Detail::kPacks);
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  ASSERT_TRUE(sim::Simulator().run(*scenario, record, {}, times));
  for (const auto& [key, us] : times.us()) EXPECT_EQ(us, c.times[key.pack].after_us);
  // A calibration that starts with the fitted values finds nothing to change.
  const Calibration again =
      calibrated("cluster { " + c.cluster_text + " } " + rest, request({timeline}, {}, {}));
  EXPECT_LT(again.before.worst, 0.005);
}

TEST(CalibrationLaw, KeptParametersDoNotChangeAndUnknownOnesAreRefused) {
  const TemporaryFolder folder;
  const std::string log = log_of(folder, "log", text_of({12, 1.5, 20}), 0.05, 4);
  const Calibration c = calibrated(text_of({3, 4, 20}), request({}, {log}, {"network"}));
  EXPECT_EQ(figure(c, "network.latency").value, 3);
  EXPECT_EQ(figure(c, "network.bandwidth").determination, Determination::kKept);
  const auto refused = try_calibrate(text_of({}), request({}, {log}, {"netwrok", "pcie.latency"}));
  EXPECT_THAT(test::kinds_of(refused), testing::ElementsAre("unknown-name --keep"));
}

TEST(CalibrationLaw, FitReproducesTheParametersOfNcclOverTwoMachines) {
  const TemporaryFolder folder;
  const auto text = [](double latency, double card, double launch) {
    return fmt::format(
        "cluster {{ workers {{ machine: \"m\" count: 2 }} network {{ kind: RAILS latency_us: {} "
        "bandwidth_gb_per_s: {} "
        "}} "
        "machine {{ name: \"m\" device {{ name: \"gpu[0-3]\" kind: GPU memory_gb_per_s: 1300 }} "
        "device {{ name: "
        "\"cpu0\" "
        "kind: CPU memory_gb_per_s: 100 }} switch {{ name: \"sw\" kind: NVSWITCH }} switch {{ "
        "name: \"plx\" kind: "
        "PCIE_SWITCH }} nic {{ name: \"nic[0-3]\" "
        "bandwidth_gb_per_s: 25 }} link {{ from: \"gpu[0-3]\" to: \"sw\" kind: NVLINK "
        "bandwidth_gb_per_s: 200 "
        "latency_us: "
        "0.3 }} link {{ from: \"gpu[0-3]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 64 "
        "latency_us: 0.5 }} link {{ "
        "from: \"nic[0-3]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 64 latency_us: 0.5 }} link "
        "{{ "
        "from: \"cpu0\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 24 latency_us: 0.5 }} }} }}\n"
        "workload {{ variable {{ name: \"a\" shape: 9 }} }} strategy {{ algorithm: \"nccl\" "
        "launch_us: {} }}",
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
