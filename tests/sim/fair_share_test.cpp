// Max-min fair sharing of links. The ends of flows are compared with a slow implementation by
// progressive filling, with results of SimGrid, and with properties such as the bottleneck of every
// flow.

#include "sim/network/fair_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include "core/base/random.h"
#include "tests/support/clusters.h"
#include "tests/support/fair_flows.h"

namespace tutti::sim {
namespace {

using core::Bandwidth;
using core::Bytes;
using core::Random;
using core::Time;
using test::FairFlow;
using test::FairFlows;

constexpr std::int64_t kGb = 1'000'000'000;

// --- a slow reference implementation ---

/// Computes max-min rates by progressive filling. All rates that are not fixed yet increase equally
/// until a link is full or a limit is reached.
std::vector<long double> fill_slowly(const FairFlows& all, const std::vector<bool>& alive) {
  std::vector<long double> rate(all.flows.size(), 0), left;
  std::vector<bool> fixed(all.flows.size());
  for (std::size_t f = 0; f < all.flows.size(); ++f) fixed[f] = !alive[f];
  for (const Bandwidth capacity : all.links)
    left.push_back(static_cast<long double>(capacity.count()));
  while (std::find(fixed.begin(), fixed.end(), false) != fixed.end()) {
    std::vector<int> rising(all.links.size());
    for (std::size_t f = 0; f < all.flows.size(); ++f) {
      for (const int l : all.flows[f].links) rising[l] += fixed[f] ? 0 : 1;
    }
    long double step = std::numeric_limits<long double>::infinity();
    for (std::size_t l = 0; l < left.size(); ++l) {
      if (rising[l] > 0) step = std::min(step, left[l] / rising[l]);
    }
    for (std::size_t f = 0; f < all.flows.size(); ++f) {
      const auto cap = static_cast<long double>(all.flows[f].cap.count());
      if (!fixed[f] && cap > 0) step = std::min(step, cap - rate[f]);
    }
    for (std::size_t f = 0; f < all.flows.size(); ++f) {
      if (fixed[f]) continue;
      rate[f] += step;
      for (const int l : all.flows[f].links) left[l] -= step;
    }
    for (std::size_t f = 0; f < all.flows.size(); ++f) {
      const auto cap = static_cast<long double>(all.flows[f].cap.count());
      if (cap > 0 && rate[f] >= cap * (1 - 1e-15L)) fixed[f] = true;
      for (const int l : all.flows[f].links) {
        const auto link = static_cast<std::size_t>(l);
        if (left[link] <= 1e-15L * static_cast<long double>(all.links[link].count()))
          fixed[f] = true;
      }
    }
  }
  return rate;
}

/// Returns the ends of the flows. All rates are computed again at every start and end. A flow ends
/// at the first picosecond at which at most 2^-12 ps of work are left.
std::vector<Time> end_slowly(const FairFlows& all) {
  const std::size_t count = all.flows.size();
  std::vector<long double> left(count);
  std::vector<Time> end(count, core::kNever);
  std::vector<bool> alive(count);
  for (std::size_t f = 0; f < count; ++f)
    left[f] = static_cast<long double>(all.flows[f].bytes.count()) * core::kPicosecondsPerSecond;
  Time now(-1);
  for (std::size_t missing = count; missing > 0;) {
    const std::vector<long double> rate = fill_slowly(all, alive);
    Time next = core::kNever;
    for (std::size_t f = 0; f < count; ++f) {
      if (alive[f]) {
        const long double ps = std::ceil(left[f] / rate[f] - std::ldexp(1.0L, -12));
        next = std::min(next, now + Time(static_cast<std::int64_t>(std::max(0.0L, ps))));
      } else if (end[f] == core::kNever) {
        next = std::min(next, all.flows[f].start);
      }
    }
    for (std::size_t f = 0; f < count; ++f) {
      if (alive[f]) left[f] -= rate[f] * static_cast<long double>((next - now).count());
      if (alive[f] && left[f] <= std::ldexp(rate[f], -12))
        alive[f] = false, end[f] = next, --missing;
      if (end[f] == core::kNever && all.flows[f].start == next) alive[f] = true;
    }
    now = next;
  }
  return end;
}

/// Returns random flows over few or many links, with equal or different capacities. Routes have one
/// to four links, and sizes and starts often coincide.
FairFlows random_flows(Random& random, std::uint64_t max_links, std::uint64_t max_flows,
                       std::int64_t narrowest) {
  FairFlows all;
  const auto any_of = [&random](std::initializer_list<std::int64_t> of) {
    return of.begin()[random.below(of.size())];
  };
  const auto links = 1 + random.below(max_links);
  const bool identical = random.below(3) == 0;
  for (std::uint64_t l = 0; l < links; ++l) {
    all.links.emplace_back(identical ? 7 * kGb
                                     : any_of({kGb, 3 * kGb, 12'345'678'901, 25 * kGb, 500'000'000,
                                               999'999'937, narrowest}));
  }
  const auto flows = 1 + random.below(max_flows);
  const bool at_once = random.below(3) == 0;
  for (std::uint64_t f = 0; f < flows; ++f) {
    FairFlow flow;
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      const auto l = static_cast<int>(random.below(links));
      if (std::find(flow.links.begin(), flow.links.end(), l) == flow.links.end())
        flow.links.push_back(l);
    }
    if (random.below(4) == 0)
      flow.cap = Bandwidth(any_of({100'000'000, kGb, 2'718'281'828, 50 * kGb}));
    flow.bytes = Bytes(any_of({1, 1'000, 65'536, 1'000'003, 4'194'304}) *
                       static_cast<std::int64_t>(1 + random.below(3)));
    flow.start = Time(at_once ? 0
                              : static_cast<std::int64_t>(random.below(8)) *
                                    any_of({0, 1, 1'000'000, 333'333'333}));
    all.flows.push_back(flow);
  }
  return all;
}

TEST(FairShare, EndTimesEqualThoseOfASimpleSolverToThePicosecond) {
  Random random(2026);
  for (int round = 0; round < 5'050; ++round) {
    const bool large = round >= 5'000;
    const FairFlows all = random_flows(random, large ? 60 : 14, large ? 300 : 40, 125'000'000);
    ASSERT_EQ(test::ends_by_fair_share(all), end_slowly(all)) << "case " << round;
  }
}

TEST(FairShare, IsAccurateForLinksWhoseBandwidthsDifferByAMillion) {
  Random random(7);
  for (int round = 0; round < 2'000; ++round) {
    const FairFlows all = random_flows(random, 14, 40, 1'000);
    const std::vector<Time> expected = end_slowly(all);
    const std::vector<Time> ends = test::ends_by_fair_share(all);
    for (std::size_t f = 0; f < ends.size(); ++f) {
      const auto exact = static_cast<double>(expected[f].count());
      ASSERT_NEAR(static_cast<double>(ends[f].count()), exact, 1 + 1e-9 * exact)
          << "case " << round << ", flow " << f;
    }
  }
}

// --- results of other simulators ---

/// 64 workers push to 8 servers. The expected ends are from SimGrid 3.32 (CM02,
/// network/optim:Full). SimGrid's latency of 1 us per flow, which precedes the flow, is subtracted.
/// An independent progressive filling agreed within 2.3·10^-7.
TEST(FairShare, PushesToUnequalServersMatchSimGrid) {
  const FairFlows all = test::heterogeneous_push(64, 8);
  const std::vector<Time> ends = test::ends_by_fair_share(all);
  std::ifstream file(test::source_folder() + "/tests/data/incast/heterogeneous_64x8.csv");
  std::string line;
  std::size_t flow = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("#") || line.starts_with("worker")) continue;
    int worker = 0, server = 0;
    long long bytes = 0;
    double start = 0, end = 0;
    ASSERT_EQ(
        std::sscanf(line.c_str(), "%d,%d,%lf,%lld,%lf", &worker, &server, &start, &bytes, &end), 5)
        << line;
    ASSERT_EQ(flow, static_cast<std::size_t>(worker * 8 + server));
    ASSERT_EQ(all.flows[flow].bytes, Bytes(bytes));
    ASSERT_EQ(all.flows[flow].start, Time(std::llround(start * 1e12)));
    EXPECT_NEAR(static_cast<double>(ends[flow].count()) * 1e-12, end - 1e-6, 1e-6 * end) << line;
    ++flow;
  }
  EXPECT_EQ(flow, 512u);
}

struct Push {
  int workers;
  int servers;
  double last;  ///< SimGrid's result minus the latency
};
TEST(FairShare, EndTimesOfLargePushesMatchSimGrid) {
  for (const Push& push : {Push{256, 32, 1.148873472}, Push{512, 32, 1.377023018}}) {
    const std::vector<Time> ends =
        test::ends_by_fair_share(test::heterogeneous_push(push.workers, push.servers));
    EXPECT_NEAR(static_cast<double>(std::max_element(ends.begin(), ends.end())->count()) * 1e-12,
                push.last, 1e-8);
  }
}

/// 64 workers in 8 racks push 32 MiB each to 8 servers in one rack, and then the servers send the
/// same amount back. Racks have 100 GB/s in each direction, hosts 25 GB/s. In SimGrid, every push
/// ends after 0.171800692 s, including a latency of 2 us. The bottleneck is the servers' rack.
TEST(FairShare, SharingTheRackOfTheServersMatchesSimGrid) {
  for (const bool pull : {false, true}) {
    FairFlows all;
    all.links.assign(72, Bandwidth(25 * kGb));
    all.links.resize(72 + 9, Bandwidth(100 * kGb));
    for (int worker = 0; worker < 64; ++worker) {
      for (int server = 0; server < 8; ++server) {
        std::vector<int> way{worker, 72 + worker / 8, 72 + 8, 64 + server};
        if (pull) std::reverse(way.begin(), way.end());
        all.flows.push_back({way, Bandwidth(), Bytes(33'554'432), Time()});
      }
    }
    for (const Time end : test::ends_by_fair_share(all))
      EXPECT_NEAR(static_cast<double>(end.count()) * 1e-12, 0.171798692, 1e-9);
  }
}

// --- properties ---

TEST(FairShare, ASingleFlowIsLimitedByItsNarrowestLinkOrItsCap) {
  Random random(3);
  for (int round = 0; round < 1'000; ++round) {
    const Bandwidth narrow(static_cast<std::int64_t>(1 + random.below(40 * kGb)));
    const Bandwidth cap(static_cast<std::int64_t>(random.below(2) * (1 + random.below(40 * kGb))));
    const Bytes bytes(static_cast<std::int64_t>(1 + random.below(1 << 26)));
    const FairFlows all{{Bandwidth(40 * kGb), narrow}, {{{0, 1}, cap, bytes, Time()}}};
    const Time end = test::ends_by_fair_share(all).front();
    const Time alone = transfer_time(bytes, cap.count() > 0 ? std::min(cap, narrow) : narrow);
    EXPECT_LE(end, alone);
    EXPECT_GE(end, alone - Time(1)) << "at most the picosecond of which a 4096th is missing";
  }
}

TEST(FairShare, AnIncastTakesTheTransferTimeOfAllBytesOnItsLink) {
  for (const int flows : {2, 3, 7, 64, 1'000}) {
    FairFlows all{{Bandwidth(25 * kGb)}, {}};
    for (int f = 0; f < flows; ++f)
      all.flows.push_back({{0}, Bandwidth(), Bytes(33'554'432), Time()});
    for (const Time end : test::ends_by_fair_share(all))
      EXPECT_EQ(end, core::transfer_time(flows, Bytes(33'554'432), Bandwidth(25 * kGb))) << flows;
  }
}

/// The definition of max-min fairness, at any moment: no link carries more than its capacity, and
/// every flow has a bottleneck. A bottleneck is either the flow's own limit, or a full link on
/// which no flow is faster.
TEST(FairShare, EveryFlowHasABottleneckAndNoLinkIsOverloaded) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const FairFlows all = random_flows(random, 20, 60, 125'000'000);
    FairShare share{Bandwidth(25 * kGb)};
    for (const Bandwidth capacity : all.links) share.add_link(capacity);
    std::vector<Time> until(all.flows.size(), core::kNever);
    std::vector<FairShare::Route> routes;
    std::vector<FairShare::Done> done;
    const auto check = [&] {
      std::vector<double> carried(all.links.size()), fastest(all.links.size());
      for (std::size_t f = 0; f < routes.size(); ++f) {
        for (const int l : all.flows[f].links) {
          carried[l] += share.rate(routes[f]);
          fastest[l] = std::max(fastest[l], share.rate(routes[f]));
        }
      }
      for (std::size_t l = 0; l < carried.size(); ++l) {
        const auto capacity = static_cast<double>(all.links[l].count());
        ASSERT_LE(carried[l], capacity * (1 + 1e-14));
        ASSERT_NEAR(carried[l], share.load(static_cast<int>(l)), 1e-14 * capacity);
      }
      for (std::size_t f = 0; f < routes.size(); ++f) {
        const double rate = share.rate(routes[f]);
        if (rate == 0) continue;  // the flow has ended
        bool has_one = all.flows[f].cap.count() > 0 &&
                       rate >= static_cast<double>(all.flows[f].cap.count()) * (1 - 1e-12);
        for (const int l : all.flows[f].links) {
          const auto link = static_cast<std::size_t>(l);
          const bool full =
              carried[link] >= static_cast<double>(all.links[link].count()) * (1 - 1e-12);
          has_one = has_one || (full && rate >= fastest[link] * (1 - 1e-12));
        }
        ASSERT_TRUE(has_one) << "case " << round << ", flow " << f << " at " << rate;
      }
    };
    for (std::size_t f = 0; f < all.flows.size(); ++f) {
      routes.push_back(share.add_route(all.flows[f].links, all.flows[f].cap));
      share.start(routes.back(), all.flows[f].bytes, f);
      share.update(Time(), done);
      check();
    }
    while (share.next() < core::kNever) {
      share.update(share.next(), done);
      check();
    }
    EXPECT_EQ(done.size(), all.flows.size()) << "all flows end";
    EXPECT_EQ(share.flows(), 0);
  }
}

TEST(FairShare, FlowsWithoutSharedLinksAreIndependent) {
  FairShare share{Bandwidth(kGb)};
  std::vector<FairShare::Done> done;
  for (int pair = 0; pair < 1'000; ++pair) {
    const FairShare::Link link = share.add_link(Bandwidth(kGb));
    share.start(share.add_route(std::vector<FairShare::Link>{link}, Bandwidth()),
                Bytes(1'000 + pair), 0);
    share.update(Time(), done);
  }
  while (share.next() < core::kNever) share.update(share.next(), done);
  EXPECT_EQ(share.work().routes_filled, 1'000) << "each flow is computed only when it starts";
}

TEST(FairShare, ALinkThatSlowsDownOrFailsDelaysItsFlowsFromThenOn) {
  FairShare share{Bandwidth(kGb)};
  const FairShare::Link first = share.add_link(Bandwidth(kGb));
  const FairShare::Link second = share.add_link(Bandwidth(kGb));
  std::vector<FairShare::Done> done;
  share.start(share.add_route(std::vector<FairShare::Link>{first, second}, Bandwidth()),
              Bytes(1'000), 1);
  share.start(share.add_route(std::vector<FairShare::Link>{second}, Bandwidth()), Bytes(1'000), 2);
  share.update(Time(), done);
  share.set_capacity(first,
                     Bandwidth(kGb / 10));  // after 500 of 1000 bytes, at half of 1 byte per ns
  share.update(core::nanoseconds(1'000), done);
  EXPECT_EQ(share.next(),
            core::microseconds(1) + core::transfer_time(Bytes(500), Bandwidth(kGb * 9 / 10)));
  share.update(share.next(), done);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].id, 2u) << "the other one's link gives it 0.9 bytes per ns from then on";
  EXPECT_EQ(share.next(), core::nanoseconds(6'000));
  share.set_capacity(first, Bandwidth(0));
  share.update(core::nanoseconds(3'000), done);
  EXPECT_EQ(share.next(), core::kNever);
  share.set_capacity(first, Bandwidth(kGb));
  share.update(core::nanoseconds(9'000), done);
  EXPECT_EQ(share.next(), core::nanoseconds(9'300)) << "300 bytes were missing";
}

}  // namespace
}  // namespace tutti::sim
