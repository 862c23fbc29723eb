// Calibration detects a single link or device that deviates from similar ones, and fits its value
// with an interval. A link that only seems to deviate is not reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/laws/calibrated.h"

namespace tutti {
namespace {

using core::CalibratedFigure;
using core::Calibration;
using core::Determination;
using test::calibrated;
using test::expect_found;
using test::figure;
using test::request;
using test::scenario_of;
using test::simulated;
using test::TemporaryFolder;
using test::text_of;
using testing::HasSubstr;

/// Returns a scenario with identical hosts, except that the third host has the values given by the
/// `odd` parameters.
std::string hosts(int workers, const std::string& odd_card, const std::string& odd_link,
                  const std::string& odd_cpu, const std::string& strategy = "algorithm: \"ring\"",
                  double odd_latency_us = 0.5, const std::string& cards = "nic[0-1]") {
  const auto machine = [&cards](const std::string& name, const std::string& card,
                                const std::string& link, const std::string& cpu,
                                double latency_us) {
    return fmt::format(
        "machine {{ name: \"{}\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 90 "
        "reduce_gb_per_s: {} }} nic {{ "
        "name: \"{}\" bandwidth_gb_per_s: {} }} link {{ from: \"cpu0\" to: \"{}\" kind: PCIE "
        "bandwidth_gb_per_s: {} latency_us: {} }} }}\n",
        name, cpu, cards, card, cards, link, latency_us);
  };
  return fmt::format(
             "cluster {{ workers {{ machine: \"m\" count: 2 }} workers {{ machine: \"m of w2\" }} "
             "workers {{ machine: "
             "\"m\" "
             "count: {} }} network {{ kind: ONE_SWITCH latency_us: 5 }}\n",
             workers - 3) +
         machine("m", "2", "10", "30", 0.5) +
         machine("m of w2", odd_card, odd_link, odd_cpu, odd_latency_us) +
         fmt::format(
             "}}\nworkload {{ variable {{ name: \"a\" shape: 20000 }} variable {{ name: \"b\" "
             "shape: 400000 }} "
             "variable {{ "
             "name: \"c\" shape: 3000000 }} backward_ms: 60 update_ms: 0 }}\nstrategy {{ {} }} run "
             "{{ steps: 3 }}\n",
             strategy);
}

TEST(CalibrationLawOutliers, FindsANicThatIsSlowerThanSimilarOnes) {
  const TemporaryFolder folder;
  for (const int workers : {4, 5}) {
    const std::string timeline =
        simulated(folder, "slow", hosts(workers, "1", "10", "30"), core::RecordLevel::kSteps);
    const Calibration c = calibrated(hosts(workers, "2", "10", "30"), request({timeline}, {}, {}));
    expect_found(c, "network.bandwidth of w2/nic0", 1, 0.02);
    const CalibratedFigure others = figure(c, "network.bandwidth");
    EXPECT_NEAR(others.value, 2, 0.04) << "the others are as they were";
    EXPECT_LT(c.after.worst, 0.02);
    // The calibrated cluster contains the outlier, and predicts the measurements.
    EXPECT_THAT(c.cluster_text, HasSubstr(" of w2\""));
    const std::string rest = hosts(workers, "2", "10", "30");
    const Calibration again =
        calibrated("cluster { " + c.cluster_text + " } " + rest.substr(rest.find("workload")),
                   request({timeline}, {}, {}));
    EXPECT_LT(again.before.worst, 0.02);
  }
}

TEST(CalibrationLawOutliers, FindsADeviceThatReducesMoreSlowlyThanSimilarOnes) {
  const TemporaryFolder folder;
  const std::string shuffle = "algorithm: \"pscpu\" shards: 4";
  const std::string timeline =
      simulated(folder, "slow", hosts(4, "2", "10", "12", shuffle), core::RecordLevel::kSteps);
  const Calibration c = calibrated(hosts(4, "2", "10", "30", shuffle), request({timeline}, {}, {}));
  expect_found(c, "cpu.reduce of w2/cpu0", 12, 0.02);
  EXPECT_NEAR(figure(c, "cpu.reduce").value, 30, 0.6);
}

TEST(CalibrationLawOutliers, FindsALinkWhoseLatencyDiffersFromSimilarOnes) {
  const TemporaryFolder folder;
  const std::string ring = "algorithm: \"ring\"";
  for (const double latency : {4.0, 12.0}) {
    const std::string timeline =
        simulated(folder, "late", hosts(4, "2", "10", "30", ring, latency, "nic0"),
                  core::RecordLevel::kSteps);
    const Calibration c =
        calibrated(hosts(4, "2", "10", "30", ring, 0.5, "nic0"), request({timeline}, {}, {}));
    // Only the sum of latencies in series is observable. The latencies of the other links of this
    // kind keep their stated values.
    expect_found(c, "pcie.latency of w2/cpu0-w2/nic0", latency, 0.05);
    EXPECT_NEAR(figure(c, "network.latency").value, 5, 0.2);
    EXPECT_NEAR(figure(c, "network.bandwidth").value, 2, 0.04)
        << "a longer latency is not a lower bandwidth";
    for (const CalibratedFigure& f : c.figures)
      EXPECT_EQ(f.figure.name.find("bandwidth of"), std::string::npos);
    EXPECT_LT(c.after.worst, 0.02);
  }
}

TEST(CalibrationLawOutliers, ALinkMayDeviateInBandwidthAndLatency) {
  const TemporaryFolder folder;
  const std::string ring = "algorithm: \"ring\"";
  const std::string timeline = simulated(folder, "both", hosts(5, "2", "1", "30", ring, 8, "nic0"),
                                         core::RecordLevel::kSteps);
  const Calibration c =
      calibrated(hosts(5, "2", "10", "30", ring, 0.5, "nic0"), request({timeline}, {}, {}));
  // The fit attributes the low rate to the card. So the latency includes the time of the first
  // piece on the narrow link.
  expect_found(c, "pcie.latency of w2/cpu0-w2/nic0", 8, 0.15);
  // If a card is stated to be narrower than its link, the fit changes the card, and a note names
  // the link as an alternative.
  expect_found(c, "network.bandwidth of w2/nic0", 1, 0.05);
  EXPECT_THAT(c.notes, testing::Contains(
                           testing::AllOf(HasSubstr("w2/nic0 has a different rate than similar "
                                                    "links or devices, but the cause may also be"),
                                          HasSubstr("w2/cpu0-w2/nic0"))));
}

/// Returns a scenario of a worker whose GPUs are fully connected with links of 40 GB/s, except that
/// the link between gpu1 and gpu2 has the values given by the `odd` parameters.
std::string mesh(const std::string& odd, const std::string& odd_latency_us = "1") {
  std::string links;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const bool is_odd = a == 1 && b == 2;
      links += fmt::format(
          "link {{ from: \"gpu{}\" to: \"gpu{}\" kind: NVLINK bandwidth_gb_per_s: {} latency_us: "
          "{} }} ",
          a, b, is_odd ? odd : "40", is_odd ? odd_latency_us : "1");
    }
  }
  return "cluster { workers { machine: \"m\" } machine { name: \"m\" device { name: \"gpu[0-3]\" "
         "kind: GPU "
         "memory_gb_per_s: 900 } device { name: \"cpu0\" kind: CPU memory_gb_per_s: 90 } switch { "
         "name: \"plx\" kind: "
         "PCIE_SWITCH } link { from: \"gpu[0-3]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 "
         "latency_us: 0.5 } link "
         "{ "
         "from: \"cpu0\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 } " +
         links +
         "} }\nworkload { variable { name: \"a\" shape: 20000 } variable { name: \"b\" shape: "
         "400000 } variable { "
         "name: "
         "\"c\" shape: 3000000 } backward_ms: 60 update_ms: 0 }\nstrategy { algorithm: \"psgpu\" "
         "shards: 4 } run { "
         "steps: 3 "
         "}\n";
}

TEST(CalibrationLawOutliers, FindsALinkThatIsFasterThanSimilarOnes) {
  const TemporaryFolder folder;
  const std::string timeline = simulated(folder, "fast", mesh("80"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(mesh("40"), request({timeline}, {}, {}));
  expect_found(c, "nvlink.bandwidth of w0/gpu1-w0/gpu2", 80, 0.05);
  EXPECT_NEAR(figure(c, "nvlink.bandwidth").value, 40, 1);
}

TEST(CalibrationLawOutliers, FindsALinkWhoseLatencyIsShorterThanThatOfSimilarOnes) {
  const TemporaryFolder folder;
  const std::string timeline =
      simulated(folder, "early", mesh("40", "0.25"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(mesh("40"), request({timeline}, {}, {}));
  expect_found(c, "nvlink.latency of w0/gpu1-w0/gpu2", 0.25, 0.05);
  EXPECT_NEAR(figure(c, "nvlink.latency").value, 1, 0.05);
}

TEST(CalibrationLawOutliers, ReportsParametersThatCannotBeSeparated) {
  const TemporaryFolder folder;
  // With two workers, every message crosses the links of both workers.
  const std::string two = text_of({3, 4, 20}, "ring", 2);
  EXPECT_THAT(
      calibrated(two, request({simulated(folder, "t", two, core::RecordLevel::kSteps)}, {}, {}))
          .notes,
      testing::Contains(HasSubstr("at least three devices (for network links: three workers)")));
  const std::string four = text_of({3, 4, 20});
  EXPECT_THAT(calibrated(four, request({simulated(folder, "t", four)}, {}, {})).notes,
              testing::Contains(HasSubstr("no timeline has schedule steps (--record steps)")));
}

TEST(CalibrationLawOutliers, WaitingInQueuesIsNotMistakenForASlowLink) {
  const TemporaryFolder folder;
  // Packs start at the same time, and a worker sends to all others at once.
  const std::string crowded = "algorithm: \"pscpu\" merging: SEPARATE launch: CONCURRENT";
  const auto text = [&](const std::string& card) {
    std::string all = hosts(4, card, "10", "30", crowded);
    all.replace(all.find("backward_ms: 60"), 15, "backward_ms: 0.1");
    return all;
  };
  const std::string timeline = simulated(folder, "crowded", text("2"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(text("2"), request({timeline}, {}, {}));
  for (const CalibratedFigure& f : c.figures)
    EXPECT_EQ(f.figure.name.find(" of "), std::string::npos) << f.figure.name;
  EXPECT_THAT(c.notes, testing::Contains(HasSubstr("shared links with other messages")));
}

/// Forwards a simulated timeline as if it were from real processes.
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
    changed.core_wait =
        core::Time(std::llround(static_cast<double>(step.communication.count()) * core_wait_));
    to_.step(changed);
  }
  void pack(const core::PackRecord& pack) override { to_.pack(pack); }
  void link(const core::LinkRecord& link) override { to_.link(link); }
  void path(const core::PathPiece& piece) override { to_.path(piece); }
  void steady(const core::SteadyState& state) override { to_.steady(state); }
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

bool one_is_an_outlier(const Calibration& calibration) {
  return std::any_of(
      calibration.figures.begin(), calibration.figures.end(),
      [](const CalibratedFigure& f) { return f.figure.name.find(" of ") != std::string::npos; });
}

TEST(CalibrationLawOutliers, WaitingForACpuCoreIsNotMistakenForASlowLink) {
  const TemporaryFolder folder;
  const std::string slow = hosts(4, "1", "10", "30");
  const std::string stated = hosts(4, "2", "10", "30");
  const Calibration quiet =
      calibrated(stated, request({as_if_run(folder, slow, 0.09, false)}, {}, {}));
  EXPECT_TRUE(one_is_an_outlier(quiet)) << "a short wait does not hide the slow link";
  EXPECT_THAT(quiet.notes,
              testing::Not(testing::Contains(HasSubstr("workers waited for a CPU core"))));
  const Calibration crowded =
      calibrated(stated, request({as_if_run(folder, slow, 0.5, false)}, {}, {}));
  EXPECT_FALSE(one_is_an_outlier(crowded));
  EXPECT_THAT(crowded.notes,
              testing::Contains(testing::AllOf(
                  HasSubstr("in 3 of 3 steps, workers waited for a CPU core"),
                  HasSubstr("was 50 % of the time"), HasSubstr("up to 2 times as high"))));
}

TEST(CalibrationLawOutliers, LinksThatTheRunDidNotUseAreNotChecked) {
  const TemporaryFolder folder;
  const std::string fast = mesh("80");
  const std::string stated = mesh("40");
  EXPECT_TRUE(
      one_is_an_outlier(calibrated(stated, request({as_if_run(folder, fast, 0, false)}, {}, {}))));
  const Calibration c = calibrated(stated, request({as_if_run(folder, fast, 0, true)}, {}, {}));
  EXPECT_FALSE(one_is_an_outlier(c));
  EXPECT_THAT(c.notes, testing::Contains(HasSubstr("devices were emulated in host memory")));
}

TEST(CalibrationLawOutliers, FitsOneParameterPerKindWithoutOutliers) {
  const TemporaryFolder folder;
  const std::string timeline =
      simulated(folder, "even", hosts(4, "2", "10", "30"), core::RecordLevel::kSteps);
  const Calibration c = calibrated(hosts(4, "4", "10", "30"), request({timeline}, {}, {}));
  for (const CalibratedFigure& f : c.figures)
    EXPECT_EQ(f.figure.name.find(" of "), std::string::npos) << f.figure.name;
  EXPECT_THAT(
      c.notes,
      testing::Contains(HasSubstr(
          "there are no outliers, so all links and devices of a kind share one parameter")));
}

}  // namespace
}  // namespace tutti
