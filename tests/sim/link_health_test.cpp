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

/// Returns the health of a plain cluster. Link 0 has half its bandwidth from 100 ns on, no
/// bandwidth from 200 ns on, and its full bandwidth from 300 ns on.
LinkHealth health() {
  test::PlainRates rates;
  rates.link = Bandwidth(kGb);
  const auto cluster = test::plain_cluster(2, rates);
  return LinkHealth(
      *cluster,
      {{0, 500'000, nanoseconds(100)}, {0, 0, nanoseconds(200)}, {0, 1'000'000, nanoseconds(300)}});
}

TEST(LinkHealth, ReportsWhichLinksChange) {
  EXPECT_TRUE(health().changes(0));
  EXPECT_FALSE(health().changes(1));
  EXPECT_FALSE(LinkHealth().changes(0));
}

TEST(LinkHealth, MessagesContinueAtTheChangedRate) {
  LinkHealth link = health();
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
  EXPECT_EQ(tail(75, 0, kGb / 2), nanoseconds(150)) << "is as fast as the remaining half";
}

TEST(LinkHealth, MessagesOnADeadLinkNeverArrive) {
  test::PlainRates rates;
  const auto cluster = test::plain_cluster(2, rates);
  LinkHealth link(*cluster, {{0, 0, nanoseconds(100)}});
  EXPECT_LT(link.tail(0, Bytes(1), rates.link, Time()), nanoseconds(1));
  EXPECT_EQ(link.tail(0, Bytes(1'000'000), rates.link, Time()), core::kNever);
  EXPECT_EQ(link.tail(0, Bytes(1), rates.link, nanoseconds(100)), core::kNever);
}

// --- background traffic ---

core::BackgroundLoad load(std::int64_t share_ppm, Time burst = {}, Time pause = {},
                          std::vector<core::LinkId> links = {0}) {
  return {std::move(links), share_ppm, burst, pause, 0, ""};
}

LinkHealth loaded(std::vector<core::BackgroundLoad> loads, std::uint64_t seed = 1,
                  const std::vector<core::LinkChange>& changes = {}) {
  test::PlainRates rates;
  rates.link = Bandwidth(kGb);
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i].entry = static_cast<std::int32_t>(i);
  return {*test::plain_cluster(2, rates), changes, loads, seed};
}

TEST(Background, LeavesTheRemainingBandwidthAndSeveralLoadsMultiply) {
  LinkHealth quarter = loaded({load(250'000)});
  EXPECT_EQ(quarter.tail(0, Bytes(750), Bandwidth(kGb), Time()), nanoseconds(1'000));
  LinkHealth two = loaded({load(250'000), load(200'000)});
  EXPECT_EQ(two.tail(0, Bytes(600), Bandwidth(kGb), Time()), nanoseconds(1'000))
      << "three quarters of four fifths";
  LinkHealth degraded = loaded({load(250'000)}, 1, {{0, 500'000, nanoseconds(100)}});
  EXPECT_EQ(degraded.tail(0, Bytes(75 + 75), Bandwidth(kGb), Time()), nanoseconds(100 + 200));
  EXPECT_FALSE(quarter.changes(1));
}

/// Over thousands of bursts, a link has 1 - share · burst / (burst + pause) of its bandwidth on
/// average.
TEST(Background, BurstsTakeTheirShareOfTheTime) {
  struct Case {
    std::int64_t share_ppm, burst_us, pause_us;
  };
  for (const Case& c : {Case{800'000, 10, 10}, Case{990'000, 5, 45}, Case{500'000, 90, 10}}) {
    LinkHealth link =
        loaded({load(c.share_ppm, core::microseconds(c.burst_us), core::microseconds(c.pause_us))});
    const std::int64_t cycles = 20'000;
    const double duty =
        static_cast<double>(c.burst_us) / static_cast<double>(c.burst_us + c.pause_us);
    const double left = 1 - static_cast<double>(c.share_ppm) / 1e6 * duty;
    const Time time = cycles * core::microseconds(c.burst_us + c.pause_us);
    const auto bytes = static_cast<std::int64_t>(left * static_cast<double>(time.count()) / 1'000);
    const Time took = link.tail(0, Bytes(bytes), Bandwidth(kGb), Time());
    EXPECT_NEAR(static_cast<double>(took.count()) / static_cast<double>(time.count()), 1, 0.02)
        << c.share_ppm;
  }
}

TEST(Background, BurstsDependOnlyOnSeedEntryAndLink) {
  const auto phases = [](LinkHealth health, core::LinkId link) {
    std::vector<std::int64_t> starts;
    for (std::size_t i = 0; i < 50; ++i)
      starts.push_back(health.course(link).phase(i)->from.count());
    return starts;
  };
  const core::BackgroundLoad bursts =
      load(500'000, core::microseconds(3), core::microseconds(7), {0, 1});
  EXPECT_EQ(phases(loaded({bursts}), 0), phases(loaded({bursts}), 0));
  EXPECT_EQ(phases(loaded({bursts}), 1),
            phases(loaded({load(1, core::microseconds(3), core::microseconds(7), {1})}), 1))
      << "whoever else has them, and whatever they take";
  EXPECT_NE(phases(loaded({bursts}), 0), phases(loaded({bursts}), 1));
  EXPECT_NE(phases(loaded({bursts}), 0), phases(loaded({bursts}, 2), 0));
  EXPECT_NE(phases(loaded({load(0), bursts}), 0), phases(loaded({bursts}), 0)) << "another entry";
}

TEST(Background, ADeadLinkStaysDeadUnderBackgroundTraffic) {
  LinkHealth link = loaded({load(500'000, core::microseconds(1), core::microseconds(1))}, 1,
                           {{0, 0, nanoseconds(100)}});
  EXPECT_EQ(link.tail(0, Bytes(1'000'000), Bandwidth(kGb), Time()), core::kNever);
}

TEST(LinkHealth, APartOfABandwidthIsZeroOnlyIfTheShareIsZero) {
  EXPECT_EQ(part_of(Bandwidth(1'000), 0), Bandwidth(0));
  EXPECT_EQ(part_of(Bandwidth(1'000), 1), Bandwidth(1));
  EXPECT_EQ(part_of(Bandwidth(9'000'000'000'000'000), 999'999), Bandwidth(8'999'991'000'000'000));
}

}  // namespace
}  // namespace tutti::sim
