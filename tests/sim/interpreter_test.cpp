// The timing of steps, waits, slots and arrivals, for schedules that are small enough to compute by
// hand.

#include <gtest/gtest.h>

#include "core/algorithm/in_switch.h"
#include "core/algorithm/ring.h"
#include "core/algorithm/star.h"
#include "core/schedule/written.h"
#include "sim/collectives/collective_run.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Buffer;
using core::Bytes;
using core::Peer;
using core::Step;
using core::StepKind;
using core::Time;
using core::WrittenSchedule;

/// The rates: 1 ns per byte on every link, 100 ns from host to host, 2 ns per byte for additions.
const test::PlainRates kRates{core::Bandwidth(1'000'000'000), core::nanoseconds(100),
                              core::Bandwidth(500'000'000)};

Step send(int to, std::int64_t count, int lane = 0) {
  Step s;
  s.kind = StepKind::kSend;
  s.source = {Buffer::kData, 0, count};
  s.to = Peer::at(to, lane);
  return s;
}
Step receive(int from, std::int64_t count, int lane = 0) {
  Step s;
  s.kind = StepKind::kReceive;
  s.target = {Buffer::kScratch, 0, count};
  s.from = Peer::at(from, lane);
  return s;
}

using Lanes = std::vector<std::vector<Step>>;

CollectiveRun run(const std::vector<Lanes>& ranks, int credits = core::kUnlimitedCredits,
                  const std::vector<Time>& start = {}) {
  std::vector<WrittenSchedule::RankLanes> written;
  for (const Lanes& lanes : ranks) {
    WrittenSchedule::RankLanes rank;
    rank.scratch = 1000;
    for (const auto& steps : lanes) rank.lanes.push_back({steps, credits, core::Engine::kCpu, {}});
    written.push_back(std::move(rank));
  }
  const auto cluster = test::plain_cluster(static_cast<int>(ranks.size()), kRates);
  const auto schedule = std::make_shared<const WrittenSchedule>(std::move(written));
  return run_alone({core::Group::of_cluster(*cluster, false), schedule, core::DataType::kFloat32,
                    1000, core::Staging::kDirect, schedule->ranks()},
                   core::NetworkModel::kIdeal, start);
}

Time ns(std::int64_t n) { return core::nanoseconds(n); }

TEST(Interpreter, SendsCompleteWhenBytesHaveLeftAndReceivesWhenTheyHaveArrived) {
  const CollectiveRun r = run({{{send(1, 50)}}, {{receive(0, 50)}}});
  EXPECT_EQ(r.rank_end[0], ns(200)) << "50 floats at 1 ns per byte";
  EXPECT_EQ(r.rank_end[1], ns(300));
}

TEST(Interpreter, StepsOfALaneAreExecutedInOrder) {
  const CollectiveRun r = run({{{send(1, 50), send(1, 25)}}, {{receive(0, 50), receive(0, 25)}}});
  EXPECT_EQ(r.rank_end[0], ns(300));
  EXPECT_EQ(r.rank_end[1], ns(400));
}

/// Counts how often steps are looked up.
class Counted : public WrittenSchedule {
 public:
  using WrittenSchedule::WrittenSchedule;
  [[nodiscard]] Step step(core::Rank rank, core::Lane lane, std::int64_t index) const override {
    ++looked_up;
    return WrittenSchedule::step(rank, lane, index);
  }
  mutable std::int64_t looked_up = 0;
};

TEST(Interpreter, SearchesALaneForReceivesOnlyOnce) {
  constexpr std::int64_t kMessages = 200, kNops = 1000;
  std::vector<WrittenSchedule::RankLanes> ranks(2);
  ranks[0].lanes.push_back(
      {std::vector<Step>(kMessages, send(1, 1)), core::kUnlimitedCredits, core::Engine::kCpu, {}});
  ranks[1].lanes.push_back(
      {std::vector<Step>(kNops), core::kUnlimitedCredits, core::Engine::kCpu, {}});
  const auto cluster = test::plain_cluster(2, kRates);
  const auto schedule = std::make_shared<const Counted>(std::move(ranks));
  run_alone({core::Group::of_cluster(*cluster, false), schedule, core::DataType::kFloat32, 1000,
             core::Staging::kDirect, schedule->ranks()},
            core::NetworkModel::kIdeal, {});
  EXPECT_LT(schedule->looked_up, 10 * (kMessages + kNops));
}

TEST(Interpreter, LanesOfARankRunConcurrentlyButShareItsPort) {
  const CollectiveRun r =
      run({{{send(1, 50)}, {send(2, 50)}}, {{receive(0, 50)}}, {{receive(0, 50, 1)}}});
  EXPECT_EQ(r.rank_end[1], ns(300));
  EXPECT_EQ(r.rank_end[2], ns(500)) << "the port serves the second lane after the first";
}

TEST(Interpreter, AStepWaitsForAnotherLanesSteps) {
  Step late = send(2, 10);
  late.wait = {0, 2};
  const CollectiveRun r = run({{{send(1, 50), send(1, 25)}, {late}},
                               {{receive(0, 50), receive(0, 25)}},
                               {{receive(0, 10, 1)}}});
  EXPECT_EQ(r.rank_end[2], ns(300 + 40 + 100)) << "after both steps of lane 0";
  EXPECT_EQ(r.causal_chain.parts.total(), r.end);
}

TEST(Interpreter, AFullConnectionBlocksItsSender) {
  // Rank 1 receives the first message only after a long message from rank 2.
  const std::vector<Lanes> ranks{
      {{send(1, 10), send(1, 10), send(1, 10)}},
      {{receive(2, 500), receive(0, 10), receive(0, 10), receive(0, 10)}},
      {{send(1, 500)}}};
  EXPECT_EQ(run(ranks).rank_end[0], ns(120)) << "with enough slots it sends without waiting";
  // Both senders share the port into rank 1, so rank 1 receives the first message at 2000 + 40 +
  // 100 ns. With one slot, the second send starts only then. The third send starts when the second
  // message is received, 40 + 100 ns later.
  const CollectiveRun one = run(ranks, 1);
  EXPECT_EQ(one.rank_end[0], ns(2140 + 140 + 40));
  EXPECT_EQ(one.rank_end[1], ns(2140 + 2 * 140));
}

TEST(Interpreter, ReceiveAnyTakesMessagesInTheOrderOfArrival) {
  Step any;
  any.kind = StepKind::kReceiveAny;
  any.target = {Buffer::kScratch, 0, 10};
  Step answer = send(1, 10, 1);
  // Rank 2 is early and rank 1 is late. The reply to rank 1 is sent after the first arrival.
  const CollectiveRun r =
      run({{{any, answer, any}}, {{send(0, 10)}, {receive(0, 10)}}, {{send(0, 10)}}},
          core::kUnlimitedCredits, {Time(), ns(1000), Time()});
  EXPECT_EQ(r.rank_end[1], ns(1040)) << "rank 0 answered long before rank 1 sent";
  EXPECT_EQ(r.rank_end[0], ns(1140));
}

TEST(Interpreter, MessagesWaitForRanksThatStartLate) {
  const CollectiveRun r =
      run({{{send(1, 50)}}, {{receive(0, 50)}}}, core::kUnlimitedCredits, {Time(), ns(5000)});
  EXPECT_EQ(r.rank_end[1], ns(5000)) << "it had arrived before";
}

TEST(Interpreter, ReductionsTakeTimeOnTheDeviceAndQueueThere) {
  Step add;
  add.kind = StepKind::kReduce;
  add.source = {Buffer::kScratch, 0, 100};
  add.target = {Buffer::kData, 0, 100};
  add.inputs = 3;
  const CollectiveRun r = run({{{add}, {add}}});
  EXPECT_EQ(r.end, ns(2 * 2 * 800))
      << "two additions of 400 bytes each at 2 ns per byte, twice, one lane after the other";
  EXPECT_EQ(r.causal_chain.parts.reduce, ns(1600));
  EXPECT_EQ(r.causal_chain.parts.queue, ns(1600));
}

TEST(Interpreter, CopiesAndScalesTakeTheCopyRate) {
  Step copy;
  copy.kind = StepKind::kCopy;
  copy.source = {Buffer::kData, 0, 100};
  copy.target = {Buffer::kScratch, 0, 100};
  Step scale;
  scale.kind = StepKind::kScale;
  scale.target = {Buffer::kData, 0, 100};
  EXPECT_EQ(run({{{copy, scale}}}).end, ns(2 * 400)) << "twice 400 bytes at 1 GB/s";
}

TEST(Interpreter, AScheduleWithoutStepsEndsAtOnce) {
  EXPECT_EQ(run({{{}}, {}}).end, Time());
  EXPECT_EQ(run({{{}}, {}}, 1, {ns(5), ns(7)}).end, ns(7));
}

// --- multicast ---

core::Collective inside(const core::Cluster& cluster,
                        std::shared_ptr<const core::Schedule> schedule, std::int64_t elements) {
  const std::int64_t ranks = schedule->ranks();
  return {core::Group::of_cluster(cluster, false),
          std::move(schedule),
          core::DataType::kFloat32,
          elements,
          core::Staging::kDirect,
          ranks};
}

TEST(Multicast, LoadsTheSendersLinkOnceAndReachesEveryone) {
  const core::Cluster cluster({{test::switch_machine(4, kRates), 1}}, 4, std::nullopt);
  std::vector<WrittenSchedule::RankLanes> ranks(4);
  Step cast;
  cast.kind = StepKind::kMulticast;
  cast.source = {Buffer::kData, 0, 100};
  cast.group = {0, 4, 1};
  ranks[0].lanes = {{{cast}, core::kUnlimitedCredits, core::Engine::kKernel, {}}};
  for (int r = 1; r < 4; ++r)
    ranks[r] = {{{{receive(0, 100)}, core::kUnlimitedCredits, core::Engine::kKernel, {}}}, 100};
  const core::Collective c = inside(cluster, std::make_shared<const WrittenSchedule>(ranks), 100);
  for (const core::NetworkModel model :
       {core::NetworkModel::kFifo, core::NetworkModel::kIdeal, core::NetworkModel::kFair}) {
    const CollectiveRun r = run_alone(c, model);
    EXPECT_EQ(r.end, ns(400 + 100)) << "as long as for one";
    std::int64_t out = 0, in = 0;
    for (core::LinkId id = 0; id < cluster.links(); ++id) {
      const std::string name = cluster.link_name(id);
      if (name == "w0/gpu0→w0/nvswitch") out += r.loads.total(id).count();
      if (name.starts_with("w0/nvswitch→")) in += r.loads.total(id).count();
    }
    EXPECT_EQ(out, 400) << "one message up";
    EXPECT_EQ(in, 3 * 400) << "one down to each";
  }
}

TEST(InSwitch, ReducesInTheSwitch) {
  const core::Cluster cluster({{test::switch_machine(4, kRates, true), 1}}, 4, std::nullopt);
  const core::Collective c = inside(cluster, core::in_switch_all_reduce(4, 400), 400);
  for (const core::NetworkModel model : {core::NetworkModel::kFifo, core::NetworkModel::kFair}) {
    const CollectiveRun r = run_alone(c, model);
    std::int64_t up = 0, down = 0;
    for (core::LinkId id = 0; id < cluster.links(); ++id) {
      const std::string name = cluster.link_name(id);
      if (name.ends_with("→w0/nvswitch")) up += r.loads.total(id).count();
      if (name.starts_with("w0/nvswitch→")) down += r.loads.total(id).count();
    }
    EXPECT_EQ(up, 4 * 1600 + 1600) << "every rank's buffer once, and each sum once";
    EXPECT_EQ(down, 1600 + 3 * 1600) << "each sum to its owner, then to the three others";
    EXPECT_LT(r.end, run_alone(inside(cluster, core::ring_all_reduce(4, 400), 400), model).end)
        << "faster than a ring";
  }
}

TEST(StarReduce, TakesTheTimeComputedByHand) {
  const auto cluster = test::plain_cluster(3, kRates);
  const CollectiveRun r = run_alone(
      test::on_plain_cluster(
          *cluster, core::star_reduce(3, 3, 0, 100, core::Engine::kCpu, core::Engine::kCpu), 100),
      core::NetworkModel::kIdeal);
  EXPECT_EQ(r.end, ns(100 + 2 * 400 + 2 * 800));
}

}  // namespace
}  // namespace tutti::sim
