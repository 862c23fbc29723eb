// The order of a training step's requests: which task starts after which completion. The tests
// record every request of a step and complete them one by one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/support/clusters.h"
#include "tests/support/step_player.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;

/// Records the requests of a step, and plays the role of the compute stream.
class Recorded : public StepActions {
 public:
  std::vector<std::string> log;
  std::deque<ComputeTask> queue;
  bool ended = false;

  void compute(const ComputeTask& task) override {
    const int which = std::max(task.index, task.pack);
    log.push_back(std::string(to_string(task.kind)) +
                  (which >= 0 ? " " + std::to_string(which) : ""));
    queue.push_back(task);
  }
  void pack_ready(int pack) override { log.push_back("ready " + std::to_string(pack)); }
  void launch(int pack) override { log.push_back("launch " + std::to_string(pack)); }
  void step_done() override {
    log.push_back("end");
    ended = true;
  }

  /// Returns the requests since the last call.
  std::vector<std::string> take() { return std::exchange(log, {}); }
  /// Completes the first task of the stream.
  std::vector<std::string> next(StepPlayer& player) {
    const ComputeTask task = queue.front();
    queue.pop_front();
    player.compute_done(task, *this);
    return take();
  }
};

class StepOrder : public testing::Test {
 protected:
  /// Creates three variables a, b, c of 100 elements. c is ready first, then b, then a.
  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) {
      Variable v;
      v.name = name;
      v.elements = 100;
      workload_.gradients.push_back(v);
    }
    for (const int v : {2, 1, 0}) workload_.segments.push_back({workload_.gradients[v].name, {v}});
    times_ = {milliseconds(5), {milliseconds(1), milliseconds(2), milliseconds(3)}, Time(100)};
  }

  StepPlayer& make(const Strategy& strategy) {
    plan_ = *make_plan(workload_, strategy, *cluster_);
    workload_.times = {times_};
    programs_ = std::make_unique<StepPrograms>(workload_, plan_);
    player_ = std::make_unique<StepPlayer>(*programs_, 0, device_);
    return *player_;
  }

  std::shared_ptr<const Cluster> cluster_ = test::plain_cluster(4);
  Workload workload_;
  StepTimes times_;
  DeviceRates device_{Bandwidth(4'000'000'000), {}, Bandwidth(1'000'000'000), 1, {}};
  Plan plan_;
  std::unique_ptr<StepPrograms> programs_;
  std::unique_ptr<StepPlayer> player_;
  Recorded actions_;
};

TEST_F(StepOrder, PacksStartWhenTheirGradientsAreReadyAndUpdatesFollowTheBackwardPass) {
  StepPlayer& d =
      make(Strategy::for_algorithm(BaseAlgorithm::kRing));  // packs 0, 1, 2 hold a, b, c
  d.begin_step(1'000'000, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("forward"));
  EXPECT_THAT(actions_.next(d), ElementsAre("backward 0"));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 2", "launch 2", "backward 1"));
  d.pack_done(2, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre()) << "its update runs after the backward pass";
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 1", "launch 1", "backward 2"));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 0", "launch 0", "update 2"));
  d.pack_done(0, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("update 0")) << "while pack 1 still travels";
  EXPECT_THAT(actions_.next(d), ElementsAre());
  EXPECT_THAT(actions_.next(d), ElementsAre());
  d.pack_done(1, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("update 1"));
  EXPECT_THAT(actions_.next(d), ElementsAre("end"));
}

TEST_F(StepOrder, GradientsAreSentOnlyInTheLastMicroBatch) {
  workload_.micro_batches = 2;
  times_.accumulate = {Time(7), Time(8), Time(9)};
  StepPlayer& d = make(Strategy::for_algorithm(BaseAlgorithm::kRing));
  d.begin_step(1'000'000, actions_);
  for (const char* const next :
       {"forward", "backward 0", "backward 1", "backward 2", "forward", "backward 0"}) {
    EXPECT_THAT(actions_.take(), ElementsAre(next));
    d.compute_done(actions_.queue.front(), actions_);
    actions_.queue.pop_front();
  }
  EXPECT_THAT(actions_.take(), ElementsAre("ready 2", "launch 2", "backward 1"));
  EXPECT_EQ(actions_.queue.front().duration, times_.backward[1] + Time(8));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 1", "launch 1", "backward 2"));
  EXPECT_EQ(actions_.queue.front().duration, times_.backward[2] + Time(9));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 0", "launch 0"));
}

TEST_F(StepOrder, GradientsAreConvertedAfterTheirSegmentsAndBackBeforeUpdates) {
  Strategy s = Strategy::for_algorithm(BaseAlgorithm::kRing);
  s.bytes_per_pack = Bytes(0);
  s.merging = Merging::kConcat;
  s.compression = Compression{DataType::kFloat16, false};
  StepPlayer& d = make(s);
  d.begin_step(1'000'000, actions_);
  actions_.next(d);
  actions_.take();
  EXPECT_THAT(actions_.next(d), ElementsAre("convert to send 0"));
  EXPECT_EQ(actions_.queue.front().duration, nanoseconds(150))
      << "100 elements, 4 bytes read and 2 written, at 4 GB/s";
  EXPECT_THAT(actions_.next(d), ElementsAre("backward 1"));
  EXPECT_THAT(actions_.next(d), ElementsAre("convert to send 1"));
  EXPECT_THAT(actions_.next(d), ElementsAre("backward 2"));
  EXPECT_THAT(actions_.next(d), ElementsAre("convert to send 2"));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 0", "copy into pack 0"));
  EXPECT_EQ(actions_.queue.front().duration, nanoseconds(600)) << "half the bytes are copied";
  EXPECT_THAT(actions_.next(d), ElementsAre("launch 0"));
  d.pack_done(0, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("copy out of pack 0", "convert back 0", "update 0"));
  EXPECT_EQ(actions_.queue[1].duration, nanoseconds(450));
}

TEST_F(StepOrder, WholePacksAreConvertedBeforeTheyStartAndBackBeforeCopies) {
  Strategy s = Strategy::for_algorithm(BaseAlgorithm::kRing);
  s.bytes_per_pack = Bytes(0);
  s.merging = Merging::kConcat;
  s.compression = Compression{DataType::kBfloat16, true};
  StepPlayer& d = make(s);
  d.begin_step(1'000'000, actions_);
  for (int i = 0; i < 3; ++i) actions_.next(d);
  actions_.take();
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 0", "copy into pack 0"));
  EXPECT_EQ(actions_.queue.front().duration, nanoseconds(1200)) << "copied as they are computed";
  EXPECT_THAT(actions_.next(d), ElementsAre("convert to send 0"));
  EXPECT_EQ(actions_.queue.front().duration, nanoseconds(450));
  EXPECT_THAT(actions_.next(d), ElementsAre("launch 0"));
  d.pack_done(0, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("convert back 0", "copy out of pack 0", "update 0"));
}

TEST_F(StepOrder, SerialisedPacksWaitForThePreviousPack) {
  Strategy s = Strategy::for_algorithm(BaseAlgorithm::kRing);
  s.launch = Launch::kSerial;  // pack 0 holds c, the first to be ready
  StepPlayer& d = make(s);
  d.begin_step(1'000'000, actions_);
  actions_.next(d);
  actions_.take();
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 0", "launch 0", "backward 1"));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 1", "backward 2"));
  d.pack_done(0, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("launch 1"));
}

TEST_F(StepOrder, CopiesIntoAPackRunBeforeTheNextSegment) {
  Strategy s = Strategy::for_algorithm(BaseAlgorithm::kRing);
  s.bytes_per_pack = Bytes(500);  // c and b, then a
  s.merging = Merging::kConcat;
  StepPlayer& d = make(s);
  d.begin_step(1'000'000, actions_);
  actions_.next(d);
  actions_.next(d);
  actions_.take();
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 0", "copy into pack 0", "backward 2"));
  EXPECT_EQ(actions_.queue.front().duration, nanoseconds(800)) << "800 bytes at 1 GB/s";
  EXPECT_THAT(actions_.next(d), ElementsAre("launch 0"));
  EXPECT_THAT(actions_.next(d), ElementsAre("ready 1", "launch 1")) << "a alone is not copied";
  d.pack_done(0, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("copy out of pack 0", "update 0"));
}

TEST_F(StepOrder, NumPacksWaitsForAllGradientsAndThenForAllPacks) {
  Strategy s = Strategy::for_algorithm(BaseAlgorithm::kRing);
  s.num_packs = 2;
  StepPlayer& d = make(s);
  d.begin_step(1'000'000, actions_);
  for (int i = 0; i < 3; ++i) actions_.next(d);
  actions_.take();
  EXPECT_THAT(actions_.next(d),
              ElementsAre("ready 0", "copy into pack 0", "ready 1", "copy into pack 1"));
  actions_.next(d);
  actions_.next(d);
  d.pack_done(1, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre());
  d.pack_done(0, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("copy out of pack", "update"));
}

TEST_F(StepOrder, OneUpdateAfterAll) {
  Strategy s = Strategy::for_algorithm(BaseAlgorithm::kRing);
  s.update = Update::kAfterAll;
  StepPlayer& d = make(s);
  d.begin_step(1'000'000, actions_);
  for (int i = 0; i < 4; ++i) actions_.next(d);
  d.pack_done(0, actions_);
  d.pack_done(2, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre());
  d.pack_done(1, actions_);
  EXPECT_THAT(actions_.take(), ElementsAre("update"));
  EXPECT_EQ(actions_.queue.front().duration, Time(100));
}

TEST_F(StepOrder, SharesOfTheUpdateAddUpToItsTime) {
  StepPlayer& d = make(Strategy::for_algorithm(BaseAlgorithm::kRing));
  d.begin_step(1'000'000, actions_);
  for (int i = 0; i < 4; ++i) actions_.next(d);
  Time total;
  for (const int p : {1, 0, 2}) {
    d.pack_done(p, actions_);
    total += actions_.queue.back().duration;
  }
  EXPECT_EQ(total, Time(100));
}

TEST_F(StepOrder, TheRelativePaceScalesOnlyComputation) {
  StepPlayer& d = make(Strategy::for_algorithm(BaseAlgorithm::kRing));
  d.begin_step(1'100'000, actions_);
  EXPECT_EQ(actions_.queue.front().duration, microseconds(5'500));
}

TEST_F(StepOrder, StepsFollowEachOther) {
  StepPlayer& d = make(Strategy::for_algorithm(BaseAlgorithm::kRing));
  for (int step = 0; step < 3; ++step) {
    actions_.ended = false;
    d.begin_step(1'000'000, actions_);
    for (int i = 0; i < 4; ++i) actions_.next(d);
    for (const int p : {0, 1, 2}) {
      d.pack_done(p, actions_);
      actions_.next(d);
    }
    EXPECT_TRUE(actions_.ended);
    EXPECT_TRUE(actions_.queue.empty());
  }
}

/// num_packs applies inside each entry of a spec. The small gradient a uses pscpu, b and c use
/// xring.
TEST_F(StepOrder, EachEntryConcatenatesAndUnpacksItsOwnPacks) {
  workload_.gradients[0].elements = 10;
  Strategy strategy = Strategy::for_algorithm(BaseAlgorithm::kXring);
  AllReduceSpec spec;
  spec.entries = {{"pscpu", BaseAlgorithm::kPscpu, 1, 50}, {"xring", BaseAlgorithm::kXring, 1, -1}};
  spec.limit_unit = LimitUnit::kElements;
  strategy.spec = spec;
  strategy.num_packs = 2;
  StepPlayer& player = make(strategy);
  ASSERT_EQ(plan_.packs.size(), 4u);
  Recorded r;
  player.begin_step(1'000'000, r);
  r.take();
  EXPECT_THAT(r.next(player), ElementsAre("backward 0")) << "forward";
  EXPECT_THAT(r.next(player), ElementsAre("backward 1")) << "c is ready, and b is not";
  EXPECT_THAT(r.next(player), ElementsAre("ready 2", "copy into pack 2", "ready 3",
                                          "copy into pack 3", "backward 2"))
      << "the pack needs b and c, but not a";
  EXPECT_THAT(r.next(player), ElementsAre("launch 2"));
  EXPECT_THAT(r.next(player), ElementsAre("launch 3"));
  EXPECT_THAT(r.next(player),
              ElementsAre("ready 0", "copy into pack 0", "ready 1", "copy into pack 1"));
  r.next(player);
  EXPECT_THAT(r.next(player), ElementsAre("launch 1"));
  player.pack_done(3, r);
  EXPECT_THAT(r.take(), ElementsAre())
      << "packs are divided into gradients once pack 2 has completed, too";
  player.pack_done(2, r);
  EXPECT_THAT(r.take(), ElementsAre("copy out of pack", "update"));
  player.pack_done(0, r);
  player.pack_done(1, r);
  EXPECT_THAT(r.take(), ElementsAre("copy out of pack", "update"));
  Time updates;
  while (!r.ended) {
    if (r.queue.front().kind == ComputeKind::kUpdate) updates += r.queue.front().duration;
    r.next(player);
  }
  EXPECT_EQ(updates, times_.update) << "by their shares of the bytes";
}

}  // namespace
}  // namespace tutti::core
