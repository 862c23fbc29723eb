#pragma once

// Helpers for the tests of calibration, which simulate timelines as measurements and check the
// calibrated parameters.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/calibrate/calibrate.h"
#include "core/scenario/scenario.h"
#include "core/timeline/writer.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::test {

/// The parameters that the tests set, and that calibration has to recover.
struct Figures {
  double latency_us = 3;
  double card_gb_per_s = 4;
  double reduce_gb_per_s = 20;
};

/// Returns a scenario of `workers` identical hosts on one switch.
inline std::string text_of(const Figures& figures, const std::string& algorithm = "ring",
                           int workers = 4) {
  return fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} network {{ kind: ONE_SWITCH latency_us: "
      "{} }} machine {{ "
      "name: "
      "\"m\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 90 reduce_gb_per_s: {} }} nic {{ "
      "name: \"nic0\" "
      "bandwidth_gb_per_s: {} }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE "
      "bandwidth_gb_per_s: 100 latency_us: "
      "0.01 "
      "}} }} }}\n"
      "workload {{ variable {{ name: \"a\" shape: 200 }} variable {{ name: \"b\" shape: 40001 }} "
      "variable {{ name: "
      "\"c\" "
      "shape: 3000000 }} variable {{ name: \"d\" shape: 700000 }} variable {{ name: \"e\" shape: 7 "
      "}} backward_ms: 400 "
      "}}\n"
      "strategy {{ algorithm: \"{}\" merging: SEPARATE {} }}\n",
      workers, figures.latency_us, figures.reduce_gb_per_s, figures.card_gb_per_s, algorithm,
      algorithm == "pscpu" ? "shards: 2" : "");
}

inline core::Scenario scenario_of(const std::string& text) {
  auto scenario = core::read_scenario(text, "s.textproto", shipped_library());
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return std::move(*scenario);
}

/// Simulates the scenario `text`. Returns the path of the timeline.
inline std::string simulated(const TemporaryFolder& folder, const std::string& name,
                             const std::string& text,
                             core::RecordLevel level = core::RecordLevel::kNone) {
  std::ofstream file(folder.file(name), std::ios::binary);
  core::TimelineWriter writer(file);
  core::RecordOptions record;
  record.level = level;
  EXPECT_TRUE(sim::Simulator().run(scenario_of(text), record, {}, writer));
  return folder.file(name);
}

inline core::CalibrationRequest request(std::vector<std::string> timelines,
                                        std::vector<std::string> logs,
                                        std::vector<std::string> keep) {
  return {std::move(timelines), false, std::move(logs), std::move(keep)};
}

inline core::Expected<core::Calibration> try_calibrate(const std::string& text,
                                                       const core::CalibrationRequest& request) {
  sim::Simulator simulator;
  return core::calibrate(scenario_of(text), request, simulator, shipped_library(), {});
}

inline core::Calibration calibrated(const std::string& text,
                                    const core::CalibrationRequest& request) {
  auto result = try_calibrate(text, request);
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? std::move(*result) : core::Calibration{};
}

inline core::CalibratedFigure figure(const core::Calibration& calibration,
                                     const std::string& name) {
  for (const core::CalibratedFigure& f : calibration.figures) {
    if (f.figure.name == name) return f;
  }
  ADD_FAILURE() << "no figure " << name;
  return {};
}

inline void expect_found(const core::Calibration& calibration, const std::string& name,
                         double truth, double within) {
  const core::CalibratedFigure f = figure(calibration, name);
  EXPECT_EQ(f.determination, core::Determination::kDetermined) << name << ": " << f.why();
  EXPECT_NEAR(f.value / truth, 1, within) << name;
  EXPECT_LE(f.low, truth) << name;
  EXPECT_GE(f.high, truth) << name;
}

}  // namespace tutti::test
