#include "core/calibrate/relative_slowdown.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::core {
namespace {

/// Returns samples of six similar systems, of which the last has a different latency and rate.
/// Times are α + bytes · β in microseconds, and vary by the share `scatter`.
std::map<int, Samples> six(double latency, double per_byte, double odd_latency, double odd_per_byte,
                           std::int64_t shortest = 1000, double scatter = 0) {
  std::map<int, Samples> all;
  for (int who = 0; who < 6; ++who) {
    for (std::int64_t bytes = shortest; bytes <= 64 * shortest; bytes *= 4) {
      const double us = who == 5 ? odd_latency + odd_per_byte * static_cast<double>(bytes)
                                 : latency + per_byte * static_cast<double>(bytes);
      for (int i = 0; i < 21; ++i) all[who][{1, bytes}].push_back(us * (1 + scatter * i / 10));
    }
  }
  return all;
}

std::map<int, RelativeSlowdown> of(const std::map<int, Samples>& all) {
  return relative_slowdowns(
      all, std::map<int, std::string>{{0, "x"}, {1, "x"}, {2, "x"}, {3, "x"}, {4, "x"}, {5, "x"}},
      0.5);
}

TEST(RelativeSlowdown, SeparatesRatesFromLatencies) {
  for (const auto& [odd_latency, odd_per_byte] :
       {std::pair{10.0, 0.002}, std::pair{10.0, 0.0005}, std::pair{30.0, 0.001},
        std::pair{2.0, 0.001}, std::pair{25.0, 0.003}, std::pair{4.0, 0.0002}}) {
    const auto all = of(six(10, 0.001, odd_latency, odd_per_byte));
    EXPECT_NEAR(all.at(5).slower, odd_per_byte / 0.001, 1e-9);
    EXPECT_NEAR(all.at(5).later().value(), odd_latency / 10, 1e-9);
    EXPECT_NEAR(all.at(0).slower, 1, 1e-9);
    EXPECT_NEAR(all.at(0).later().value(), 1, 1e-9);
  }
}

TEST(RelativeSlowdown, ReportsNoLatencyIfEvenTheShortestTimesAreMostlyTransfer) {
  const auto all = of(six(10, 0.001, 100, 0.002, 1'000'000));
  EXPECT_NEAR(all.at(5).slower, 2, 1e-6);
  EXPECT_FALSE(all.at(5).later());
}

TEST(RelativeSlowdown, DoesNotTreatNoiseAsASlowerRate) {
  EXPECT_NEAR(of(six(10, 0.001, 10, 0.0015)).at(5).slower, 1.5, 1e-9);
  EXPECT_EQ(of(six(10, 0.001, 10, 0.0015, 1000, 1)).at(5).slower, 1);
}

TEST(RelativeSlowdown, DoesNotTreatNoiseAsALongerLatency) {
  EXPECT_NEAR(of(six(10, 0.001, 15, 0.001)).at(5).later().value(), 1.5, 1e-9);
  EXPECT_EQ(of(six(10, 0.001, 15, 0.001, 1000, 1)).at(5).later(), 1);
}

TEST(RelativeSlowdown, NeedsSeveralSizesAndSimilarSystems) {
  std::map<int, Samples> all{{0, {{{1, 1000}, {5}}}}, {1, {{{1, 1000}, {9}}}}};
  EXPECT_TRUE(of(all).empty());
  all[0][{1, 4000}] = {12};  // a size that no other system has
  EXPECT_TRUE(of(all).empty());
  all[1][{1, 4000}] = {12};
  EXPECT_EQ(of(all).size(), 2u);
  EXPECT_TRUE(relative_slowdowns(all, std::map<int, std::string>{{0, "x"}, {1, "y"}}, 0.25).empty())
      << "stated to differ";
}

}  // namespace
}  // namespace tutti::core
