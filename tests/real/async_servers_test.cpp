// Asynchronous workers with parameter servers. The tests check the collectives of each worker in
// the ranks of the whole cluster, and the variables that a server holds. There are no processes:
// the tests copy the messages themselves.

#include "real/asynchronous/async_servers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/scenario/scenario.h"
#include "core/schedule/checker.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::real {
namespace {

using core::Contract;
using core::Rank;
using testing::HasSubstr;

core::Scenario scenario(int workers, int replicas, int servers,
                        const std::string& strategy = "tensorflow { parameter_server {} }",
                        const std::string& type = "INT32") {
  auto made =
      core::read_scenario(fmt::format("cluster {{ workers {{ machine: \"dgx1-v100\" count: {} "
                                      "replicas: {} }} workers {{ machine: \"cpu-host\" "
                                      "count: {} "
                                      "server: true }} network {{ kind: ONE_SWITCH latency_us: 1 "
                                      "}} }} workload {{ variable {{ name: \"v\" shape: "
                                      "10 "
                                      "data_type: {} }} variable {{ name: \"w\" shape: 3 "
                                      "data_type: {} }} }} strategy {{ {} }} run {{ steps: 2 }}",
                                      workers, replicas, servers, type, type, strategy),
                          "f", test::shipped_library());
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  return std::move(*made);
}

/// Each worker's pushes and reads must satisfy the plan's contract when they are expressed in the
/// ranks of the whole cluster, which a real run uses.
TEST(InCluster, CollectivesOfEveryWorkerAreProvedInTheClustersRanks) {
  for (const char* strategy : {"tensorflow { parameter_server {} }",
                               "tensorflow { parameter_server { variable_read_cache: CPU } }",
                               "tensorflow { tf_cnn_benchmarks { cross_replica_sync: false } }"}) {
    const core::Scenario s = scenario(3, 2, 2, strategy);
    for (std::int64_t g = 0; g < 3; ++g) {
      const GroupRanks ranks{*s.plan.partition, g};
      for (const core::Pack& pack : s.plan.packs) {
        const auto schedule = in_cluster(s.plan.collective(pack).schedule, ranks, 5);
        Contract contract = s.plan.collective(pack).contract();
        const core::RankSet replicas{static_cast<Rank>(2 * g), 2, 1},
            root{ranks.to_cluster(s.plan.collective(pack).root), 1, 1};
        const bool read = pack.phase == core::PackPhase::kRead;
        contract.contributors = read ? root : replicas;
        contract.receivers = read ? replicas : root;
        EXPECT_EQ(schedule->ranks(), 3 * 2 + 5);
        EXPECT_EQ(core::check(*schedule, contract), std::vector<core::Violation>{})
            << strategy << " of worker " << g;
        EXPECT_GE(root.first, 3 * 2 + 3) << "a server's CPU";
      }
    }
  }
}

TEST(InCluster, RanksConvertBothWays) {
  const core::Partition workers{6, 2, 1, false};
  for (std::int64_t g = 0; g < 3; ++g) {
    const GroupRanks ranks{workers, g};
    for (Rank own = 0; own < 3 + 5; ++own) {
      if (own == 3 + g) continue;  // the CPU of the same worker
      EXPECT_EQ(ranks.to_group(ranks.to_cluster(own)), own);
    }
    EXPECT_EQ(ranks.to_group(static_cast<Rank>((2 * g + 2) % 6)), -1) << "another worker's replica";
  }
}

/// Executes nothing. Records the buffers, and the collectives that were started.
class Remembered : public Collectives, public Receiver {
 public:
  std::map<CollectiveTag, std::map<Rank, std::byte*>> buffers;
  std::vector<std::pair<CollectiveTag, Rank>> started;

  void open(CollectiveTag tag, const core::Collective&, Operation, const std::vector<Rank>& ranks,
            const std::vector<std::byte*>& data) override {
    for (std::size_t i = 0; i < ranks.size(); ++i) buffers[tag][ranks[i]] = data[i];
  }
  void start(CollectiveTag tag, Rank rank) override { started.emplace_back(tag, rank); }
  void close(CollectiveTag) override {}
  core::Expected<void> poll() override { return {}; }
  [[nodiscard]] Clock::time_point next_due() const override { return Clock::time_point::max(); }
  [[nodiscard]] std::int64_t moved() const override { return 0; }
  [[nodiscard]] std::string progress_text() const override { return ""; }
  [[nodiscard]] Receiver& receiver() override { return *this; }
  void worked(Ticket) override {}
  std::byte* place(const Piece&) override { return nullptr; }
  void arrived(const Piece&) override {}
  bool slot_freed(const Channel&) override { return false; }
  void sent(Ticket) override {}

  [[nodiscard]] bool has_started(CollectiveTag tag, Rank rank) const {
    return std::find(started.begin(), started.end(), std::pair(tag, rank)) != started.end();
  }
};

/// Two workers with one replica each, and a server. The replicas are ranks 0 and 1, and the CPUs
/// are ranks 2 to 4.
class ServerTest : public testing::Test {
 protected:
  static constexpr Rank kServer = 4;
  static constexpr int kRead = 0, kPush = 3;  // of variable 0

  ServerTest() {
    for (std::int32_t w = 0; w < 3; ++w)
      ends_.push_back(std::make_unique<End>(scenario_, w, devices_));
    for (auto& end : ends_) {
      end->pace.prepare(0, 2, end->net);
      end->pace.begin(end->net);
    }
  }

  struct End {
    End(const core::Scenario& s, std::int32_t worker, Devices& devices)
        : pace(s, worker, devices) {}
    AsyncServers pace;
    Remembered net;
  };
  End& server() { return *ends_[2]; }
  CollectiveTag tag(int worker, std::int32_t step, int pack) {
    return ends_[worker]->pace.tag(step, pack);
  }
  static CollectiveTag question(CollectiveTag read) { return {read.step, read.pack + 4 * 2}; }

  /// Delivers the worker's read request, and then the server's reply.
  void read(int worker, std::int32_t step) {
    End& end = *ends_[worker];
    const CollectiveTag at = tag(worker, step, kRead);
    end.pace.ask(step, kRead, end.net);
    EXPECT_TRUE(end.net.has_started(question(at), worker));
    EXPECT_FALSE(server().net.has_started(at, kServer)) << "no rank has read yet";
    server().pace.rank_done(question(at), kServer, server().net);
    EXPECT_TRUE(server().net.has_started(at, kServer));
    std::memcpy(end.net.buffers[at][worker], server().net.buffers[at][kServer], 40);
  }
  /// With one replica, the sum is its own gradient.
  void push(int worker, std::int32_t step, std::int32_t wrong_by = 0) {
    const CollectiveTag at = tag(worker, step, kPush);
    std::byte* const there = server().net.buffers[at][kServer];
    std::memcpy(there, ends_[worker]->net.buffers[at][worker], 40);
    reinterpret_cast<std::int32_t*>(there)[7] += wrong_by;
    server().pace.rank_done(at, kServer, server().net);
  }
  std::vector<std::int32_t> values(std::byte* bytes) {
    std::vector<std::int32_t> all(10);
    std::memcpy(all.data(), bytes, 40);
    return all;
  }

  core::Scenario scenario_ = scenario(2, 1, 1);
  HostDevices devices_;
  std::vector<std::unique_ptr<End>> ends_;
};

/// The last value that is read must equal the first value plus all pushes in between, bit by bit.
TEST_F(ServerTest, AVariableIsTheSumOfAllPushes) {
  read(0, 0);
  read(1, 0);
  push(1, 0);
  push(0, 0);
  read(1, 1);
  push(1, 1);
  read(0, 1);
  push(0, 1);
  std::vector<std::int32_t> expected = values(ends_[0]->net.buffers[tag(0, 0, kRead)][0]);
  EXPECT_EQ(expected, values(ends_[1]->net.buffers[tag(1, 0, kRead)][1])) << "no rank had pushed";
  for (const auto& [worker, step] : {std::pair(1, 0), std::pair(0, 0), std::pair(1, 1)}) {
    const auto pushed = values(ends_[worker]->net.buffers[tag(worker, step, kPush)][worker]);
    for (std::size_t i = 0; i < 10; ++i)
      expected[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(expected[i]) +
                                              static_cast<std::uint32_t>(pushed[i]));
  }
  EXPECT_EQ(values(ends_[0]->net.buffers[tag(0, 1, kRead)][0]), expected);
  const auto right = server().pace.verify();
  EXPECT_TRUE(right) << right.error().message();
  // Worker 0 reads, worker 1 reads, worker 1 pushes (no update since its read), worker 0 pushes
  // (one update since its read). Then worker 1 and worker 0 each read and push, with no update in
  // between.
  const core::UpdatesBehind behind = server().pace.take_behind();
  EXPECT_EQ(behind.updates, 4);
  EXPECT_EQ(behind.sum, 1);
  EXPECT_EQ(behind.most, 1);
  EXPECT_EQ(server().pace.take_behind().updates, 0) << "told once";
}

TEST_F(ServerTest, FindsAPushThatDiffersFromTheWorkersGradients) {
  push(0, 0, 1);
  const auto right = server().pace.verify();
  ASSERT_FALSE(right);
  EXPECT_THAT(right.error().message(),
              testing::ContainsRegex("variable \"v\", worker 0: element 7 of a push"));
}

TEST_F(ServerTest, FindsAReadThatDiffersFromTheVariableAtThatTime) {
  push(0, 0);
  read(1, 0);
  reinterpret_cast<std::int32_t*>(server().net.buffers[tag(1, 0, kRead)][kServer])[3] ^= 1;
  const auto right = server().pace.verify();
  ASSERT_FALSE(right);
  EXPECT_THAT(right.error().message(), testing::ContainsRegex("worker 1: .* sent "));
}

/// The hashes of both ends must agree if and only if the bytes do.
TEST_F(ServerTest, HashesOfBothEndsOfAReadAgree) {
  read(0, 0);
  read(1, 0);
  reinterpret_cast<std::int32_t*>(ends_[1]->net.buffers[tag(1, 0, kRead)][1])[9] ^= 64;
  const auto hash = [](End& end, std::int64_t group, bool sent) {
    for (const ReadSeen& seen : end.pace.take_reads()) {
      if (seen.step == 0 && seen.pack == kRead && seen.group == group && seen.sent == sent)
        return seen.hash;
    }
    ADD_FAILURE() << "no such read";
    return std::uint64_t{0};
  };
  EXPECT_EQ(hash(*ends_[0], 0, false), hash(server(), 0, true));
  EXPECT_NE(hash(*ends_[1], 1, false), hash(server(), 1, true));
}

}  // namespace
}  // namespace tutti::real
