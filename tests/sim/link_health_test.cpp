#include "sim/network/link_health.h"

#include <gtest/gtest.h>

#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Bandwidth;
using core::Bytes;
using core::nanoseconds;
using core::Time;

constexpr std::int64_t kGb = 1'000'000'000;  // 1 byte per ns

/// A plain cluster whose link 0 carries a half from 100 ns on, nothing from 200, everything again from 300.
LinkHealth health() {
  test::PlainRates rates;
  rates.link = Bandwidth(kGb);
  const auto cluster = test::plain_cluster(2, rates);
  return LinkHealth(*cluster,
                    {{0, 500'000, nanoseconds(100)}, {0, 0, nanoseconds(200)}, {0, 1'000'000, nanoseconds(300)}});
}

TEST(LinkHealth, KnowsWhichLinksChange) {
  EXPECT_TRUE(health().changes(0));
  EXPECT_FALSE(health().changes(1));
  EXPECT_FALSE(LinkHealth().changes(0));
}

TEST(LinkHealth, AMessageGoesOnAtWhateverTheLinkCarries) {
  const LinkHealth link = health();
  const auto tail = [&link](std::int64_t bytes, std::int64_t head, std::int64_t rate = kGb) {
    return link.tail(0, Bytes(bytes), Bandwidth(rate), nanoseconds(head));
  };
  EXPECT_EQ(tail(50, 0), nanoseconds(50));
  EXPECT_EQ(tail(100, 0), nanoseconds(100)) << "just before";
  EXPECT_EQ(tail(120, 0), nanoseconds(140)) << "the last 20 at half the rate";
  EXPECT_EQ(tail(150, 0), nanoseconds(200));
  EXPECT_EQ(tail(151, 0), nanoseconds(301)) << "the last one after the link is back";
  EXPECT_EQ(tail(10, 250), nanoseconds(310));
  EXPECT_EQ(tail(0, 250), nanoseconds(300)) << "nothing enters a dead link";
  EXPECT_EQ(tail(30, 0, kGb / 2), nanoseconds(60)) << "a message with a limit of its own";
  EXPECT_EQ(tail(75, 0, kGb / 2), nanoseconds(150)) << "is as fast as the half that is left";
}

TEST(LinkHealth, WhatADeadLinkHoldsNeverComes) {
  test::PlainRates rates;
  const auto cluster = test::plain_cluster(2, rates);
  const LinkHealth link(*cluster, {{0, 0, nanoseconds(100)}});
  EXPECT_LT(link.tail(0, Bytes(1), rates.link, Time()), nanoseconds(1));
  EXPECT_EQ(link.tail(0, Bytes(1'000'000), rates.link, Time()), core::kNever);
  EXPECT_EQ(link.tail(0, Bytes(1), rates.link, nanoseconds(100)), core::kNever);
}

TEST(LinkHealth, APartOfABandwidthIsNothingOnlyIfNothingIsLeft) {
  EXPECT_EQ(part_of(Bandwidth(1'000), 0), Bandwidth(0));
  EXPECT_EQ(part_of(Bandwidth(1'000), 1), Bandwidth(1));
  EXPECT_EQ(part_of(Bandwidth(9'000'000'000'000'000), 999'999), Bandwidth(8'999'991'000'000'000));
}

}  // namespace
}  // namespace tutti::sim
