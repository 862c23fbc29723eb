// The collectives of TensorFlow's runtime. The checker proves the schedules, and the tests compare
// them with a slow implementation of TensorFlow's rules.

#include "core/algorithm/tf_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>

#include "core/algorithm/tree_broadcast.h"
#include "core/base/random.h"
#include "core/schedule/checker.h"

namespace tutti::core {
namespace {

using Kind = CollectiveKind;
using Problems = std::vector<Violation>;

std::vector<std::int32_t> shuffled(int count, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

TfRingOptions rings(TaskOrder order, const std::vector<std::int32_t>& offsets,
                    std::int64_t elements, std::int64_t align) {
  TfRingOptions options{std::move(order), {}};
  for (const std::int32_t offset : offsets) options.subdivisions.push_back({offset});
  options.chunk = std::max<std::int64_t>(
      1, aligned_chunk(elements, options.order.ranks() * std::ssize(offsets), 4, align));
  return options;
}

// --- order ---

TEST(TaskOrder, SortsTaskNumbersAsText) {
  for (const std::int64_t count : {1, 2, 9, 10, 11, 12, 99, 100, 101, 130, 1000, 1017}) {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
    std::sort(names.begin(), names.end());
    for (std::int64_t place = 0; place < count; ++place) {
      const std::int64_t number = std::stoll(names[place]);
      EXPECT_EQ(number_by_name(place, count), number) << count;
      EXPECT_EQ(place_by_name(number, count), place) << count;
    }
  }
}

TEST(TaskOrder, RingFollowsTheStrongestLinkAndThenTheFirstRemainingDevice) {
  // Device 0 has a strong link to 2 and a weak link to 1. Device 2 has only a link back to 0, so no
  // link leads on from there.
  const std::vector<LinkedDevice> devices{
      {0, {{1, 1}, {2, 5}}}, {1, {{0, 1}}}, {2, {{0, 5}}}, {3, {}}};
  EXPECT_EQ(ring_device_order(devices, ""), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(ring_device_order(devices, "3,1,0,2"), (std::vector<int>{3, 1, 0, 2}));
  for (const char* ignored :
       {"0,1,2", "0,1,2,2", "0,1,2,4", "0,1,2,x", "0,1,2,3,", "0,1,2,3,0", "0, 1, 2, 3"})
    EXPECT_EQ(ring_device_order(devices, ignored), (std::vector<int>{0, 2, 1, 3})) << ignored;
}

TEST(Subdivision, PositionsAndDevicesAreInverseMappings) {
  for (const int m : {1, 2, 3, 8}) {
    for (int offset = 1 - m; offset < m; ++offset) {
      for (int i = 0; i < m; ++i)
        EXPECT_EQ(Subdivision{offset}.position_of(Subdivision{offset}.device_at(i, m), m), i);
    }
  }
}

// --- chunks ---

TEST(AlignedChunk, AddsAnAlignmentUnitEvenIfTheSizeIsAligned) {
  EXPECT_EQ(aligned_chunk(128, 8, 4, 64), 32)
      << "16 fit without padding, and one more unit is added";
  EXPECT_EQ(aligned_chunk(8 * 15, 8, 4, 64), 16) << "less than a unit becomes one";
  EXPECT_EQ(aligned_chunk(8 * 17, 8, 4, 64), 32);
  EXPECT_EQ(aligned_chunk(0, 8, 4, 64), 16);
  EXPECT_EQ(aligned_chunk(1001, 8, 4, 4), 126) << "no alignment";
  for (const std::int64_t align : {16, 32, 64}) {
    for (std::int64_t e = 1; e < 3000; e += 7) {
      const std::int64_t chunk = aligned_chunk(e, 6, 8, align);
      EXPECT_EQ(chunk * 8 % align, 0);
      EXPECT_GE(chunk, (e + 5) / 6);
      EXPECT_LE(chunk, (e + 5) / 6 + align / 8);
    }
  }
}

// --- proofs ---

class TensorFlowRuntime : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] int n() const { return GetParam(); }

  /// Returns orders for all ways to divide the ranks into workers. The devices of a worker are in a
  /// random order.
  [[nodiscard]] std::vector<TaskOrder> orders() const {
    Random random(static_cast<std::uint64_t>(n()));
    std::vector<TaskOrder> all;
    for (int m = 1; m <= n(); ++m) {
      if (n() % m == 0) all.emplace_back(n() / m, shuffled(m, random), m % 2 == 1);
    }
    return all;
  }
};

TEST_P(TensorFlowRuntime, RingReduceIsProved) {
  for (const TaskOrder& order : orders()) {
    const int m = order.per_worker();
    std::vector<std::vector<std::int32_t>> offsets{{0}, {0, 0, 0}};
    if (m > 1) offsets.insert(offsets.end(), {{0, -(m / 2)}, {m - 1, 1 - m, 1}});
    for (const auto& of_rings : offsets) {
      for (const std::int64_t e : {std::int64_t{0}, std::int64_t{1}, std::int64_t{n() - 1},
                                   std::int64_t{16} * n(), std::int64_t{1001}}) {
        for (const std::int64_t align : {4, 64}) {
          for (const bool out_of_place : {false, true}) {
            if (out_of_place && align == 4) continue;
            const Contract contract = Contract::of(Kind::kAllReduce, n(), e, 0, out_of_place);
            EXPECT_EQ(check(*tf_ring_reduce(contract, rings(order, of_rings, e, align)), contract),
                      Problems())
                << n() << " ranks, " << m << " per worker, " << of_rings.size() << " rings, " << e
                << " elements";
          }
        }
      }
    }
  }
}

TEST_P(TensorFlowRuntime, RingGatherIsProved) {
  for (const TaskOrder& order : orders()) {
    for (const std::int64_t block : {0, 1, 41}) {
      for (const bool out_of_place : {false, true}) {
        const Contract contract = Contract::of(Kind::kAllGather, n(), block * n(), 0, out_of_place);
        EXPECT_EQ(check(*tf_ring_gather(contract, rings(order, {0}, block, 4)), contract),
                  Problems())
            << block;
      }
    }
  }
}

TEST_P(TensorFlowRuntime, TreeBroadcastIsProvedFromEveryRoot) {
  for (const TaskOrder& order : orders()) {
    for (Rank root = 0; root < n(); ++root) {
      for (const std::int64_t e : {0, 1, 97}) {
        for (const bool out_of_place : {false, true}) {
          const Contract contract = Contract::of(Kind::kBroadcast, n(), e, root, out_of_place);
          EXPECT_EQ(check(*hierarchical_tree_broadcast(contract, order, Engine::kCpu), contract),
                    Problems())
              << order.per_worker() << " per worker, root " << root;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, TensorFlowRuntime, testing::Range(1, 18),
                         testing::PrintToStringParamName());

// --- fields, one by one ---

struct Hop {
  int pass = 0;
  Rank from = 0;
  std::int64_t chunk = 0;
  auto operator<=>(const Hop&) const = default;
};

/// Returns the messages of each rank, in order, for a slow model of TensorFlow's ring, in which
/// every rank runs a state machine per chunk. In pass 0, a rank receives a chunk unless it owns it,
/// and sends it unless the next rank owns it. In pass 1, a rank receives a chunk unless it has
/// finished it, and sends it unless the next rank has finished it. Messages of one sender arrive in
/// order, those of different senders in any order.
std::vector<std::vector<Hop>> sent_by_fields(std::int64_t n, std::int64_t filled, Random& random) {
  std::vector<std::vector<Hop>> sent(static_cast<std::size_t>(n));
  std::vector<std::deque<Hop>> on_the_way(static_cast<std::size_t>(n));  // by sender
  const auto before = [n](std::int64_t chunk, std::int64_t by) {
    return ((chunk - by) % n + n) % n;
  };
  const auto send = [&](int pass, std::int64_t rank, std::int64_t chunk) {
    sent[rank].push_back({pass, static_cast<Rank>(rank), chunk});
    on_the_way[rank].push_back({pass, static_cast<Rank>(rank), chunk});
  };
  const auto received = [&](int pass, std::int64_t rank, std::int64_t chunk) {
    if (pass == 0 && rank != before(chunk, 1)) return send(0, rank, chunk);
    if (rank != before(chunk, 2))
      send(1, rank, chunk);  // it was received in pass 1, or became final here
  };
  for (std::int64_t chunk = 0; chunk < filled; ++chunk) received(0, chunk, chunk);
  for (;;) {
    std::vector<std::size_t> senders;
    for (std::size_t r = 0; r < on_the_way.size(); ++r) {
      if (!on_the_way[r].empty()) senders.push_back(r);
    }
    if (senders.empty()) return sent;
    std::deque<Hop>& channel = on_the_way[senders[random.below(senders.size())]];
    const Hop hop = channel.front();
    channel.pop_front();
    received(hop.pass, (hop.from + 1) % n, hop.chunk);
  }
}

TEST(TfRing, SendsTheChunksInTensorFlowsOrder) {
  Random random(3);
  for (const std::int64_t n : {2, 3, 4, 7, 8}) {
    for (std::int64_t filled = 0; filled <= n; ++filled) {
      const std::int64_t elements = filled * 16;  // chunks of 16 elements
      TfRingOptions options{TaskOrder(static_cast<std::int32_t>(n), {0}, false)};
      options.chunk = 16;
      const Contract contract = Contract::all_reduce(static_cast<std::int32_t>(n), elements);
      const auto ring = tf_ring_reduce(contract, options);
      for (int attempt = 0; attempt < 5; ++attempt) {
        const auto expected = sent_by_fields(n, filled, random);
        for (Rank r = 0; r < n; ++r) {
          std::vector<Hop> got;
          std::vector<bool> before(static_cast<std::size_t>(n));
          for (std::int64_t i = 0; i < ring->steps(r, 1); ++i) {
            const std::int64_t chunk = ring->step(r, 1, i).source.offset / 16;
            // A rank sends each chunk once per pass. The only exception is the chunk that the rank
            // finishes, which it sends only in the second pass.
            const bool second = before[chunk] || (r + 1) % n == chunk;
            before[chunk] = true;
            got.push_back({second ? 1 : 0, r, chunk});
          }
          EXPECT_EQ(got, expected[r]) << n << " ranks, " << filled << " chunks, rank " << r;
        }
      }
    }
  }
}

TEST(TfRing, EveryNonEmptyChunkMakesTwiceRanksMinusOneHops) {
  for (const int n : {2, 3, 8}) {
    for (const std::int64_t e : {1, 40, 128, 1001}) {
      const Contract contract = Contract::all_reduce(n, e);
      const auto ring = tf_ring_reduce(contract, rings(TaskOrder(n, {0}, true), {0, 0}, e, 64));
      std::int64_t sent = 0;
      for (Rank r = 0; r < n; ++r) {
        for (const Lane lane : {1, 3}) {
          for (std::int64_t i = 0; i < ring->steps(r, lane); ++i)
            sent += ring->step(r, lane, i).source.count;
        }
      }
      EXPECT_EQ(sent, 2 * (n - 1) * e) << n << " ranks, " << e << " elements";
    }
  }
}

TEST(TfRing, AScheduleOfAMillionRanksTakesNoMemory) {
  const std::int32_t workers = 1 << 17;
  const Contract contract = Contract::all_reduce(8 * workers, std::int64_t{1} << 30);
  const TaskOrder order(workers, {0, 1, 2, 3, 7, 4, 5, 6}, true);
  const auto ring = tf_ring_reduce(contract, rings(order, {0}, contract.elements, 64));
  const Rank rank = 77'777 * 8 + 3;
  EXPECT_EQ(ring->step(rank, 1, 5).to.value, 77'777 * 8 + 7);
  EXPECT_EQ(ring->step(77'777 * 8 + 6, 1, 5).to.value, 77'778 * 8);
  EXPECT_EQ(ring->step(77'779 * 8 + 6, 1, 5).to.value, 7'778 * 8) << "after 77779 the text of 7778";
}

// --- trees ---

TEST(BroadcastTree, RanksHaveOneSenderAndAtMostFourReceivers) {
  for (std::int32_t size = 1; size <= 40; ++size) {
    for (std::int32_t source = 0; source < size; ++source) {
      const BroadcastTree tree{size, source};
      std::vector<std::int32_t> from(static_cast<std::size_t>(size), -1);
      for (std::int32_t r = 0; r < size; ++r) {
        EXPECT_LE(tree.sends_to(r).size(), 4u);
        for (const std::int32_t to : tree.sends_to(r)) {
          EXPECT_EQ(from[to], -1) << "two senders";
          from[to] = r;
        }
      }
      for (std::int32_t r = 0; r < size; ++r)
        EXPECT_EQ(tree.receives_from(r), from[r]) << size << ", from " << source;
    }
  }
}

}  // namespace
}  // namespace tutti::core
