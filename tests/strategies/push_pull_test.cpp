// BytePS: partitions are pushed to servers and pulled from them, in order of priority. The times
// and the order are compared with closed forms and with a slow queue.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/algorithm/push_pull.h"
#include "core/framework/byteps/keys.h"
#include "core/lowering/gates.h"
#include "core/lowering/reduction_scope.h"
#include "sim/folding/folding.h"
#include "tests/sim/simulated.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::Bytes;
using core::KeyHash;
using core::PackRecord;
using core::Time;
using testing::ElementsAre;

// --- keys ---

/// Computed by hand: h·33 + c and h·65599 + c over the digits, and (tensor + partition)·9973.
TEST(BytePsKeys, AreHashedAsBytePsDoes) {
  EXPECT_EQ(core::byteps_key(3, 2), 196'610u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kDjb2, 0), 177'621u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kDjb2, 65'536), 210'653'553'582u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kDjb2, 10'485'760), 7'570'037'172'341'604u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kSdbm, 65'537), 3'850'799'628'401'345'594u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kSdbm, 10'485'760), 8'808'758'135'458'947'199u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kNaive, 65'537), 19'946u);
  EXPECT_EQ(core::byteps_hash(KeyHash::kNaive, 196'610), 49'865u);
}

// --- shares ---

TEST(Shares, AreEqualExceptTheLast) {
  EXPECT_EQ(core::share_of(3, 11, 0), (core::Range{core::Buffer::kData, 0, 3}));
  EXPECT_EQ(core::share_of(3, 11, 2), (core::Range{core::Buffer::kData, 6, 5}));
  EXPECT_EQ(core::share_of(4, 2, 1).count, 0);
  EXPECT_EQ(core::share_of(4, 2, 3), (core::Range{core::Buffer::kData, 0, 2}));
}

// --- scenarios ---

/// Returns a scenario with two machines, each with `gpus` GPUs, and servers. Inside a worker,
/// devices are connected with 10 GB/s and 1 us.
core::Scenario byteps(const std::string& settings, const std::string& workload, int workers = 2,
                      int gpus = 1, int servers = 1,
                      const std::string& run = "steps: 1 network_model: IDEAL interference: OFF") {
  return test::read(fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} workers {{ machine: \"s\" count: {} "
      "server: true }} network "
      "{{ "
      "kind: ONE_SWITCH latency_us: 5 }} machine {{ name: \"m\" device {{ name: \"gpu[0-{}]\" "
      "kind: GPU "
      "memory_gb_per_s: 100 }} device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ "
      "name: \"nic0\" "
      "bandwidth_gb_per_s: 10 }} switch {{ name: \"plx\" kind: PCIE_SWITCH }} link {{ from: "
      "\"gpu[0-{}]\" to: \"plx\" "
      "kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0.5 }} link {{ from: \"plx\" to: \"cpu0\" "
      "kind: PCIE "
      "bandwidth_gb_per_s: 10 latency_us: 0.5 }} link {{ from: \"plx\" to: \"nic0\" kind: PCIE "
      "bandwidth_gb_per_s: 10 "
      "latency_us: 0.5 }} }} machine {{ name: \"s\" device {{ name: \"cpu0\" kind: CPU "
      "memory_gb_per_s: 50 }} nic {{ "
      "name: \"nic0\" bandwidth_gb_per_s: 10 }} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE "
      "bandwidth_gb_per_s: 10 "
      "latency_us: 0.5 }} }} }}\nworkload {{ {} }}\nstrategy {{ byteps {{ {} }} }}\nrun {{ {} }}\n",
      workers, servers, gpus - 1, gpus - 1, workload, settings, run));
}

/// Each segment of the backward pass takes 1 ms. v3 is ready after 2 ms, and v0 after 5 ms.
std::string four_variables(std::int64_t elements = 250'000) {
  std::string text;
  for (int v = 0; v < 4; ++v)
    text += fmt::format("variable {{ name: \"v{}\" shape: {} backward_ms: 1 }} ", v, elements);
  return text + "forward_ms: 1 update_ms: 0";
}

struct PushPullRun : core::NullSink {
  std::vector<PackRecord> packs;
  std::vector<core::StepRecord> steps;
  std::vector<core::PathPiece> pieces;
  void pack(const PackRecord& pack) override { packs.push_back(pack); }
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void path(const core::PathPiece& piece) override { pieces.push_back(piece); }
};
PushPullRun push_pull_run(const core::Scenario& s) {
  PushPullRun recorded;
  const auto ran =
      sim::Simulator(sim::Folds::kNever, sim::SkipRepeats::kNever).run(s, {}, {}, recorded);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
  return recorded;
}

/// Returns the packs of the first step, in the order in which they started.
std::vector<std::string> pushes(const core::Scenario& s, const PushPullRun& recorded) {
  std::vector<PackRecord> packs = recorded.packs;
  std::stable_sort(packs.begin(), packs.end(), [](const PackRecord& a, const PackRecord& b) {
    return a.first_start < b.first_start;
  });
  std::vector<std::string> names;
  for (const PackRecord& record : packs) {
    const core::Pack& pack = s.plan.packs[record.pack];
    if (record.step == 0 && pack.answers < 0)
      names.push_back(s.workload.gradients[pack.payload.members.front().variable].name);
  }
  return names;
}

Time latency(const core::Cluster& cluster, core::PartId from, core::PartId to) {
  std::vector<core::Hop> route;
  EXPECT_TRUE(cluster.append_route(from, to, core::Staging::kViaHost, route));
  Time sum;
  for (const core::Hop& hop : route) sum += hop.latency;
  return sum;
}

/// The GPU sends its share to its CPU. Two CPUs send to the server, whose port receives one message
/// after the other, and the server adds the second message to the first. Both CPUs request the sum
/// meanwhile, and receive the sum one after the other. Then the sum is sent to the GPU.
TEST(PushPull, OnePartitionHasAClosedForm) {
  const core::Scenario s =
      byteps("partition_bytes: 4096000",
             "variable { name: \"v\" shape: 1000000 } forward_ms: 1 backward_ms: 2 update_ms: 0");
  ASSERT_EQ(s.plan.packs.size(), 2u);
  EXPECT_EQ(core::reduction_scope(s.strategy, s.plan), core::ReductionScope::kServers);
  const core::Cluster& c = *s.cluster;
  const Bytes bytes(4'000'000);
  const Time wire = core::transfer_time(bytes, core::Bandwidth(10'000'000'000));
  const Time near = latency(c, c.replica(0), c.host(0)), far = latency(c, c.host(0), c.host(2));
  const Time add = core::transfer_time(bytes, c.part(c.host(2)).device.reduce);
  ASSERT_GT(add, 2 * far) << "otherwise the pull would not be requested yet";
  ASSERT_LE(add, wire) << "otherwise the second would arrive before the first";
  const Time push = near + wire + far + 2 * wire + add;
  const Time pull = far + 2 * wire + near + wire;
  const PushPullRun recorded = push_pull_run(s);
  ASSERT_EQ(recorded.steps.size(), 1u);
  EXPECT_EQ(recorded.steps[0].end.count(), (core::milliseconds(3) + push + pull).count());
  Time path;
  for (const core::PathPiece& piece : recorded.pieces) path += piece.end - piece.start;
  EXPECT_EQ(path, recorded.steps[0].end) << "the critical path has no gap";
}

/// No pull starts before the server has the pushes of all workers. Earlier partitions are pulled
/// while later ones are pushed.
TEST(PushPull, PullsOverlapWithLaterPushes) {
  for (const char* settings :
       {"", "scheduling_credit: 1", "partition_bytes: 400000 scheduling_credit: 2"}) {
    const core::Scenario s = byteps(settings, four_variables(), 3, 2, 2);
    const PushPullRun recorded = push_pull_run(s);
    std::map<int, PackRecord> by_pack;
    for (const PackRecord& record : recorded.packs) by_pack[record.pack] = record;
    Time last_push;
    Time first_pull = core::kNever;
    for (const auto& [number, record] : by_pack) {
      const core::Pack& pack = s.plan.packs[number];
      if (pack.answers < 0) {
        last_push = std::max(last_push, record.first_start);
        continue;
      }
      first_pull = std::min(first_pull, record.end);
      EXPECT_GT(record.end, by_pack.at(pack.answers).end) << settings;
    }
    EXPECT_LT(first_pull, last_push) << settings;
  }
}

// --- priorities ---

/// Partitions become ready from v3 to v0, but after the first partition, the gate starts them from
/// v0 to v3. Pulls pass no gate.
TEST(PushPull, TheGateOfAWorkerPrefersTheVariableCreatedFirst) {
  const core::Scenario s = byteps("scheduling_credit: 1 partition_bytes: 500000", four_variables());
  const core::PlanGate plan(s.plan);
  ASSERT_TRUE(plan.any());
  EXPECT_EQ(plan.scope(), core::GateScope::kWorker);
  std::vector<int> pushes;
  for (int p = 0; p < static_cast<int>(s.plan.packs.size()); ++p) {
    EXPECT_EQ(plan.governs(p), s.plan.packs[p].answers < 0) << p;
    if (plan.governs(p)) pushes.push_back(p);
  }
  ASSERT_EQ(pushes.size(), 8u) << "two partitions of each";
  const auto gate = plan.make({0, 1}, {});
  std::vector<int> begun;
  const auto note = [&](const std::vector<core::GateDecision>& decisions) {
    for (const core::GateDecision& d : decisions) begun.push_back(d.batch->items.front());
  };
  for (const int push : pushes) note(gate->ready({0, 0, push}, Time()));
  for (std::size_t i = 0; i < begun.size(); ++i) note(gate->done({0, 0, begun[i]}));
  ASSERT_EQ(begun.size(), pushes.size());
  std::vector<std::pair<int, std::int64_t>> order;
  for (const int p : begun) {
    const core::Member& member = s.plan.packs[p].payload.members.front();
    order.emplace_back(member.variable, member.first);
  }
  EXPECT_TRUE(std::is_sorted(order.begin() + 1, order.end())) << "the first one did not wait";
}

/// Sending a share to the CPU takes 2.5 ms, so gradients queue behind the first. With a credit of
/// one item, the next gradient to be sent is that of the earliest variable. Without credit,
/// gradients are sent in order of readiness.
TEST(PushPull, WithACreditTheFirstVariableIsPushedFirst) {
  const std::string large = four_variables(6'250'000);
  const std::string whole = "partition_bytes: 25001984";
  const core::Scenario with = byteps(whole + " scheduling_credit: 1", large),
                       without = byteps(whole, large);
  // v3 is ready at 2 ms and its transfer ends at 4.5 ms, when v2 and v1 wait. v1 is sent until 7
  // ms, when v0 and v2 wait.
  EXPECT_THAT(pushes(with, push_pull_run(with)), ElementsAre("v3", "v1", "v0", "v2"));
  EXPECT_THAT(pushes(without, push_pull_run(without)), ElementsAre("v3", "v2", "v1", "v0"));
}

/// The replicas of a worker start a partition together, so that none waits for another that has
/// spent its credit on another partition.
TEST(PushPull, ReplicasAtDifferentPacesDoNotDeadlock) {
  for (const char* settings :
       {"scheduling_credit: 1", "partition_bytes: 100000 scheduling_credit: 3"}) {
    const PushPullRun recorded = push_pull_run(
        byteps(settings, four_variables(), 3, 4, 2, "steps: 3 compute_jitter_percent: 40 seed: 7"));
    EXPECT_EQ(recorded.steps.size(), 3u) << settings;
    Time path;
    for (const core::PathPiece& piece : recorded.pieces) path += piece.end - piece.start;
    EXPECT_EQ(path, recorded.steps.back().end - recorded.steps.back().start) << settings;
  }
}

TEST(PushPull, SkippingRoundsDoesNotChangeTheResult) {
  for (const char* settings : {"", "scheduling_credit: 1"}) {
    const core::Scenario s = byteps(settings, four_variables(), 6, 4, 3, "steps: 3");
    const auto every = test::simulated(s, sim::Folds::kNever, sim::SkipRepeats::kNever);
    const auto remembered = test::simulated(s, sim::Folds::kNever, sim::SkipRepeats::kAlways);
    ASSERT_TRUE(every && remembered);
    EXPECT_EQ(test::summary_values(*every), test::summary_values(*remembered)) << settings;
    EXPECT_FALSE(sim::fold(s).why_not.empty());
  }
}

/// Updates follow pulls: one update follows the last pull, or with PER_PACK, each pull is followed
/// by the update of its part of the variable.
TEST(PushPull, UpdatesFollowPulls) {
  std::string text = byteps("", four_variables()).text;
  text.replace(text.find("update_ms: 0"), 12, "update_ms: 4");
  const core::Scenario after_all = test::read(text);
  const Time without = push_pull_run(test::read(byteps("", four_variables()).text)).steps[0].end;
  EXPECT_EQ(push_pull_run(after_all).steps[0].end, without + core::milliseconds(4))
      << "one update, after the last";
  text.replace(text.find("} }\nrun"), 7, "} update: PER_PACK }\nrun");
  const Time per_pack = push_pull_run(test::read(text)).steps[0].end;
  EXPECT_LT(per_pack, without + core::milliseconds(4));
  EXPECT_GE(per_pack, without + core::milliseconds(1)) << "that of the last pull is its fourth";
}

// --- invalid scenarios ---

TEST(BytePsServers, ReportMissingServers) {
  const auto wrong = [](const std::string& cluster, const std::string& strategy,
                        const std::string& more = "") {
    return test::kinds_of(
        core::read_scenario(fmt::format("cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 5 "
                                        "}} }}\nworkload {{ variable {{ name: \"v\" "
                                        "shape: 8 }} {} }}\nstrategy {{ {} }}\n",
                                        cluster, more, strategy),
                            "f", test::shipped_library()));
  };
  const std::string two = "workers { machine: \"dgx1-v100\" count: 2 } ",
                    server = "workers { machine: \"cpu-host\" server: true } ";
  EXPECT_THAT(wrong(two + server, "byteps {}"), testing::IsEmpty());
  EXPECT_THAT(wrong(two, "byteps {}"), ElementsAre("missing Strategy.byteps"));
  EXPECT_THAT(wrong(two + server, "byteps { servers_on_workers: 1 }"),
              ElementsAre("conflict Scenario", "conflict BytePs.servers_on_workers"));
  EXPECT_THAT(wrong(two, "byteps { servers_on_workers: 3 }"),
              ElementsAre("too-large BytePs.servers_on_workers"));
  EXPECT_THAT(wrong("workers { machine: \"dgx1-v100\" } " + server, "byteps {}"),
              ElementsAre("conflict Scenario", "conflict Strategy.byteps"));
  EXPECT_THAT(
      wrong("workers { machine: \"cpu-host\" count: 2 }", "byteps { servers_on_workers: 1 }"),
      ElementsAre("unsupported BytePs.servers_on_workers"));
  EXPECT_THAT(wrong(two, "algorithm: \"ring\" byteps { scheduling_credit: 1 }"),
              ElementsAre("unused BytePs.scheduling_credit"));
  EXPECT_THAT(wrong(two + server, "byteps { scheduling_credit: -1 }"),
              ElementsAre("too-small BytePs.scheduling_credit"));
  EXPECT_THAT(wrong(two + server, "byteps {} reduction: MAX"),
              ElementsAre("conflict Strategy.reduction"));
  EXPECT_THAT(wrong(two + server, "byteps {} shards: 2"), ElementsAre("unused Strategy.shards"));
  EXPECT_THAT(wrong(two + server, "byteps {} compression { type: FLOAT16 }"),
              ElementsAre("conflict Strategy.compression"));
  EXPECT_THAT(
      wrong(two + server, "byteps {}", "sparse_gradient { variable: \"v\" rows_per_step: 1 }"),
      ElementsAre("conflict Strategy.byteps"));
}

}  // namespace
}  // namespace tutti
