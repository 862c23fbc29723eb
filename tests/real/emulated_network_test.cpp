// The emulated network checks every message of a peer against the plan and the clock before it uses
// the message. The tests send wrong, repeated and early messages.

#include "real/emulate/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/algorithm/ring.h"
#include "real/interpreter/interpreter.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::Rank;
using core::Time;
using Clock = Timers::Clock;

constexpr core::Lane kSlotLane = 1 << 24;  // same as in real/emulate/network.cpp
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

/// A transport that discards what is sent. The test passes received messages to it.
class Nowhere : public Transport {
 public:
  void connect(Receiver& receiver, Devices&) override { receiver_ = &receiver; }
  bool send(const Piece&, const std::byte*, Ticket) override { return true; }
  void free_slot(const Channel&) override {}
  core::Expected<void> poll(Clock::time_point) override { return {}; }
  [[nodiscard]] bool flushed() const override { return true; }
  [[nodiscard]] bool is_local(Rank rank) const override { return rank == 0; }
  [[nodiscard]] Receiver& receiver() { return *receiver_; }

 private:
  Receiver* receiver_ = nullptr;
};

/// Worker 0 of three, with rank 0 of a ring. The test sets its clock.
struct Worker : InterpreterListener {
  explicit Worker(double scale = 50)
      : network(plan, below, {scale}, timers), interpreter(network, devices, *this, false) {
    network.connect(interpreter, devices);
    interpreter.open({7, 0}, collective(), Operation::kSum, {0}, {data.data()});
    interpreter.start({7, 0}, 0);
    interpreter.run_ready();
  }
  static core::Plan ring(const core::Cluster& cluster) {
    core::RingOptions options;
    options.credits = 2;
    options.max_elements_per_message = 40;
    core::Plan plan;
    plan.packs.push_back(plan.pack_of(
        {}, test::on_plain_cluster(cluster, core::ring_all_reduce(3, 300, options), 300)));
    return plan;
  }
  void rank_done(CollectiveTag, Rank) override {}
  void step_done(const StepDone&) override {}
  [[nodiscard]] const core::Collective& collective() const {
    return plan.collective(plan.packs.front());
  }

  /// Returns the connection on which rank 0 receives (`in`) or sends.
  [[nodiscard]] Channel channel(bool in) const {
    const core::Schedule& schedule = *collective().schedule;
    const Rank from = in ? 2 : 0;
    for (std::int64_t s = 0; s < schedule.steps(from, 0); ++s) {
      const core::Step step = schedule.step(from, 0, s);
      if (core::sends(step.kind)) return {{7, 0}, from, 0, step.to.rank(from, 3), step.to.lane};
    }
    return {};
  }
  /// Returns the first piece of a message, which is its time stamp.
  static Piece stamp_of(const Channel& channel, std::int64_t bytes, std::uint32_t number = 0) {
    return {channel, bytes + 24, 0, 24, number};
  }
  bool say(const Piece& piece, const std::vector<std::int64_t>& content) {
    std::byte* const to = below.receiver().place(piece);
    if (!to) return false;
    std::memcpy(to, content.data(), content.size() * sizeof content[0]);
    below.receiver().arrived(piece);
    return true;
  }
  [[nodiscard]] std::string error() {
    const auto polled = network.poll({});
    return polled ? "" : polled.error().message();
  }

  std::shared_ptr<const core::Cluster> cluster = test::plain_cluster(3);
  core::Plan plan = ring(*cluster);
  Clock::time_point clock{std::chrono::hours(1)};
  Timers timers{std::chrono::hours(24), [this] { return clock; }};
  HostDevices devices;
  Nowhere below;
  EmulatedNetwork network;
  Interpreter interpreter;
  std::vector<std::byte> data = std::vector<std::byte>(1200);
};

TEST(EmulatedNetwork, ImpossibleTimestampsNameTheSender) {
  const std::int64_t now = std::chrono::nanoseconds(std::chrono::hours(1)).count();
  const std::int64_t day = std::chrono::nanoseconds(std::chrono::hours(24)).count();
  for (const std::vector<std::int64_t>& stamp :
       std::vector<std::vector<std::int64_t>>{{kMin, kMin, kMin},
                                              {-1, -1, now},
                                              {now - 1, now - 1, now},
                                              {now, now, now + day},
                                              {now, now + day, now + day},
                                              {now, now, now - 1},
                                              {now, now, kMax},
                                              {kMax, kMax, kMax},
                                              {kMin, now, now},
                                              {now - 1, now, now},
                                              {now + 1, now, now},
                                              {kMin, kMin, kMax}}) {
    Worker worker;
    worker.timers.run_due([] {});
    const Clock::time_point before = worker.timers.next();
    ASSERT_TRUE(worker.say(Worker::stamp_of(worker.channel(true), 160), stamp));
    EXPECT_EQ(worker.error(), "worker 2 sent a message with an invalid arrival time")
        << stamp[0] << ", " << stamp[1] << ", " << stamp[2];
    EXPECT_EQ(worker.timers.next(), before) << "no rank waits for it";
  }
}

TEST(EmulatedNetwork, DeliversMessagesAfterTheTimeOfTheirLinks) {
  Worker worker;
  const std::int64_t now = worker.clock.time_since_epoch().count();
  ASSERT_TRUE(worker.say(Worker::stamp_of(worker.channel(true), 160), {now, now, now + 1'000}));
  Piece rest = Worker::stamp_of(worker.channel(true), 160);
  rest.offset = 24;
  rest.length = 160;
  const std::int64_t before = worker.interpreter.moved();
  ASSERT_TRUE(worker.say(rest, std::vector<std::int64_t>(20)));
  for (; worker.timers.next() != Clock::time_point::max(); worker.timers.run_due([] {}))
    worker.clock = worker.timers.next();
  EXPECT_EQ(worker.error(), "");
  EXPECT_GT(worker.interpreter.moved(), before);
  EXPECT_LT(worker.clock, Clock::time_point(std::chrono::hours(1)) + std::chrono::seconds(1));
}

TEST(EmulatedNetwork, RefusesMessagesThatNoScheduleSendsToThisWorker) {
  Worker worker;
  Receiver& receiver = worker.below.receiver();
  const Channel in = worker.channel(true);
  const auto refused = [&](const Channel& channel, std::int64_t bytes = 160) {
    return !receiver.place(Worker::stamp_of(channel, bytes));
  };
  Channel own = in;
  own.from = 0;
  EXPECT_TRUE(refused(own)) << "to itself";
  EXPECT_TRUE(refused(worker.channel(false))) << "what this worker sends";
  Channel elsewhere = in;
  elsewhere.from = 1;
  elsewhere.to = 2;
  EXPECT_TRUE(refused(elsewhere)) << "between others";
  for (const Channel& bad :
       {Channel{{7, 1}, 2, 0, 0, 0}, Channel{{7, 0}, 1, 0, 0, 0}, Channel{{7, 0}, 2, 9, 0, 0},
        Channel{{7, 0}, 2, 0, 0, 9}, Channel{{7, 0}, 99, 0, 0, 0}, Channel{{7, 0}, 2, 0, 99, 0},
        Channel{{8, 0}, 2, 0, 0, 0}})
    EXPECT_TRUE(refused(bad)) << bad.collective.step << " " << bad.from << " " << bad.to;
  EXPECT_TRUE(refused(in, 1200)) << "longer than any";
  EXPECT_FALSE(refused(in));
}

TEST(EmulatedNetwork, RefusesMoreMessagesThanSlots) {
  Worker worker;
  const std::int64_t now = worker.clock.time_since_epoch().count();
  std::uint32_t taken = 0;
  while (taken < 100 &&
         worker.say(Worker::stamp_of(worker.channel(true), 0, taken), {now, now, now}))
    ++taken;
  EXPECT_EQ(taken, 2u);
}

TEST(EmulatedNetwork, ImpossibleSlotsAndTimesNameTheReceiver) {
  const Channel out = Worker().channel(false);
  const auto freed = [](const Channel& of) {
    Piece piece;
    piece.channel = {of.collective, of.to, of.to_lane + kSlotLane, of.from, of.from_lane};
    piece.total = piece.length = 8;
    return piece;
  };
  for (const std::int64_t stamp : {kMin, std::int64_t{-1}, kMax}) {
    Worker worker;
    ASSERT_TRUE(worker.say(freed(out), {stamp}));
    EXPECT_EQ(worker.error(), "worker 1 sent a slot release with an invalid time") << stamp;
  }
  Worker worker;
  const std::int64_t now = worker.clock.time_since_epoch().count();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(worker.say(freed(out), {now}));
  EXPECT_EQ(worker.error(), "");
  ASSERT_TRUE(worker.say(freed(out), {now}));
  EXPECT_EQ(worker.error(), "worker 1 released a slot that was not in use");
  Channel other = out;
  other.to = 2;
  EXPECT_FALSE(worker.below.receiver().place(freed(other)));
  EXPECT_FALSE(worker.below.receiver().place(freed(worker.channel(true)))) << "its own";
  Channel wild = out;
  wild.to_lane = std::numeric_limits<core::Lane>::max() - kSlotLane;
  EXPECT_FALSE(worker.below.receiver().place(freed(wild)));
  EXPECT_FALSE(worker.below.receiver().slot_freed(out)) << "without a stamp";
  EXPECT_FALSE(worker.below.receiver().slot_freed({{0, 9}, 99, 0, 99, 0}));
}

TEST(TimeScale, NothingOverflows) {
  EXPECT_EQ(TimeScale{1}.here(core::microseconds(3)), std::chrono::microseconds(3));
  EXPECT_EQ(TimeScale{50}.here(Time(1)), std::chrono::nanoseconds(0)) << "the nearest nanosecond";
  EXPECT_EQ(TimeScale{1e6}.here(core::kLongestDuration), kLongestHere);
  EXPECT_EQ(TimeScale{1e6}.here(core::kNever), kLongestHere);
  Clock::time_point t{std::chrono::hours(1)};
  for (int i = 0; i < 1000; ++i) t = std::max(t, later(t, kLongestHere));
  EXPECT_EQ(later(t, kLongestHere), t) << "the latest accepted time";
}

}  // namespace
}  // namespace tutti::real
