#include "core/base/time_left.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

std::string once(double share, double seconds) { return TimeLeft().text(share, seconds); }

TEST(TimeLeft, IsShownAfterEnoughProgress) {
  EXPECT_EQ(once(0.001, 20), "0 %");
  EXPECT_EQ(once(0.25, 3), "25 %, 9 s left");
  EXPECT_EQ(once(0.25, 0.1), "25 %");
  EXPECT_EQ(once(0.1, 60), "10 %, 9 min left");
  EXPECT_EQ(once(0.01, 600), "1 %, 17 h left");
  EXPECT_EQ(once(7, 60), "100 %");
}

TEST(TimeLeft, CountsDownBetweenUpdatesAndIsHiddenOnceItHasElapsed) {
  TimeLeft left;
  EXPECT_EQ(left.text(0, 10), "0 %");
  EXPECT_EQ(left.text(0.25, 20), "25 %, 60 s left");
  EXPECT_EQ(left.text(0.25, 50), "25 %, 30 s left");
  EXPECT_EQ(left.text(0.25, 81), "25 %");
  EXPECT_EQ(left.text(0.5, 100), "50 %, 100 s left");
}

}  // namespace
}  // namespace tutti::core
