// Unit tests of gates. A fake executor sends requests to a gate, and the tests check what the gate
// decides: credits and priorities, Horovod's cycles in one or several processes, serial order, and
// bounded staleness.

#include "core/plan/gate/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/random.h"
#include "core/plan/gate/credit_gate.h"
#include "core/plan/gate/cycle_gate.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

GateItems items_of(std::vector<GateItem> items) {
  return std::make_shared<const std::vector<GateItem>>(std::move(items));
}

/// Returns a text such as "0-2: step 1, items 3 4" for each decision.
std::vector<std::string> shown(const std::vector<GateDecision>& decisions) {
  std::vector<std::string> all;
  for (const GateDecision& d : decisions) {
    const std::string who =
        d.replicas == 0 ? "nobody"
                        : fmt::format("{}-{}", d.first_replica, d.first_replica + d.replicas - 1);
    all.push_back(
        fmt::format("{}: step {}, items {}", who, d.batch->step, fmt::join(d.batch->items, " ")));
  }
  return all;
}

/// Records whether the gate's state can be visited, and its values.
class Looker : public StateVisitor {
 public:
  [[nodiscard]] Time now() const override { return {}; }
  void same(std::int64_t value) override { values.push_back(value); }
  void seen(Time) override {}
  void until(Time&) override {}
  void moment(Time&) override {}
  void counted(std::int64_t&) override {}
  void numbered(std::uint64_t&, int) override {}
  void recorded(std::int64_t) override {}
  void unfit() override { fit = false; }
  std::vector<std::int64_t> values;
  bool fit = true;
};

bool can_be_remembered(Gate& gate) {
  Looker looker;
  gate.visit_state(looker);
  return looker.fit;
}

// --- credit ---

/// The items have 40, 40, 8 and 40 bytes.
TEST(CreditGate, SkipsTasksThatExceedTheCredit) {
  CreditGate gate(items_of({{Bytes(40), 0}, {Bytes(40), 1}, {Bytes(8), 2}, {Bytes(40), 3}}),
                  Bytes(48), {5, 1});
  const auto ready = [&](int item) { return shown(gate.ready({5, 0, item}, Time())); };
  const auto done = [&](int item) { return shown(gate.done({5, 0, item})); };
  EXPECT_THAT(ready(3), ElementsAre("5-5: step 0, items 3")) << "40 of 48";
  EXPECT_THAT(ready(1), IsEmpty()) << "40 more are too many";
  EXPECT_THAT(ready(2), ElementsAre("5-5: step 0, items 2")) << "8 are not";
  EXPECT_THAT(ready(0), IsEmpty());
  EXPECT_THAT(done(3), ElementsAre("5-5: step 0, items 0")) << "item 0 precedes item 1";
  EXPECT_THAT(done(2), IsEmpty());
  EXPECT_THAT(done(0), ElementsAre("5-5: step 0, items 1"));
}

TEST(CreditGate, WaitsForAllReplicasOfTheWorker) {
  CreditGate gate(items_of({{Bytes(4), 0}}), Bytes(4), {6, 3});
  EXPECT_THAT(gate.ready({6, 0, 0}, Time()), IsEmpty());
  EXPECT_THAT(gate.ready({8, 0, 0}, Time()), IsEmpty());
  EXPECT_THAT(shown(gate.ready({7, 0, 0}, Time())), ElementsAre("6-8: step 0, items 0"));
  EXPECT_THAT(gate.done({6, 0, 0}), IsEmpty());
  EXPECT_THAT(gate.ready({6, 1, 0}, Time()), IsEmpty());
}

/// Between steps, the gate's state is the same as before. While something is in flight it differs,
/// so the step cannot be memoized.
TEST(CreditGate, StateRepeatsBetweenSteps) {
  CreditGate gate(items_of({{Bytes(4), 0}, {Bytes(4), 1}}), Bytes(4), {0, 1});
  EXPECT_TRUE(can_be_remembered(gate));
  gate.ready({0, 0, 0}, Time());
  Looker spent;
  gate.visit_state(spent);
  gate.ready({0, 0, 1}, Time());
  EXPECT_FALSE(can_be_remembered(gate)) << "one waits";
  gate.done({0, 0, 0});
  gate.done({0, 0, 1});
  Looker whole;
  gate.visit_state(whole);
  EXPECT_TRUE(whole.fit);
  EXPECT_NE(whole.values, spent.values) << "the credit is part of it";
}

// --- cycles ---

CycleGate::Options cycles(std::int64_t cycle, std::optional<Time> idle,
                          std::int64_t threshold = 0) {
  return {Bytes(threshold), true, Time(cycle), idle};
}

/// Item 4 is ready on both replicas before item 5. But replica 1 reported item 5 in the previous
/// cycle. So item 5 is complete when the coordinator has read the requests of replica 0, and item 4
/// only when it has read those of replica 1. The next step keeps this order.
TEST(CycleGate, TheCoordinatorReadsRequestsRankByRank) {
  std::vector<GateItem> all(6, {Bytes(1)});
  for (const int other : {0, 1, 2, 3}) all[other].passes = false;
  CycleGate gate(items_of(all), cycles(1000, Time(0)), {0, 2});
  const auto ask = [&](std::int32_t step, int item, std::int64_t replica, std::int64_t at) {
    EXPECT_THAT(gate.ready({replica, step, item}, Time(at)), IsEmpty());
  };
  const auto next = [&](std::int64_t now) {
    const Time begins = *gate.next_round(Time(now));
    std::vector<int> items;
    for (const GateDecision& d : gate.end_round(gate.begin_round(begins), begins))
      items.push_back(d.batch->items.front());
    return items;
  };
  ask(0, 5, 1, 500);
  EXPECT_EQ(gate.next_round(Time(500)), std::nullopt) << "nothing is ready on both";
  ask(0, 4, 0, 1500);
  ask(0, 4, 1, 1500);
  ask(0, 5, 0, 1600);
  EXPECT_THAT(next(1600), ElementsAre(5, 4));
  for (const int item : {4, 5}) {
    for (const std::int64_t replica : {0, 1}) ask(1, item, replica, 5000 + item);
  }
  EXPECT_THAT(next(5005), ElementsAre(5, 4));
}

/// Cycles of 10 start at 0, 10, 20, …, or as soon as the previous cycle has ended.
TEST(CycleGate, RoundsStartOneAfterTheOther) {
  CycleGate gate(items_of({{}, {}, {}}), cycles(10, Time(1)), {0, 1});
  gate.ready({0, 0, 0}, Time(31));
  EXPECT_EQ(gate.next_round(Time(31)), Time(40));
  EXPECT_EQ(gate.next_round(Time(31)), std::nullopt) << "once";
  const GateProposal first = gate.begin_round(Time(40));
  EXPECT_THAT(first.numbers, ElementsAre(1, -1, 0, 0, 0, 0));
  gate.ready({0, 0, 1}, Time(41));
  EXPECT_EQ(gate.next_round(Time(41)), std::nullopt) << "not before this one is over";
  EXPECT_THAT(shown(gate.end_round(first, Time(65))), ElementsAre("0-0: step 0, items 0"))
      << "what was ready then";
  EXPECT_EQ(gate.next_round(Time(65)), Time(65));
}

/// Every replica has one stream, which starts a batch when the previous one has completed. A batch
/// is decided even if no replica starts it yet.
TEST(CycleGate, AReplicaExecutesOneBatchAtATime) {
  CycleGate gate(items_of({{Bytes(3)}, {Bytes(3)}, {Bytes(3)}}), cycles(10, Time(0), 6), {4, 2});
  for (const std::int64_t replica : {4, 5}) {
    for (const int item : {2, 1, 0}) gate.ready({replica, 0, item}, Time());
  }
  EXPECT_THAT(shown(gate.end_round(gate.begin_round(*gate.next_round(Time())), Time(5))),
              ElementsAre("4-5: step 0, items 2 1", "nobody: step 0, items 0"));
  EXPECT_THAT(shown(gate.done({5, 0, 2})), ElementsAre("5-5: step 0, items 0"));
  EXPECT_THAT(shown(gate.done({5, 0, 0})), IsEmpty());
  gate.ready({5, 1, 1}, Time(6));
  EXPECT_THAT(shown(gate.done({4, 0, 1})), ElementsAre("4-4: step 0, items 0"));
  gate.ready({4, 1, 1}, Time(7));
  EXPECT_THAT(shown(gate.end_round(gate.begin_round(*gate.next_round(Time(7))), Time(10))),
              ElementsAre("5-5: step 1, items 1"))
      << "4 is busy";
  EXPECT_THAT(shown(gate.done({4, 0, 0})), ElementsAre("4-4: step 1, items 1"));
}

TEST(CycleGate, StateNeverRepeats) {
  CycleGate gate(items_of({{}}), cycles(10, Time(0)), {0, 1});
  EXPECT_FALSE(can_be_remembered(gate));
}

/// The decisions of a run, each with its time.
using Decided = std::vector<std::pair<std::int64_t, GateBatch>>;

struct Requests {
  std::vector<std::pair<std::int64_t, GateRequest>> by_time;
  std::int64_t end = 0;
};

/// Returns requests for steps of `items` items on `replicas` replicas, at random times within each
/// step.
Requests random_requests(Random& random, std::int64_t replicas, int items, int steps) {
  Requests all;
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t r = 0; r < replicas; ++r) {
      std::vector<std::int64_t> times;
      for (int i = 0; i < items; ++i)
        times.push_back(all.end + static_cast<std::int64_t>(random.below(120)));
      for (int i = 0; i < items; ++i) all.by_time.push_back({times[i], {r, step, i}});
    }
    all.end += 400;
  }
  std::stable_sort(all.by_time.begin(), all.by_time.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

constexpr std::int64_t kCycle = 10;
constexpr std::int64_t kAgreement = 3;

/// Completes all started batches immediately, as long as rounds follow.
void complete(Gate& gate, std::vector<GateDecision> decisions) {
  while (!decisions.empty()) {
    std::vector<GateDecision> more;
    for (const GateDecision& d : decisions) {
      for (std::int64_t r = d.first_replica; r < d.first_replica + d.replicas; ++r) {
        for (GateDecision& next : gate.done({r, d.batch->step, d.batch->items.front()}))
          more.push_back(std::move(next));
      }
    }
    decisions = std::move(more);
  }
}

void note(Decided& all, std::int64_t began, const std::vector<GateDecision>& decisions) {
  const GateBatch* last = nullptr;
  for (const GateDecision& d : decisions) {
    if (std::exchange(last, d.batch.get()) != d.batch.get()) all.emplace_back(began, *d.batch);
  }
}

/// Runs one gate that receives the requests of all replicas. Rounds in which nothing is ready are
/// skipped.
Decided one_process(const GateItems& items, bool cached, const Requests& requests,
                    std::int64_t replicas) {
  CycleGate gate(items, {Bytes(100), cached, Time(kCycle), Time(kAgreement)}, {0, replicas});
  Decided all;
  std::optional<Time> due;
  const auto hold = [&](std::int64_t until) {
    while (due && due->count() < until) {
      const Time began = *due, over = began + Time(kAgreement);
      const GateProposal proposal = gate.begin_round(began);
      const auto decisions = gate.end_round(proposal, over);
      note(all, began.count(), decisions);
      complete(gate, decisions);
      due = gate.next_round(over);
    }
  };
  for (const auto& [at, request] : requests.by_time) {
    hold(at);  // a round includes what is ready at its start
    gate.ready(request, Time(at));
    if (!due) due = gate.next_round(Time(at));
  }
  hold(requests.end + 1000);
  return all;
}

/// Runs one gate per process, each of which receives the requests of its own replicas. All gates
/// take part in every round, and agree on the minimum of their numbers.
Decided several_processes(const GateItems& items, bool cached, const Requests& requests,
                          std::int64_t replicas, std::int64_t per_process) {
  std::vector<std::unique_ptr<CycleGate>> gates;
  for (std::int64_t first = 0; first < replicas; first += per_process)
    gates.push_back(std::make_unique<CycleGate>(
        items, CycleGate::Options{Bytes(100), cached, Time(kCycle), std::nullopt},
        GateMembers{first, per_process}));
  Decided all;
  std::size_t next = 0;
  for (std::int64_t began = 0; began < requests.end + 1000;) {
    for (; next < requests.by_time.size() && requests.by_time[next].first <= began; ++next) {
      const auto& [at, request] = requests.by_time[next];
      gates[request.replica / per_process]->ready(request, Time(at));
    }
    GateProposal least = gates.front()->begin_round(Time(began));
    for (std::size_t g = 1; g < gates.size(); ++g)
      least = min_of(least, gates[g]->begin_round(Time(began)));
    const Time over(began + kAgreement);
    std::int64_t next_begins = 0;
    for (std::size_t g = 0; g < gates.size(); ++g) {
      const auto decisions = gates[g]->end_round(least, over);
      Decided here;
      note(here, began, decisions);
      if (g == 0) all.insert(all.end(), here.begin(), here.end());
      EXPECT_TRUE(std::equal(here.rbegin(), here.rend(), all.rbegin())) << "all decide the same";
      complete(*gates[g], decisions);
      next_begins = gates[g]->next_round(over)->count();
    }
    began = next_begins;
  }
  return all;
}

/// A simulation uses one gate that knows all replicas. A real run uses one gate per process, and
/// the gates agree with each other. Both must decide the same.
TEST(CycleGate, OneGatePerProcessDecidesLikeOneGateForAllReplicas) {
  Random random(11);
  const GateItems items = items_of({{Bytes(40), 0, 1},
                                    {Bytes(50), 0, 2},
                                    {Bytes(30), 0, 1},
                                    {Bytes(20), 0, 2},
                                    {Bytes(120), 0, 1}});
  std::size_t batches = 0, fused = 0;
  for (int i = 0; i < 60; ++i) {
    const Requests requests = random_requests(random, 6, 5, 4);
    const bool cached = i % 2 == 0;
    const Decided one = one_process(items, cached, requests, 6);
    for (const std::int64_t per_process : {1, 2, 3, 6})
      ASSERT_EQ(several_processes(items, cached, requests, 6, per_process), one)
          << i << ", " << per_process;
    for (const auto& [began, batch] : one) fused += batch.items.size() > 1 ? 1 : 0;
    batches += one.size();
  }
  EXPECT_GT(batches, 60u * 4 * 2);
  EXPECT_GT(fused, 60u);
}

// --- other gates ---

/// A gate for which every replica starts its items in the order of their numbers, one at a time.
class SerialGate : public Gate {
 public:
  explicit SerialGate(std::int32_t items) : items_(items) {}
  std::vector<GateDecision> ready(const GateRequest& request, Time) override {
    replicas_[request.replica].ready.insert({request.step, request.item});
    return go_on(request.replica);
  }
  std::vector<GateDecision> done(const GateRequest& request) override {
    replicas_[request.replica].busy = false;
    return go_on(request.replica);
  }

 private:
  struct Replica {
    std::set<std::pair<std::int32_t, std::int32_t>> ready;
    std::pair<std::int32_t, std::int32_t> next{0, 0};
    bool busy = false;
  };
  std::vector<GateDecision> go_on(std::int64_t index) {
    Replica& replica = replicas_[index];
    if (replica.busy || replica.ready.erase(replica.next) == 0) return {};
    replica.busy = true;
    const auto [step, item] = replica.next;
    replica.next = item + 1 == items_ ? std::pair(step + 1, 0) : std::pair(step, item + 1);
    return {{index, 1, std::make_shared<const GateBatch>(GateBatch{step, {item}})}};
  }
  std::int32_t items_;
  std::map<std::int64_t, Replica> replicas_;
};

TEST(Gate, SerialGateStartsItemsInOrder) {
  SerialGate gate(3);
  EXPECT_THAT(gate.ready({0, 0, 2}, Time()), IsEmpty());
  EXPECT_THAT(shown(gate.ready({0, 0, 0}, Time())), ElementsAre("0-0: step 0, items 0"));
  EXPECT_THAT(gate.ready({0, 0, 1}, Time()), IsEmpty());
  EXPECT_THAT(shown(gate.done({0, 0, 0})), ElementsAre("0-0: step 0, items 1"));
  EXPECT_THAT(shown(gate.done({0, 0, 1})), ElementsAre("0-0: step 0, items 2"));
  EXPECT_FALSE(can_be_remembered(gate)) << "its state is not comparable";
}

/// A gate that lets a replica start step s when all replicas have completed step s - 1 - `bound`. A
/// bound of 0 is a barrier.
class StalenessGate : public Gate {
 public:
  StalenessGate(std::int64_t replicas, std::int32_t bound)
      : bound_(bound), ended_(static_cast<std::size_t>(replicas)) {}
  std::vector<GateDecision> ready(const GateRequest& request, Time) override {
    waiting_.insert({request.step, request.replica});
    return go_on();
  }
  std::vector<GateDecision> done(const GateRequest& request) override {
    ended_[request.replica] = request.step + 1;
    return go_on();
  }

 private:
  std::vector<GateDecision> go_on() {
    std::vector<GateDecision> started;
    const std::int32_t least = *std::min_element(ended_.begin(), ended_.end());
    while (!waiting_.empty() && waiting_.begin()->first <= least + bound_) {
      started.push_back(
          {waiting_.begin()->second, 1,
           std::make_shared<const GateBatch>(GateBatch{waiting_.begin()->first, {0}})});
      waiting_.erase(waiting_.begin());
    }
    return started;
  }
  std::int32_t bound_;
  std::vector<std::int32_t> ended_;  ///< completed steps by replica
  std::set<std::pair<std::int32_t, std::int64_t>> waiting_;
};

TEST(Gate, StalenessGateKeepsItsBound) {
  for (const std::int32_t bound : {0, 2}) {
    StalenessGate gate(2, bound);
    std::int32_t begun = 0;
    while (!gate.ready({0, begun, 0}, Time()).empty()) gate.done({0, begun++, 0});
    EXPECT_EQ(begun, bound + 1) << "ahead of replica 1, which has ended none";
    EXPECT_THAT(shown(gate.ready({1, 0, 0}, Time())), ElementsAre("1-1: step 0, items 0"));
    EXPECT_THAT(shown(gate.done({1, 0, 0})),
                ElementsAre(fmt::format("0-0: step {}, items 0", begun)));
  }
}

}  // namespace
}  // namespace tutti::core
