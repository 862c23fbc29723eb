// Runs every shipped scenario. Each must be short, and its report must have the expected values in
// tests/data/expected: values.txt for all scenarios, and three complete reports. The values of the
// timelines are in tests/data/digests/shipped.txt. After a change that is meant to alter results,
// rewrite the files with TUTTI_UPDATE_EXPECTED=1 ctest --preset release -R Shipped, and review the
// difference.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/timeline/reader.h"
#include "tests/support/clusters.h"
#include "tests/support/json.h"
#include "tests/support/program.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::run_tutti;

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(test::source_folder() + "/scenarios")) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string file_of(const std::string& name) {
  return test::source_folder() + "/scenarios/" + name + ".textproto";
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, IsShortAndCommented) {
  const std::string text = content(file_of(GetParam()));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  EXPECT_TRUE(text.starts_with("# "));
}

TEST_P(Shipped, WritesATimelineThatIsReadCompletely) {
  const test::TemporaryFolder folder;
  const test::Outcome o = run_tutti({"simulate", file_of(GetParam()), "--record", "packs",
                                     "--timeline", folder.file("t.tutti"), "--rows", "0"});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline) << timeline.error().message();
  EXPECT_EQ(timeline->damage(), "");
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Shipped, testing::ValuesIn(shipped()),
                         [](const auto& i) { return i.param; });

/// Compares with a file below tests/data/expected, or rewrites the file if requested.
void expect_as_before(const std::string& file, const std::string& now) {
  const std::string path = test::source_folder() + "/tests/data/expected/" + file;
  if (std::getenv("TUTTI_UPDATE_EXPECTED") != nullptr) std::ofstream(path, std::ios::binary) << now;
  EXPECT_EQ(now, content(path));
}

/// Adds a line with a time in microseconds with three decimals: "step_time_us 112207.583".
void add_time(std::string& text, const std::string& name, const test::Data& time) {
  text += fmt::format("  {} {:.3f}\n", name, time.real());
}

/// Returns the values of a report that are not in the timeline.
std::string values_of(const test::Data& report) {
  std::string text;
  for (const char* name : {"replicas", "gradient_bytes", "steady_from_step"})
    text += fmt::format("  {} {}\n", name, report[name].number());
  for (const char* name :
       {"step_time_us", "forward_us", "backward_us", "other_compute_us", "communication_us",
        "exposed_communication_us", "waiting_us", "slowed_by_communication_us"})
    add_time(text, name, report[name]);
  if (report.has("step_time_band")) {
    add_time(text, "band_low_us", report["step_time_band"]["low_us"]);
    add_time(text, "band_high_us", report["step_time_band"]["high_us"]);
  }
  if (report.has("awaited")) {
    text += fmt::format("  awaited {}\n", report["awaited"].text());
    add_time(text, "awaited_for_us", report["awaited_for_us"]);
  }
  if (report.has("lower_bound")) {
    add_time(text, "lower_bound_us", report["lower_bound"]["step_us"]);
    add_time(text, "communication_lower_bound_us", report["lower_bound"]["communication_us"]);
  }
  text += fmt::format("  steps {}\n", report["steps"].items().size());
  std::int64_t bytes = 0;
  for (const test::Data& pack : report["packs"].items()) bytes += pack["bytes"].number();
  text += fmt::format("  packs {} of {} bytes\n", report["packs"].items().size(), bytes);
  const std::vector<test::Data> links = report["links"].items();
  text += fmt::format("  links {}\n", links.size());
  if (!links.empty())
    text += fmt::format("  busiest {} {}\n", links[0]["link"].text(), links[0]["bytes"].number());
  for (const test::Data& piece : report["critical_path"].items())
    text += fmt::format("  critical {} on {} to {:.3f}\n", piece["what"].text(),
                        piece["device"].text(), piece["end_us"].real());
  text += fmt::format("  notes {}\n", report["notes"].items().size());
  return text;
}

TEST(ShippedScenarios, ValuesAreUnchanged) {
  std::string all;
  for (const std::string& name : shipped()) {
    const test::Outcome o = run_tutti({"simulate", file_of(name), "--format", "json"});
    ASSERT_EQ(o.status, 0) << o.err;
    const core::Value report = test::parse_or_throw(o.out, name);
    all += name + "\n" + values_of(test::Data(report));
  }
  expect_as_before("values.txt", all);
}

TEST(ShippedScenarios, ReportsAreUnchanged) {
  for (const std::string name : {"04_resnet50_ring", "06_resnet50_nccl", "13_tensor_parallel"}) {
    const test::Outcome o = run_tutti({"simulate", file_of(name)});
    ASSERT_EQ(o.status, 0) << o.err;
    // The version in the first line may change.
    expect_as_before(name + ".txt",
                     o.out.substr(0, o.out.find(", Tutti ")) + o.out.substr(o.out.find('\n') - 1));
  }
}

double step_time(const std::string& name) {
  const core::Value json =
      test::parse_or_throw(run_tutti({"simulate", file_of(name), "--format", "json"}).out, name);
  return test::Data(json)["step_time_us"].real();
}

/// Computed by hand: 2 (2 us + 500 KB / 10 GB/s) + 500 KB / 100 GB/s for the first scenario; 14 (1
/// us + 8 MiB / 25 GB/s), plus 7 additions of 8 MiB at 10^15 bytes per second, for the second.
/// Every transfer is rounded up to a picosecond.
TEST(ShippedScenarios, SmallOnesTakeTheTimeOfTheirComments) {
  EXPECT_DOUBLE_EQ(step_time("01_two_ranks"), 109.0);
  EXPECT_NEAR(step_time("02_eight_hosts_ring"), 4711.62, 0.1);
  EXPECT_NEAR(step_time("09_fat_tree"), 153'600 + 88, 0.1)
      << "2 (N/2 + N/4 + 4 (N/8 + N/16)) over 1.25 GB/s";
  EXPECT_GT(step_time("12_background"), 14 * 8'000 / 1.25 / 0.6)
      << "more than with what is left on average";
  EXPECT_LT(step_time("12_background"), 14 * 8'000 / 1.25 / 0.2)
      << "and less than if all ports always had a burst";
  EXPECT_NEAR(step_time("07_incast"), 768'020, 1)
      << "2 (384 ms + 10 us), and half a microsecond of adding";
}

TEST(ShippedScenarios, OnTwoDgx1NcclIsFastestAndServersOnCpusSlowest) {
  EXPECT_LT(step_time("06_resnet50_nccl"), step_time("04_resnet50_ring"));
  EXPECT_LT(step_time("04_resnet50_ring"), step_time("05_resnet50_pscpu"));
}

}  // namespace
}  // namespace tutti
