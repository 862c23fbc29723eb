// Corrections of NCCL's predicted times from measured tables: which parts of the prediction are
// corrected, how the error band changes with the distance from the measurements, and the
// calibration file.

#include "core/nccl/calibration/calibration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/nccl/calibration/time_process.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

using test::Mistake;

/// Returns the predicted parts of a ring all-reduce of 8 GPUs: 10 us for the launch, 10 us for the
/// hops, and the bytes at 100 GB/s.
TimedPoint ring(std::int64_t bytes, CollectiveKind kind = CollectiveKind::kAllReduce,
                int nodes = 1) {
  TimedPoint made;
  made.kind = kind;
  made.algorithm = Algorithm::kRing;
  made.protocol = bytes < 1 << 20 ? Protocol::kLl : Protocol::kSimple;
  made.bytes = bytes;
  made.ranks = 8 * nodes;
  made.nodes = nodes;
  made.parts_us = {10, 10.0 * nodes, 0, static_cast<double>(bytes) / 1e5};
  return made;
}

/// Returns rows from 1 KiB to 1 GiB. Each row takes the sum of its predicted parts, multiplied by
/// `factors`.
std::vector<MeasuredPoint> table(std::array<double, 4> factors, int number = 0,
                                 CollectiveKind kind = CollectiveKind::kAllReduce) {
  std::vector<MeasuredPoint> rows;
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4) {
    const TimedPoint at = ring(bytes, kind);
    double us = 0;
    for (std::size_t part = 0; part < 4; ++part) us += at.parts_us[part] * factors[part];
    rows.push_back({at, us, number});
  }
  return rows;
}

double corrected(const TimeProcess& process, const TimedPoint& at) {
  return at.us() * std::exp(process.at(at).log_factor);
}

TEST(TimeProcess, WithoutMeasurementsChangesNothing) {
  const TimeProcess process({}, Spread::initial());
  const TimeCorrection known = process.at(ring(1 << 20));
  EXPECT_EQ(known.log_factor, 0);
  EXPECT_DOUBLE_EQ(known.sd, known.sd_before);
}

TEST(TimeProcess, CorrectsOtherSizesAndCollectivesByThePartThatDeviates) {
  // The launch and the hops take 1.5 times the predicted time, and the rates are as predicted.
  const TimeProcess process(table({1.5, 1.5, 1, 1}), Spread::initial());
  EXPECT_NEAR(corrected(process, ring(1 << 13)), 30.1, 1.5);
  EXPECT_NEAR(corrected(process, ring(1 << 30)) / ring(1 << 30).us(), 1, 0.01);
  const TimedPoint other = ring(1 << 12, CollectiveKind::kAllGather);
  EXPECT_GT(corrected(process, other) / other.us(), 1.25);
  EXPECT_LT(corrected(process, other) / other.us(), 1.5);
}

TEST(TimeProcess, IsMoreCertainNearMeasurements) {
  const TimeProcess process(table({1, 1, 1, 1}), Spread::initial());
  const auto narrowed = [&](const TimedPoint& at) {
    return process.at(at).sd / process.at(at).sd_before;
  };
  EXPECT_LT(narrowed(ring(1 << 12)), 0.6);
  EXPECT_LT(narrowed(ring(1 << 12)), narrowed(ring(1 << 12, CollectiveKind::kAllGather)));
  EXPECT_LT(narrowed(ring(1 << 12, CollectiveKind::kAllGather)),
            narrowed(ring(1 << 12, CollectiveKind::kAllGather, 64)));
  EXPECT_LE(narrowed(ring(1 << 12, CollectiveKind::kAllToAll, 64)), 1);
}

TEST(TimeProcess, MoreMeasurementsNeverMakeItLessCertain) {
  const std::vector<MeasuredPoint> rows = table({1, 1, 1, 1});
  double before = TimeProcess({}, Spread::initial()).at(ring(1 << 16)).sd;
  for (std::size_t n = 1; n <= rows.size(); ++n) {
    const TimeProcess process({rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n)},
                              Spread::initial());
    EXPECT_LE(process.at(ring(1 << 16)).sd, before * (1 + 1e-9)) << n;
    before = process.at(ring(1 << 16)).sd;
  }
}

TEST(TimeProcess, DoesNotDependOnTheOrderOfMeasurements) {
  std::vector<MeasuredPoint> rows = table({1.4, 0.8, 1, 1.1});
  const double first = corrected(TimeProcess(rows, Spread::initial()), ring(1 << 15));
  std::reverse(rows.begin(), rows.end());
  EXPECT_DOUBLE_EQ(corrected(TimeProcess(rows, Spread::initial()), ring(1 << 15)), first);
}

TEST(TimeProcess, AMeasurementThatContradictsOthersHasLittleWeight) {
  std::vector<MeasuredPoint> rows = table({1, 1, 1, 1});
  rows[2].measured_us *= 3;
  const TimeProcess process(rows, Spread::initial());
  EXPECT_LT(corrected(process, ring(1 << 14)) / ring(1 << 14).us(), 1.25);
  EXPECT_LT(corrected(process, ring(1 << 10)) / ring(1 << 10).us(), 1.15);
}

TEST(TimeProcess, RepetitionsCountByTheirMedianAndManyMeasurementsAreThinned) {
  std::vector<MeasuredPoint> rows;
  for (int number = 0; number < 20; ++number) {
    const auto own = table({1, 1, 1, 1}, number);
    for (int repeat = 0; repeat < 3; ++repeat) rows.insert(rows.end(), own.begin(), own.end());
  }
  const auto kept = thinned(rows, TimeProcess::kMaxRows);
  EXPECT_LE(kept.size(), TimeProcess::kMaxRows);
  std::set<int> tables;
  for (const MeasuredPoint& row : kept) tables.insert(row.table);
  EXPECT_EQ(tables.size(), 20U);
  const auto few = thinned(table({1, 1, 1, 1}), 4);
  ASSERT_EQ(few.size(), 4U);
  EXPECT_EQ(few.front().at.bytes, 1 << 10);
  EXPECT_EQ(few.back().at.bytes, 1 << 30);
}

TEST(Spread, IsWrittenAndRead) {
  Spread spread = Spread::initial();
  spread.at(Scale::kHops) = 0.123;
  spread.widening(true, 2) = 1.75;
  const auto read = Spread::parse(spread.to_csv("tests"), "again");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->at(Scale::kHops), 0.123);
  EXPECT_EQ(read->widening(true, 2), 1.75);
  EXPECT_TRUE(Spread::load(test::source_folder() + "/scenarios"));
  std::string text = spread.to_csv("tests");
  text.replace(text.find("hops"), 4, "hope");
  EXPECT_THAT(test::kinds_of(Spread::parse(text, "mine.csv")),
              testing::UnorderedElementsAre("unknown-name name", "missing"));
}

Calibration calibration() {
  CalibratedTable one;
  one.source = "A.log:3";
  one.gpus = 8;
  one.version = {2, 21, 5};
  one.driving = Driving::kThreadPerGpu;
  one.set = {"NCCL_ALGO=Ring"};
  one.rows = table({1.5, 1.5, 1, 1});
  CalibratedSystem system;
  system.cluster = "hgx-h100";
  system.generation = GpuGeneration::kHopper;
  system.nvlinks = 18;
  return Calibration(system, "abc", {one}, Spread::initial());
}

TEST(CalibrationFile, WritingAndReadingPreserveIt) {
  const std::string text = text_of(calibration(), "# a remark\n");
  const auto read = read_calibration(text, "mine.calibration", Spread::initial());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(text_of(*read, "# a remark\n"), text);
  ASSERT_EQ(read->tables().size(), 1U);
  EXPECT_EQ(read->tables()[0].driving, Driving::kThreadPerGpu);
  EXPECT_EQ(read->tables()[0].rows.size(), calibration().tables()[0].rows.size());
  EXPECT_EQ(read->system().nvlinks, 18);
  const ErrorBand cold{0.7, 1.5};
  const auto before = calibration().correct(ring(1 << 12), cold),
             after = read->correct(ring(1 << 12), cold);
  EXPECT_NEAR(after.factor, before.factor, 1e-4);
  EXPECT_NEAR(after.band.high, before.band.high, 1e-4);
  EXPECT_GT(after.factor, 1.2);
  EXPECT_GT(after.band.low, cold.low);
  EXPECT_LT(after.band.high, cold.high);
}

TEST(CalibrationFile, ErrorsHavePositions) {
  const auto kinds = [](const std::string& text) {
    return test::kinds_of(read_calibration(text, "mine.calibration", Spread::initial()));
  };
  EXPECT_THAT(kinds(""),
              testing::ElementsAre("missing Calibration.figures", "missing Calibration.system",
                                   "missing Calibration.table"));
  const std::string good = text_of(calibration(), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return kinds(text);
  };
  EXPECT_THAT(with("gpu: \"hopper\"", "gpu: \"gopher\""),
              testing::ElementsAre("unknown-name CalibratedSystem.gpu"));
  EXPECT_THAT(with("gpus: 8", "gpus: 1"), testing::ElementsAre("too-small MeasuredTable.gpus"));
  EXPECT_THAT(with("gpus: 8", "gpus: 0"),
              testing::ElementsAre("too-small MeasuredTable.gpus", "too-small MeasuredTable.gpus"));
  EXPECT_THAT(with("collective: \"all_reduce\"", "collective: \"all_change\""),
              testing::ElementsAre("unknown-name MeasuredTable.collective"));
  EXPECT_THAT(with("version: \"2.21.5\"", "version: \"two\""),
              testing::ElementsAre("unknown-name MeasuredTable.version"));
  EXPECT_THAT(with("driving: \"thread_per_gpu\"", ""),
              testing::ElementsAre("missing MeasuredTable.driving"));
  EXPECT_THAT(with("bytes: 1024", "bytes: 0"),
              testing::ElementsAre("too-small MeasuredTime.bytes"));
  EXPECT_THAT(with("launch_us: 10", "launch_us: -10"),
              testing::ElementsAre("too-small MeasuredTime.launch_us"));
  EXPECT_THAT(with("protocol: \"LL\"", "protocol: \"HTTP\""),
              testing::ElementsAre("unknown-name MeasuredTime.protocol"));
  EXPECT_THAT(with("nodes: 1", "nodes: 99999999999"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(with("nodes: 1", "noodles: 1"),
              testing::ElementsAre("unknown-field MeasuredTable.noodles"));
}

TEST(Calibration, IsForOneKindOfMachineAndOneSetOfParameters) {
  const Parameters figures = Parameters::initial();
  CalibratedTable far = calibration().tables()[0];
  far.nodes = 2;
  far.transport = Transport::kRoce;
  const Calibration one(calibration().system(), digest_of(figures), {far}, Spread::initial());
  System system;
  system.generation = GpuGeneration::kHopper;
  EXPECT_EQ(one.why_not(system, figures), "");
  System other = system;
  other.generation = GpuGeneration::kAmpere;
  EXPECT_NE(one.why_not(other, figures), "");
  other = system;
  other.inside = Inside::kPcie;
  EXPECT_NE(one.why_not(other, figures), "");
  other.inside = Inside::kAlone;
  EXPECT_EQ(one.why_not(other, figures), "");
  other = system;
  other.nodes = 4;
  other.transport = Transport::kInfiniband;
  EXPECT_NE(one.why_not(other, figures), "");
  other.transport = Transport::kRoce;
  EXPECT_EQ(one.why_not(other, figures), "");
  Parameters changed = figures;
  changed.all().front().value *= 2;
  EXPECT_NE(one.why_not(system, changed), "");
}

TEST(Calibration, TheOrderOfSettingsDoesNotMatter) {
  EXPECT_EQ(settings_digest({}), 0U);
  EXPECT_EQ(settings_digest({{"A", "1"}, {"B", "2"}}), settings_digest({{"B", "2"}, {"A", "1"}}));
  EXPECT_NE(settings_digest({{"A", "1"}}), settings_digest({{"A", "2"}}));
}

}  // namespace
}  // namespace tutti::core::nccl
