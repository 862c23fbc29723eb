// The checker proves every collective other than the all-reduce, by every algorithm that supports
// it, in place and out of place, for odd and even numbers of ranks and elements. Further tests
// compare the numbers of bytes with formulas.

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/algorithm/chain.h"
#include "core/algorithm/direct.h"
#include "core/algorithm/halving.h"
#include "core/algorithm/halving_doubling.h"
#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/ring_blocks.h"
#include "core/algorithm/shuffle.h"
#include "core/algorithm/star.h"
#include "core/base/random.h"
#include "core/schedule/checker.h"
#include "core/schedule/written.h"

namespace tutti::core {
namespace {

using Kind = CollectiveKind;
using Problems = std::vector<Violation>;
using Make = std::function<std::unique_ptr<Schedule>(const Contract&)>;

/// Returns total numbers of elements. Collectives with blocks get blocks of 0, 1, 3 and 41
/// elements; the others also get sizes that the number of ranks does not divide.
std::vector<std::int64_t> sizes_for(Kind kind, int n) {
  if (has_blocks(kind)) return {0, n, 3 * n, 41 * n};
  return {0, 1, n - 1, n, n + 1, 97, 1000};
}

/// Returns the peers and lanes to which a lane sends, by `visit`, which is like
/// Schedule::visit_ways().
template <class Visit>
std::set<std::pair<Rank, Lane>> connections(const Schedule& schedule, Rank rank, Visit visit) {
  std::set<std::pair<Rank, Lane>> found;
  visit(
      [&](const Step& step) { found.emplace(step.to.rank(rank, schedule.ranks()), step.to.lane); });
  return found;
}

/// Compares the shortcut of an algorithm with a visit of every step.
void expect_all_ways_are_visited(const Schedule& schedule, const std::string& what) {
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      const auto visited = connections(
          schedule, rank, [&](const auto& note) { schedule.visit_ways(rank, lane, note); });
      const auto all = connections(schedule, rank, [&](const auto& note) {
        schedule.Schedule::visit_ways(rank, lane, note);
      });
      EXPECT_EQ(visited, all) << what << ", rank " << rank << ", lane " << lane;
    }
  }
}

class EveryCollective : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] int n() const { return GetParam(); }
  [[nodiscard]] bool power_of_two() const {
    return std::has_single_bit(static_cast<unsigned>(n()));
  }

  void prove(Kind kind, const std::string& how, const Make& make) const {
    for (const bool out_of_place : {false, true}) {
      if (!out_of_place && !can_be_in_place(kind)) continue;
      for (const Rank root : {0, n() / 2, n() - 1}) {
        for (const std::int64_t e : sizes_for(kind, n())) {
          const Contract contract = Contract::of(kind, n(), e, root, out_of_place);
          const auto schedule = make(contract);
          const std::string what =
              fmt::format("{} by {}, {} ranks, {} elements, root {}, {} place", to_string(kind),
                          how, n(), e, root, out_of_place ? "out of" : "in");
          EXPECT_EQ(check(*schedule, contract), Problems()) << what;
          expect_all_ways_are_visited(*schedule, what);
        }
        if (!has_root(kind)) break;
      }
    }
  }

  /// Returns a ring with three lanes in different orders, short messages and one slot.
  /// `per_worker`: the number of ranks of each worker. `most`: the maximum number of elements of a
  /// message.
  [[nodiscard]] RingOptions rings(int per_worker, std::int64_t most) const {
    Random random(static_cast<std::uint64_t>(n()));
    RingOptions options;
    options.lanes.clear();
    for (int lane = 0; lane < 3; ++lane) {
      RingPath path{per_worker, std::vector<std::int32_t>(static_cast<std::size_t>(per_worker))};
      std::iota(path.local.begin(), path.local.end(), 0);
      for (std::size_t i = path.local.size(); i > 1; --i)
        std::swap(path.local[i - 1], path.local[random.below(i)]);
      options.lanes.push_back(std::move(path));
    }
    options.max_elements_per_message = most;
    options.credits = 1;
    return options;
  }
};

TEST_P(EveryCollective, IsProvedOnRings) {
  for (const Kind kind : {Kind::kReduceScatter, Kind::kAllGather}) {
    prove(kind, "one ring", [](const Contract& c) { return ring_blocks(c); });
    for (const int per_worker : {1, 2, 3}) {
      if (n() % per_worker != 0) continue;
      for (const std::int64_t most : {1, 5})
        prove(kind, "rings",
              [&](const Contract& c) { return ring_blocks(c, rings(per_worker, most)); });
    }
  }
}

TEST_P(EveryCollective, IsProvedOnChains) {
  for (const Kind kind : {Kind::kBroadcast, Kind::kReduce}) {
    prove(kind, "one chain", [](const Contract& c) { return chain(c, {}); });
    for (const int per_worker : {1, 2, 3}) {
      if (n() % per_worker != 0) continue;
      for (const std::int64_t most : {3, 1000})
        prove(kind, "chains", [&](const Contract& c) { return chain(c, rings(per_worker, most)); });
    }
  }
}

TEST_P(EveryCollective, IsProvedWithDirectMessages) {
  for (const Kind kind : collective_kinds()) {
    if (kind == Kind::kAllReduce) continue;
    prove(kind, "direct messages", [](const Contract& c) { return direct(c, Engine::kCpu); });
  }
}

TEST_P(EveryCollective, IsProvedByRecursiveHalving) {
  if (!power_of_two()) return;
  for (const Kind kind : {Kind::kReduceScatter, Kind::kAllGather, Kind::kBroadcast, Kind::kReduce,
                          Kind::kGather, Kind::kScatter})
    prove(kind, "halves",
          [](const Contract& c) { return halving(c, Segments::kHalves, Engine::kCpu); });
  for (const Kind kind : {Kind::kBroadcast, Kind::kReduce})
    prove(kind, "a tree",
          [](const Contract& c) { return halving(c, Segments::kWhole, Engine::kCpu); });
}

TEST_P(EveryCollective, AllReducesAreProvedOutOfPlace) {
  const Kind all = Kind::kAllReduce;
  prove(all, "ring", [this](const Contract& c) {
    return ring_all_reduce(n(), c.elements, {.input_shift = c.input_shift});
  });
  for (const int per_worker : {1, 2, 3}) {
    if (n() % per_worker != 0) continue;
    for (const std::int64_t most : {1, 3, 1000}) {
      prove(all, "rings", [&](const Contract& c) {
        RingOptions options = rings(per_worker, most);
        options.input_shift = c.input_shift;
        return ring_all_reduce(n(), c.elements, options);
      });
    }
  }
  for (const std::vector<Rank>& gather : {std::vector<Rank>{0}, {0, n() / 2, 0}, {n(), n() + 1}}) {
    prove(all, "shuffle", [&](const Contract& c) {
      return shuffle_all_reduce(n() + 2, n(), gather, c.elements, Engine::kCpu, Engine::kCpu,
                                c.input_shift);
    });
  }
  if (!power_of_two()) return;
  prove(all, "halving-doubling",
        [](const Contract& c) { return halving_doubling_all_reduce(c, Engine::kCpu); });
  prove(all, "recursive doubling",
        [](const Contract& c) { return recursive_doubling_all_reduce(c, Engine::kCpu); });
}

TEST_P(EveryCollective, StarsAreProvedWithAndWithoutTheMean) {
  for (const Rank root : {0, n() / 2, n() - 1}) {
    for (const std::int64_t e : {0, 1, 97}) {
      const Contract contract = Contract::of(Kind::kReduce, n(), e, root, true);
      EXPECT_EQ(check(*star_reduce(n(), n(), root, e, Engine::kCpu, Engine::kCpu, e), contract),
                Problems())
          << root;
    }
  }
  for (const Kind kind : {Kind::kAllReduce, Kind::kReduce, Kind::kReduceScatter}) {
    const Contract contract = Contract::of(kind, n(), 4 * n(), 0, false);
    const auto scale = scale_results(n(), contract, 0.5, Engine::kCpu);
    for (Rank r = 0; r < n(); ++r) {
      std::int64_t scaled = 0;
      for (Lane l = 0; l < scale->lanes(r); ++l) scaled += scale->step(r, l, 0).target.count;
      std::int64_t got = 0;
      for (const Contract::Output& output : contract.outputs(r)) got += output.at.count;
      EXPECT_EQ(scaled, got) << to_string(kind) << " " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryCollective,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17));

/// Returns the number of elements that the rank's steps send.
std::int64_t elements_sent_by(const Schedule& schedule, Rank rank) {
  std::int64_t sent = 0;
  for (Lane l = 0; l < schedule.lanes(rank); ++l) {
    for (std::int64_t i = 0; i < schedule.steps(rank, l); ++i) {
      const Step step = schedule.step(rank, l, i);
      if (sends(step.kind))
        sent += receives(step.kind) ? std::max(step.source.count, step.target.count)
                                    : step.source.count;
    }
  }
  return sent;
}

TEST(Bytes, RingsSendTheMinimum) {
  for (const Kind kind : {Kind::kReduceScatter, Kind::kAllGather}) {
    for (const int n : {2, 5, 8}) {
      const Contract contract = Contract::of(kind, n, 40 * n, 0, true);
      for (Rank r = 0; r < n; ++r)
        EXPECT_EQ(elements_sent_by(*ring_blocks(contract), r), 40 * (n - 1)) << n;
    }
  }
}

TEST(Bytes, HalvingSendsAsManyBytesAsARingInFewerSteps) {
  for (const Kind kind : {Kind::kReduceScatter, Kind::kAllGather}) {
    const Contract contract = Contract::of(kind, 8, 800, 0, false);
    const auto schedule = halving(contract, Segments::kHalves, Engine::kCpu);
    for (Rank r = 0; r < 8; ++r) {
      EXPECT_EQ(elements_sent_by(*schedule, r), 700);
      EXPECT_EQ(schedule->steps(r, 0), 6) << "3 hops";
    }
  }
}

TEST(Bytes, ABroadcastByHalvingSpreadsItsBytesOverTheRanks) {
  const auto schedule =
      halving(Contract::of(Kind::kBroadcast, 8, 800, 3, false), Segments::kHalves, Engine::kCpu);
  EXPECT_EQ(elements_sent_by(*schedule, 3), 1400)
      << "the root sends it in halves, and then its part in the all-gather";
  const auto tree =
      halving(Contract::of(Kind::kBroadcast, 8, 800, 3, false), Segments::kWhole, Engine::kCpu);
  EXPECT_EQ(elements_sent_by(*tree, 3), 2400) << "three times the whole buffer";
}

TEST(OutOfPlace, RingsCopyOnlyTheDataThatARankKeeps) {
  const auto copied = [](const Schedule& schedule, Rank rank) {
    std::int64_t elements = 0;
    for (Lane l = 0; l < schedule.lanes(rank); ++l) {
      for (std::int64_t i = 0; i < schedule.steps(rank, l); ++i) {
        const Step step = schedule.step(rank, l, i);
        if (step.kind == StepKind::kCopy) elements += step.target.count;
      }
    }
    return elements;
  };
  EXPECT_EQ(copied(*ring_all_reduce(5, 100, {.input_shift = 100}), 2), 0);
  EXPECT_EQ(copied(*ring_blocks(Contract::of(Kind::kReduceScatter, 5, 100, 0, true)), 2), 0);
  EXPECT_EQ(copied(*ring_blocks(Contract::of(Kind::kAllGather, 5, 100, 0, true)), 2), 20);
  EXPECT_EQ(copied(*ring_blocks(Contract::of(Kind::kAllGather, 5, 100, 0, false)), 2), 0);
  EXPECT_EQ(copied(*chain(Contract::of(Kind::kBroadcast, 5, 100, 1, true), {}), 1), 100)
      << "the root";
  EXPECT_EQ(copied(*chain(Contract::of(Kind::kBroadcast, 5, 100, 1, true), {}), 2), 0)
      << "others only receive";
}

// The checker must track which element of a rank has arrived. Tracking only the ranks that
// contributed to an element would not detect a swap.
TEST(Checker, FindsMisplacedElements) {
  const Contract contract = Contract::of(Kind::kAllToAll, 3, 30, 0, true);
  WrittenSchedule swapped = WrittenSchedule::of(*direct(contract, Engine::kCpu));
  for (auto& rank : swapped.written()) {
    for (auto& lane : rank.lanes) {
      for (Step& step : lane.steps) {
        if (step.kind == StepKind::kSend) step.source.offset = 30;  // always the first block
      }
    }
  }
  const Problems found = check(swapped, contract);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().kind, ViolationKind::kWrongElement);
  EXPECT_EQ(found.front().rank, 1);
  EXPECT_EQ(found.front().element, 0);
  EXPECT_EQ(found.front().text, "at the end, element 0 of rank 1 holds element 0 instead of 10");

  WrittenSchedule ring = WrittenSchedule::of(*ring_all_reduce(2, 2));
  for (auto& rank : ring.written()) {
    for (auto& lane : rank.lanes) {
      for (Step& step : lane.steps) {
        if (step.kind == StepKind::kSend) step.source.offset = 1 - step.source.offset;
      }
    }
  }
  const Problems mixed = check(ring, Contract::all_reduce(2, 2));
  ASSERT_FALSE(mixed.empty());
  EXPECT_EQ(mixed.front().kind, ViolationKind::kUnlike) << mixed.front();
}

}  // namespace
}  // namespace tutti::core
