#include "core/strategy/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cluster/machine_file.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

test::PlainRates fast_links() {
  test::PlainRates rates;
  rates.link = Bandwidth(10'000'000'000);
  rates.latency = microseconds(1);
  return rates;
}

TEST(AllReduceBound, IsTheTimeOfARingForIdenticalDevicesOnOneSwitch) {
  const test::PlainRates rates = fast_links();
  for (const int n : {2, 3, 16, 1000}) {
    const auto cluster = test::plain_cluster(n, rates);
    const Time expected =
        transfer_time(Bytes(std::int64_t{200'000'000} * (n - 1) / n), rates.link) + rates.latency;
    const Time bound = all_reduce_bound(*cluster, Bytes(100'000'000)).time;
    EXPECT_LE(bound, expected + nanoseconds(1));
    EXPECT_GE(bound, expected - nanoseconds(200))
        << n << ": rounding of 2(n-1)/n and the bound's own margin only";
  }
}

TEST(AllReduceBound, TheLatencyPartDoesNotDependOnTheSize) {
  test::PlainRates rates;
  rates.latency = microseconds(7);
  const auto cluster = test::plain_cluster(4, rates);
  for (const std::int64_t bytes : {1, 1000, 100'000'000})
    EXPECT_EQ(all_reduce_bound(*cluster, Bytes(bytes)).latency, rates.latency) << bytes;
  EXPECT_LT(all_reduce_bound(*cluster, Bytes(1)).time - rates.latency, nanoseconds(100));
}

TEST(AllReduceBound, WithInNetworkReductionEveryByteCrossesTheNicsOnce) {
  const test::PlainRates rates = fast_links();
  for (const int n : {2, 3, 16, 1000}) {
    const auto cluster = test::plain_cluster(n, rates);
    const Bound adds = all_reduce_bound(*cluster, Bytes(100'000'000), NetworkModel::kFifo, true);
    EXPECT_EQ(adds.time, transfer_time(Bytes(100'000'000), rates.link) + rates.latency) << n;
    EXPECT_LE(adds.time, all_reduce_bound(*cluster, Bytes(100'000'000)).time + nanoseconds(1)) << n;
  }
}

TEST(AllReduceBound, IsZeroWithoutCommunication) {
  EXPECT_EQ(all_reduce_bound(*test::plain_cluster(1), Bytes(1000)).time, Time());
  EXPECT_EQ(all_reduce_bound(*test::plain_cluster(4), Bytes(0)).time, Time());
}

TEST(AllReduceBound, ASwitchThatReducesHalvesIt) {
  const auto bound_with = [](bool adds) {
    const Cluster cluster({{test::switch_machine(8, {}, adds), 1}}, 8, std::nullopt);
    return all_reduce_bound(cluster, Bytes(100'000'000));
  };
  EXPECT_LT(bound_with(true).time.count(),
            0.75 * static_cast<double>(bound_with(false).time.count()));
  EXPECT_FALSE(bound_with(true).reason.empty());
}

TEST(AllReduceBound, IncludesTheNetworkOfManyGpus) {
  const auto machine =
      *load_machine(test::source_folder() + "/scenarios/machines/dgx1-v100.textproto");
  const Cluster cluster({{machine, 16}}, 8,
                        Network{Network::Kind::kOneSwitch, std::nullopt, microseconds(1), ""});
  const Bound bound = all_reduce_bound(cluster, Bytes(1'000'000'000));
  EXPECT_NE(
      bound.reason,
      all_reduce_bound(Cluster({{machine, 1}}, 8, std::nullopt), Bytes(1'000'000'000)).reason);
  EXPECT_NEAR(to_ms(bound.time), 2 * 15.0 / 16 * 1000 / 50, 0.01)
      << "1 GB over 4 x 12.5 GB/s per worker";
}

TEST(StepBound, AddsTheCommunicationAfterTheLastGradients) {
  const auto cluster = test::plain_cluster(4);
  Workload w;
  for (const std::int64_t elements : {std::int64_t{1'000'000}, std::int64_t{10}}) {
    Variable v;
    v.elements = elements;
    w.gradients.push_back(v);
  }
  w.segments = {{"late", {1}}, {"early", {0}}};
  w.times = {{milliseconds(1), {milliseconds(1), milliseconds(2)}, Time()}};
  const Bound bound = step_bound(*cluster, w, 0);
  EXPECT_EQ(bound.time, milliseconds(4) + all_reduce_bound(*cluster, Bytes(4'000'000)).time)
      << "the large gradient is ready last";
  w.times[0].update = milliseconds(500);
  EXPECT_EQ(step_bound(*cluster, w, 0).reason, "computation alone");
}

}  // namespace
}  // namespace tutti::core
