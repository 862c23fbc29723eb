// Every shipped scenario: it runs, it is short, and it says what it said before (tests/data/expected). After a change
// that is meant to alter results, TUTTI_UPDATE_EXPECTED=1 ctest --preset release -R Shipped writes them anew; the
// difference belongs into the review.

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
  for (const fs::directory_entry& entry : fs::directory_iterator(test::source_folder() + "/scenarios")) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string file_of(const std::string& name) { return test::source_folder() + "/scenarios/" + name + ".textproto"; }

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

TEST_P(Shipped, SaysWhatItSaidBefore) {
  const test::Outcome o = run_tutti({"simulate", file_of(GetParam())});
  ASSERT_EQ(o.status, 0) << o.err;
  // The version in the first line may change.
  const std::string said = o.out.substr(0, o.out.find(", Tutti ")) + o.out.substr(o.out.find('\n') - 1);
  const std::string expected = test::source_folder() + "/tests/data/expected/" + GetParam() + ".txt";
  if (std::getenv("TUTTI_UPDATE_EXPECTED") != nullptr) std::ofstream(expected, std::ios::binary) << said;
  EXPECT_EQ(said, content(expected));
}

TEST_P(Shipped, WritesATimelineThatIsReadWhole) {
  const test::TemporaryFolder folder;
  const test::Outcome o = run_tutti(
      {"simulate", file_of(GetParam()), "--record", "packs", "--timeline", folder.file("t.tutti"), "--rows", "0"});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline) << timeline.error().message();
  EXPECT_EQ(timeline->damage(), "");
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Shipped, testing::ValuesIn(shipped()), [](const auto& i) { return i.param; });

double step_time(const std::string& name) {
  const core::Value json = test::parse_or_throw(run_tutti({"simulate", file_of(name), "--format", "json"}).out, name);
  return test::Data(json)["step_time_us"].real();
}

/// By hand: 2 (2 us + 500 KB / 10 GB/s) + 500 KB / 100 GB/s; 14 (1 us + 8 MiB / 25 GB/s), every transfer rounded up to a
/// picosecond and adding 8 MiB at 10^15 bytes per second 7 times.
TEST(ShippedScenarios, SmallOnesTakeWhatTheirCommentsSay) {
  EXPECT_DOUBLE_EQ(step_time("01_two_ranks"), 109.0);
  EXPECT_NEAR(step_time("02_eight_hosts_ring"), 4711.62, 0.1);
  EXPECT_NEAR(step_time("09_fat_tree"), 153'600 + 88, 0.1) << "2 (N/2 + N/4 + 4 (N/8 + N/16)) over 1.25 GB/s";
  EXPECT_GT(step_time("12_background"), 14 * 8'000 / 1.25 / 0.6) << "more than with what is left on average";
  EXPECT_LT(step_time("12_background"), 14 * 8'000 / 1.25 / 0.2) << "and less than if all ports always had a burst";
  EXPECT_NEAR(step_time("07_incast"), 768'020, 1) << "2 (384 ms + 10 us), and half a microsecond of adding";
}

TEST(ShippedScenarios, OnTwoDgx1NcclIsFastestAndServersOnCpusSlowest) {
  EXPECT_LT(step_time("06_resnet50_nccl"), step_time("04_resnet50_ring"));
  EXPECT_LT(step_time("04_resnet50_ring"), step_time("05_resnet50_pscpu"));
}

}  // namespace
}  // namespace tutti
