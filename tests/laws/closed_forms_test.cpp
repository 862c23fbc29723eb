// Under the ideal network, every algorithm takes exactly the time of its closed form, to the
// picosecond.
//
// Rounding: every message and every addition takes its bytes divided by its rate, rounded up to the
// next picosecond. Latencies are whole picoseconds, and nothing else is rounded. A closed form is
// therefore a sum of terms that are rounded in this way. The forms are those of docs/algorithms.md
// (TensorFlow's cost summary with one port per device and kind of link).

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "core/algorithm/chain.h"
#include "core/algorithm/direct.h"
#include "core/algorithm/double_tree.h"
#include "core/algorithm/halving.h"
#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/ring_blocks.h"
#include "core/algorithm/shuffle.h"
#include "core/algorithm/star.h"
#include "core/schedule/stages.h"
#include "core/strategy/bounds.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

using core::Bytes;
using core::Rank;
using core::Time;

constexpr std::int64_t kItem = 4;  // bytes of a float32

/// The costs α, β and γ of the plain clusters, rounded as in the simulator.
struct Costs {
  test::PlainRates rates;
  [[nodiscard]] Time alpha() const { return rates.latency; }
  [[nodiscard]] Time wire(std::int64_t elements) const {
    return core::transfer_time(Bytes(elements * kItem), rates.link);
  }
  [[nodiscard]] Time add(std::int64_t elements) const {
    return core::transfer_time(Bytes(elements * kItem), rates.reduce);
  }
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns sizes in elements: zero, one, some around the number of ranks, a prime, and 64 MiB.
std::vector<std::int64_t> sizes_for(int ranks) {
  return {0, 1, ranks - 1, ranks, ranks + 1, 1'000'003, 16'777'216};
}

class ClosedForm : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] int ranks() const { return GetParam(); }

  Time simulate(std::shared_ptr<const core::Schedule> schedule, std::int64_t elements) {
    const auto cluster = test::plain_cluster(schedule->ranks(), costs_.rates);
    const core::Collective collective =
        test::on_plain_cluster(*cluster, std::move(schedule), elements);
    const sim::CollectiveRun run = sim::run_alone(collective, core::NetworkModel::kIdeal);
    EXPECT_EQ(run.causal_chain.parts.total(), run.end)
        << "the critical path does not explain the whole time";
    return run.end;
  }

  Costs costs_;
};

TEST_P(ClosedForm, Ring) {
  const int n = ranks();
  for (const std::int64_t e : sizes_for(n)) {
    const std::int64_t chunk = ceil_div(e, n);
    const Time expected =
        e == 0 ? Time()
               : 2 * (n - 1) * (costs_.alpha() + costs_.wire(chunk)) + (n - 1) * costs_.add(chunk);
    EXPECT_EQ(simulate(core::ring_all_reduce(n, e), e), expected)
        << n << " ranks, " << e << " elements";
  }
}

/// Several lanes share a rank's port. With equal chunks that take τ each, the messages of the lanes
/// follow each other. A round takes lanes · τ, or τ + α (plus ρ while reducing) if that is longer.
/// The form requires ρ ≤ τ.
TEST_P(ClosedForm, RingsOverChannels) {
  const int n = ranks();
  if (n == 1) return;
  for (const int lanes : {2, 3, 8}) {
    for (const std::int64_t chunk : {1, 1000, 100'003}) {
      Costs costs;
      costs.rates.reduce = core::Bandwidth(2 * costs.rates.link.count());
      costs_ = costs;
      const std::int64_t e = chunk * lanes * n;
      core::RingOptions options;
      options.lanes.assign(static_cast<std::size_t>(lanes), core::RingPath{});
      const Time tau = costs.wire(chunk);
      const Time round_adding = std::max(lanes * tau, tau + costs.alpha() + costs.add(chunk));
      const Time round_copying = std::max(lanes * tau, tau + costs.alpha());
      const Time expected = (n - 1) * round_adding + (n - 2) * round_copying + (lanes - 1) * tau +
                            tau + costs.alpha();
      EXPECT_EQ(simulate(core::ring_all_reduce(n, e, options), e), expected)
          << n << " ranks, " << lanes << " lanes, chunks of " << chunk;
    }
  }
}

TEST_P(ClosedForm, HalvingDoubling) {
  const int n = ranks();
  if (!std::has_single_bit(static_cast<unsigned>(n))) return;
  for (const std::int64_t e : sizes_for(n)) {
    Time expected;
    std::int64_t held = e;
    for (int hop = 1; hop < n && e > 0; hop *= 2) {
      held = ceil_div(held, 2);
      expected += 2 * (costs_.alpha() + costs_.wire(held)) + costs_.add(held);
    }
    EXPECT_EQ(simulate(core::halving_doubling_all_reduce(n, e), e), expected)
        << n << " ranks, " << e << " elements";
  }
}

TEST_P(ClosedForm, RecursiveDoubling) {
  const int n = ranks();
  if (!std::has_single_bit(static_cast<unsigned>(n))) return;
  for (const std::int64_t e : sizes_for(n)) {
    const int hops = std::countr_zero(static_cast<unsigned>(n));
    const Time expected =
        e == 0 ? Time() : hops * (costs_.alpha() + costs_.wire(e) + costs_.add(e));
    EXPECT_EQ(simulate(core::recursive_doubling_all_reduce(n, e), e), expected)
        << n << " ranks, " << e << " elements";
  }
}

/// Each of two ranks is the root of one tree. So each port sends half of the buffer up, and then
/// half down.
TEST(DoubleTree, WithTwoRanksIsOneMessageInEachDirection) {
  const Costs costs;
  const auto cluster = test::plain_cluster(2, costs.rates);
  for (const std::int64_t e : {std::int64_t{1}, std::int64_t{1001}, std::int64_t{200'000}}) {
    const std::int64_t half = ceil_div(e, 2);
    std::shared_ptr<const core::Schedule> tree =
        core::double_tree_all_reduce(core::Contract::all_reduce(2, e), e);
    const Time expected = 2 * costs.alpha() + 2 * costs.wire(half) + costs.add(half);
    EXPECT_EQ(
        sim::run_alone(test::on_plain_cluster(*cluster, tree, e), core::NetworkModel::kIdeal).end,
        expected)
        << e << " elements";
  }
}

/// If a message is short compared with the latency, the time is the latency times the number of
/// hops up and down.
TEST_P(ClosedForm, DoubleTreeOfShortMessages) {
  const int n = ranks();
  costs_.rates.link = core::Bandwidth(1'000'000'000'000'000);
  costs_.rates.reduce = core::Bandwidth(0);
  const Time hops =
      2 * std::bit_width(static_cast<unsigned>(n - 1)) * costs_.alpha();  // ⌈log2 n⌉ up and down
  const Time took =
      simulate(core::double_tree_all_reduce(core::Contract::all_reduce(n, 2), 100), 2);
  EXPECT_GE(took, hops);
  EXPECT_LE(took, hops + Time(100)) << "a picosecond per message at a port";
}

/// The gather ranks are contributors. Each gather rank receives the last (largest) piece from the n
/// - 1 others, adds n pieces at once, and sends the sum back to the n - 1 others.
TEST_P(ClosedForm, ShuffleOverContributors) {
  const int n = ranks();
  for (const int g : {1, 2, 3, n / 2, n}) {
    if (g < 1 || g > n) continue;
    std::vector<Rank> gather(static_cast<std::size_t>(g));
    std::iota(gather.begin(), gather.end(), 0);
    for (const std::int64_t e : sizes_for(n)) {
      const std::int64_t last = core::RaggedCut{e, g}.size(g - 1);
      const Time expected =
          e == 0 || n == 1
              ? Time()
              : 2 * costs_.alpha() + 2 * (n - 1) * costs_.wire(last) +
                    core::transfer_time(Bytes((n - 1) * last * kItem), costs_.rates.reduce);
      EXPECT_EQ(
          simulate(
              core::shuffle_all_reduce(n, n, gather, e, core::Engine::kCpu, core::Engine::kCpu), e),
          expected)
          << n << " ranks, " << g << " gather ranks, " << e << " elements";
    }
  }
}

/// The gather ranks are not contributors (pscpu with GPUs that have ports of their own). So there
/// are n other ranks instead of n - 1.
TEST_P(ClosedForm, ShuffleOverHelpers) {
  const int n = ranks();
  for (const int g : {1, 2, 3, n / 2, n}) {
    if (g < 1 || g > n) continue;
    std::vector<Rank> gather(static_cast<std::size_t>(g));
    std::iota(gather.begin(), gather.end(), n);
    for (const std::int64_t e : sizes_for(n)) {
      const std::int64_t last = core::RaggedCut{e, g}.size(g - 1);
      const Time expected =
          e == 0 ? Time()
                 : 2 * costs_.alpha() + 2 * n * costs_.wire(last) +
                       core::transfer_time(Bytes((n - 1) * last * kItem), costs_.rates.reduce);
      EXPECT_EQ(simulate(core::shuffle_all_reduce(n + g, n, gather, e, core::Engine::kCpu,
                                                  core::Engine::kCpu),
                         e),
                expected)
          << n << " ranks, " << g << " gather ranks, " << e << " elements";
    }
  }
}

TEST_P(ClosedForm, StarReduceAndBroadcast) {
  const int n = ranks();
  for (const std::int64_t e : sizes_for(n)) {
    const bool idle = e == 0 || n == 1;
    const Time one_way = idle ? Time() : costs_.alpha() + (n - 1) * costs_.wire(e);
    const Time adding =
        idle ? Time() : core::transfer_time(Bytes((n - 1) * e * kItem), costs_.rates.reduce);
    EXPECT_EQ(simulate(core::star_reduce(n, n, 0, e, core::Engine::kCpu, core::Engine::kCpu), e),
              one_way + adding);
    EXPECT_EQ(simulate(core::star_broadcast(n, n, 0, e, core::Engine::kCpu), e), one_way);
  }
}

TEST_P(ClosedForm, ChainBroadcast) {
  const int n = ranks();
  if (n == 1) return;
  for (const std::int64_t messages : {1, 2, 7}) {
    for (const std::int64_t size : {1, 1000, 100'003}) {
      const std::int64_t e = messages * size;
      const Time expected =
          (n - 1) * (costs_.alpha() + costs_.wire(size)) + (messages - 1) * costs_.wire(size);
      EXPECT_EQ(simulate(core::chain_broadcast(n, e, size, core::Engine::kCpu), e), expected)
          << n << " ranks, " << messages << " of " << size;
    }
  }
}

/// Numbers of elements per rank, for the collectives whose buffers consist of one block per rank.
constexpr std::int64_t kBlocks[] = {0, 1, 1009, 250'000};

core::Contract in_place(core::CollectiveKind kind, int ranks, std::int64_t elements) {
  return core::Contract::of(kind, ranks, elements, 0, false);
}

TEST_P(ClosedForm, ReduceScatterAndAllGatherByARing) {
  const int n = ranks();
  for (const std::int64_t block : kBlocks) {
    const Time step = block == 0 ? Time() : (n - 1) * (costs_.alpha() + costs_.wire(block));
    const Time adding = (n - 1) * costs_.add(block);
    const auto of = [&](core::CollectiveKind kind) {
      return simulate(core::ring_blocks(in_place(kind, n, n * block)), n * block);
    };
    EXPECT_EQ(of(core::CollectiveKind::kReduceScatter), step + adding) << n << ", " << block;
    EXPECT_EQ(of(core::CollectiveKind::kAllGather), step) << n << ", " << block;
  }
}

TEST_P(ClosedForm, HalvingAndTrees) {
  const int n = ranks();
  if (!std::has_single_bit(static_cast<unsigned>(n))) return;
  const int hops = std::countr_zero(static_cast<unsigned>(n));
  for (const std::int64_t block : kBlocks) {
    Time moving, adding;
    for (std::int64_t held = n * block / 2; held >= std::max<std::int64_t>(block, 1); held /= 2) {
      moving += costs_.alpha() + costs_.wire(held);
      adding += costs_.add(held);
    }
    const auto of = [&](core::CollectiveKind kind) {
      return simulate(
          core::halving(in_place(kind, n, n * block), core::Segments::kHalves, core::Engine::kCpu),
          n * block);
    };
    EXPECT_EQ(of(core::CollectiveKind::kReduceScatter), moving + adding) << n << ", " << block;
    EXPECT_EQ(of(core::CollectiveKind::kAllGather), moving) << n << ", " << block;
    EXPECT_EQ(of(core::CollectiveKind::kGather), moving) << n << ", " << block;
    EXPECT_EQ(of(core::CollectiveKind::kScatter), moving) << n << ", " << block;
    EXPECT_EQ(of(core::CollectiveKind::kBroadcast), 2 * moving) << n << ", " << block;
    EXPECT_EQ(of(core::CollectiveKind::kReduce), 2 * moving + adding) << n << ", " << block;
    const auto whole = [&](core::CollectiveKind kind) {
      return simulate(
          core::halving(in_place(kind, n, block), core::Segments::kWhole, core::Engine::kCpu),
          block);
    };
    const Time hop = block == 0 ? Time() : costs_.alpha() + costs_.wire(block);
    EXPECT_EQ(whole(core::CollectiveKind::kBroadcast), hops * hop) << n << ", " << block;
    EXPECT_EQ(whole(core::CollectiveKind::kReduce), hops * (hop + costs_.add(block)))
        << n << ", " << block;
  }
}

TEST_P(ClosedForm, DirectMessages) {
  const int n = ranks();
  for (const std::int64_t block : kBlocks) {
    const Time others =
        block == 0 || n == 1 ? Time() : costs_.alpha() + (n - 1) * costs_.wire(block);
    for (const core::CollectiveKind kind :
         {core::CollectiveKind::kAllGather, core::CollectiveKind::kGather,
          core::CollectiveKind::kScatter})
      EXPECT_EQ(simulate(core::direct(in_place(kind, n, n * block), core::Engine::kCpu), n * block),
                others);
    const Time adding =
        n == 1 ? Time() : core::transfer_time(Bytes((n - 1) * block * kItem), costs_.rates.reduce);
    EXPECT_EQ(simulate(core::direct(in_place(core::CollectiveKind::kReduceScatter, n, n * block),
                                    core::Engine::kCpu),
                       n * block),
              others + adding);
  }
}

TEST_P(ClosedForm, ChainReduceOfOneMessage) {
  const int n = ranks();
  for (const std::int64_t e : {0, 1, 100'003}) {
    const Time expected =
        e == 0 ? Time() : (n - 1) * (costs_.alpha() + costs_.wire(e) + costs_.add(e));
    EXPECT_EQ(simulate(core::chain(in_place(core::CollectiveKind::kReduce, n, e),
                                   {.engine = core::Engine::kCpu}),
                       e),
              expected)
        << n << ", " << e;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ClosedForm, testing::Range(1, 65),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tutti
