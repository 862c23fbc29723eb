#include "sim/engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/random.h"
#include "sim/device/server.h"

namespace tutti::sim {
namespace {

using core::Time;

TEST(EventQueue, ReturnsEventsByTimeAndThenByOrder) {
  core::Random random(1);
  EventQueue queue;
  std::vector<std::pair<Time, std::uint64_t>> expected;
  for (int round = 0; round < 20'000; ++round) {
    if (expected.empty() || random.below(3) > 0) {
      const Event event{Time(static_cast<std::int64_t>(random.below(500))), random.below(50),
                        EventKind::kLane, 0, 0};
      queue.push(event);
      expected.emplace_back(event.time, event.order);
      std::push_heap(expected.begin(), expected.end(), std::greater<>());
    } else {
      std::pop_heap(expected.begin(), expected.end(), std::greater<>());
      const Event event = queue.pop();
      ASSERT_EQ(std::pair(event.time, event.order), expected.back());
      expected.pop_back();
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
}

TEST(EventQueue, MovingAllEventsKeepsTheirOrder) {
  for (const int far : {0, 3, 8, 20, 40}) {
    core::Random random(static_cast<std::uint64_t>(far) + 7);
    EventQueue queue;
    Time now;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      const auto ahead = static_cast<std::int64_t>(random.below(std::uint64_t{1} << far));
      queue.push({now + Time(ahead), random.below(4), EventKind::kLane, i, 0});
      if (random.below(3) == 0) now = queue.pop().time;
    }
    EventQueue moved = queue;
    std::vector<Event> all = moved.all();
    ASSERT_EQ(all.size(), queue.size());
    const Time later(12'345);
    for (Event& event : all) event.time += later;
    const auto middle = all.begin() + 500;
    moved.replace({all.begin(), middle}, {middle, all.end()});
    while (!queue.empty()) {
      const Event one = queue.pop();
      const Event other = moved.pop();
      ASSERT_EQ(std::tuple(one.time + later, one.order, one.a),
                std::tuple(other.time, other.order, other.a));
    }
    EXPECT_TRUE(moved.empty());
  }
}

/// Events have distinct or equal times, near and far in the future. The queue must return the
/// events in sorted order.
TEST(EventQueue, ReturnsDistantEventsInOrder) {
  for (const int far : {0, 3, 8, 20, 40, 61}) {
    core::Random random(static_cast<std::uint64_t>(far));
    EventQueue queue;
    std::set<std::tuple<Time, std::uint64_t, std::uint32_t>> expected;
    std::uint32_t serial = 0;
    Time now;
    const auto push = [&] {
      const auto ahead = static_cast<std::int64_t>(
          random.below(std::uint64_t{1} << random.below(static_cast<std::uint64_t>(far) + 1)));
      const Event event{
          core::later(now, Time(std::min<std::int64_t>(ahead, core::kLongestDuration.count()))),
          random.below(4), EventKind::kLane, ++serial, 0};
      queue.push(event);
      expected.emplace(event.time, event.order, event.a);
    };
    for (int i = 0; i < 500; ++i) push();
    for (int round = 0; round < 20'000; ++round) {
      ASSERT_EQ(queue.size(), expected.size());
      ASSERT_EQ(queue.empty(), expected.empty());
      const Event event = queue.pop();
      ASSERT_EQ(std::tuple(event.time, event.order, event.a), *expected.begin());
      expected.erase(expected.begin());
      now = event.time;
      for (std::uint64_t births = round < 10'000 ? random.below(4) : random.below(2); births > 0;
           --births)
        push();
      if (expected.empty()) push();
    }
  }
}

TEST(Server, ServesInTheOrderOfTheRequests) {
  Server server;
  EXPECT_EQ(server.serve(Time(10), Time(5)).end, Time(15));
  EXPECT_EQ(server.serve(Time(12), Time(5)).start, Time(15));
  EXPECT_EQ(server.serve(Time(100), Time(5)).start, Time(100));
}

TEST(ServerPool, AssignsRequestsToTheFirstFreeServer) {
  ServerPool pool(2);
  EXPECT_EQ(pool.serve(Time(0), Time(10)).end, Time(10));
  EXPECT_EQ(pool.serve(Time(0), Time(4)).end, Time(4));
  EXPECT_EQ(pool.serve(Time(0), Time(4)).start, Time(4));
  EXPECT_EQ(pool.serve(Time(0), Time(1)).start, Time(8));
}

}  // namespace
}  // namespace tutti::sim
