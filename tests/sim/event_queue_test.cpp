#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"
#include "sim/server.h"

namespace tutti::sim {
namespace {

using core::Time;

TEST(EventQueue, HandsOutByTimeThenOrder) {
  core::Random random(1);
  EventQueue queue;
  std::vector<std::pair<Time, std::uint64_t>> expected;
  for (int round = 0; round < 20'000; ++round) {
    if (expected.empty() || random.below(3) > 0) {
      const Event event{Time(static_cast<std::int64_t>(random.below(500))), random.below(50), EventKind::kLane, 0, 0};
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

TEST(Server, ServesInTheOrderOfTheRequests) {
  Server server;
  EXPECT_EQ(server.serve(Time(10), Time(5)).end, Time(15));
  EXPECT_EQ(server.serve(Time(12), Time(5)).start, Time(15));
  EXPECT_EQ(server.serve(Time(100), Time(5)).start, Time(100));
}

TEST(ServerPool, GivesARequestToWhoeverIsFreeFirst) {
  ServerPool pool(2);
  EXPECT_EQ(pool.serve(Time(0), Time(10)).end, Time(10));
  EXPECT_EQ(pool.serve(Time(0), Time(4)).end, Time(4));
  EXPECT_EQ(pool.serve(Time(0), Time(4)).start, Time(4));
  EXPECT_EQ(pool.serve(Time(0), Time(1)).start, Time(8));
}

}  // namespace
}  // namespace tutti::sim
