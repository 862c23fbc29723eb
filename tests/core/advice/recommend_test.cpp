#include "core/advice/recommend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/file.h"
#include "core/text/csv.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

Outcome step(std::int64_t ms) {
  Outcome made;
  made.step = milliseconds(ms);
  return made;
}

/// How far neighbours of a published sweep lie apart, in 19 of 20 cases: what the margin says that it is.
TEST(Recommend, WhatCanBeSeenIsWhatAPublishedSweepScattersBy) {
  const std::string path = test::source_folder() + "/tests/reference/workloads/ddp_bucket_sweep.csv";
  Problems problems;
  const CsvTable table = parse_csv(*read_text_file(path), path, problems);
  ASSERT_TRUE(problems.empty());
  std::vector<double> steps, apart;
  for (const CsvTable::Row& row : table.rows) {
    const auto cell = [&](const char* name) {
      return std::stod(row.cells[static_cast<std::size_t>(table.column(name))].text);
    };
    steps.push_back(cell("forward_ms") + cell("backward_ms"));
  }
  for (std::size_t i = 1; i < steps.size(); ++i) apart.push_back(std::abs(steps[i] / steps[i - 1] - 1));
  std::sort(apart.begin(), apart.end());
  const auto at = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(apart.size()))) - 1;
  EXPECT_NEAR(apart[at], kVisibleShare, 5e-5);
}

TEST(Recommend, ChangesNothingForWhatNobodyWouldNotice) {
  EXPECT_FALSE(recommend(step(1000), step(1000)).change);
  EXPECT_FALSE(recommend(step(1000), step(1010)).change);
  EXPECT_THAT(recommend(step(1000), step(1010)).why, HasSubstr("nothing that was tried is faster"));
  const Advice little = recommend(step(1000), step(990));
  EXPECT_FALSE(little.change);
  EXPECT_THAT(little.why, HasSubstr("nobody would notice"));
}

TEST(Recommend, SaysHowSureItIs) {
  const Advice some = recommend(step(1000), step(985));
  EXPECT_TRUE(some.change);
  EXPECT_THAT(some.why, HasSubstr("measure both"));
  const Advice much = recommend(step(1000), step(800));
  EXPECT_TRUE(much.change);
  EXPECT_NEAR(much.gain, 0.2, 1e-12);
  EXPECT_LT(much.least_gain, much.gain);
  EXPECT_THAT(much.why, HasSubstr("can be measured"));
}

}  // namespace
}  // namespace tutti::core
