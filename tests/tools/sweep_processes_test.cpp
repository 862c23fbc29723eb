// Sweeps that are killed, interrupted and resumed, sweeps that several processes try to execute,
// and sweeps with several ranks.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "core/base/random.h"
#include "core/explore/sweep_store.h"
#include "tests/support/process.h"
#include "tests/tools/command_line.h"
#include "tools/tutti/explore/sweep_claim.h"

namespace tutti {
namespace {

/// Returns the rows of a table without its heading.
std::vector<std::string> rows(const std::string& csv) {
  std::vector<std::string> lines;
  std::istringstream text(csv);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  if (!lines.empty()) lines.erase(lines.begin());
  return lines;
}

/// Kills the sweep repeatedly at random moments and resumes it. At the end, the rows must equal
/// those of an undisturbed sweep, with one row per point.
TEST(Sweep, HasTheSameRowsAfterAKillAndAResume) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "alexnet_torchvision" batch: 32 }
strategy { algorithm: "ring" }
)");
  const std::vector<std::string> request{"sweep",  file,
                                         "--over", "strategy.bytes_per_pack=64KiB..64MiB*1.3",
                                         "--over", "strategy.algorithm=ring,nccl/ring,psgpu,rings",
                                         "--over", "strategy.shards=1,2"};
  ASSERT_EQ(run_tutti(test::with(request, {"-o", folder.file("whole.sweep"), "--csv",
                                           folder.file("whole.csv")}))
                .status,
            0);
  const std::vector<std::string> whole = rows(folder.read("whole.csv"));
  ASSERT_EQ(whole.size(), 27u * 4 * 2);

  core::Random random(11);
  constexpr int kKills = 20;
  for (int kill = 0; kill < kKills; ++kill) {
    test::Process sweep(test::with(request, {"-o", folder.file("cut.sweep")}));
    // Some kills come before the file exists or while it is created, others in the middle.
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(kill < 4 ? 12 : 60)));
    sweep.signal(kill % 5 == 4 ? SIGINT : SIGKILL);
    sweep.wait();
  }
  const Outcome last = run_tutti(
      test::with(request, {"-o", folder.file("cut.sweep"), "--csv", folder.file("cut.csv")}));
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_THAT(rows(folder.read("cut.csv")), testing::ElementsAreArray(whole))
      << "in the order of points, each once";
}

TEST(Sweep, AnInterruptNamesTheCommandThatResumes) {
  const TemporaryFolder folder;
  const std::string slow = folder.write("s.textproto", R"(
cluster { workers { machine: "dgx1-v100" count: 32 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "resnet50_torchvision" batch: 32 }
strategy { algorithm: "nccl" }
run { nccl: RINGS }
)");
  const Outcome o = run_tutti(
      {"sweep", slow, "--over", "strategy.launch_us=1..100+1", "-o", folder.file("a.sweep")},
      {.interrupt_once = folder.file("a.sweep")});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err,
              AllOf(HasSubstr(folder.file("a.sweep")), HasSubstr("the same command continues")));
  EXPECT_THAT(o.out, IsEmpty());
}

TEST(Sweep, OnlyOneProcessExecutesItAtATime) {
  const TemporaryFolder folder;
  const std::string slow = folder.write("s.textproto", R"(
cluster { workers { machine: "dgx1-v100" count: 32 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "resnet50_torchvision" batch: 32 }
strategy { algorithm: "nccl" }
run { nccl: RINGS }
)");
  const std::string file = folder.file("a.sweep");
  const std::vector<std::string> request{"sweep", slow, "--over", "strategy.launch_us=1..1000+1",
                                         "--yes", "-o", file};
  test::Process first(request);
  const auto has_a_point = [&] {
    auto store = core::SweepStore::open(file);
    if (!store) return false;
    const auto done = store->done();
    return done && std::find(done->begin(), done->end(), true) != done->end();
  };
  for (int i = 0; i < 3000 && !has_a_point(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Outcome second = run_tutti(request);
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err,
              AllOf(HasSubstr(file), HasSubstr(fmt::format("process {} ", first.id()))));
  first.signal(SIGKILL);
  first.wait();
  EXPECT_EQ(tools::SweepClaim(file).held_by(), 0) << "no file has to be removed by hand";
}

/// The process that has the claim never accepts connections, so its queue fills.
TEST(Sweep, KeepsItsClaimHoweverOftenOthersTry) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.sweep", "");
  const tools::SweepClaim first(file);
  ASSERT_EQ(first.held_by(), 0);
  int not_held = 0;
  for (int i = 0; i < 5000; ++i) not_held += tools::SweepClaim(file).held_by() == 0 ? 1 : 0;
  EXPECT_EQ(not_held, 0);
}

// --- several ranks ---

/// Returns the environment that Open MPI sets for its ranks on one machine.
test::Process::Options ranked(int rank, int size, const TemporaryFolder& folder) {
  test::Process::Options with;
  with.environment = {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                      {"OMPI_COMM_WORLD_SIZE", std::to_string(size)},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(size)},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank)},
                      {"PMIX_NAMESPACE", "sweep"},
                      {"TMPDIR", folder.path()}};
  return with;
}

constexpr const char* kRanked = R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "alexnet_torchvision" batch: 32 }
strategy { algorithm: "ring" }
)";

/// A sweep with four ranks, of which two do not complete it.
class RankedSweep : public testing::Test {
 protected:
  /// Starts the highest rank first.
  void start(const std::vector<std::string>& more) {
    const std::vector<std::string> request{"sweep",  folder_.write("s.textproto", kRanked),
                                           "--over", "strategy.bytes_per_pack=64KiB..64MiB*1.3",
                                           "--over", "strategy.algorithm=ring,nccl,psgpu,rings",
                                           "--over", "strategy.shards=1,2"};
    const auto to = [&](const std::string& name) {
      return test::with(
          request, {"-o", folder_.file(name + ".sweep"), "--csv", folder_.file(name + ".csv")});
    };
    ASSERT_EQ(run_tutti(to("alone")).status, 0);
    constexpr int kSize = 4;
    for (int rank = kSize - 1; rank >= 0; --rank)
      ranks_.emplace_back(test::with(rank == 0 ? to("shared") : request, more),
                          ranked(rank, kSize, folder_));
  }
  /// Sends a signal to the two highest ranks while they work, to one of them at its first point.
  /// The other ranks evaluate the points of these two ranks.
  void signal_two(int signal) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    ranks_[0].signal(signal);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ranks_[1].signal(signal);
    EXPECT_EQ(ranks_[2].wait().status, 0) << ranks_[2].err();
    const Outcome first = ranks_[3].wait();
    ASSERT_EQ(first.status, 0) << first.err;
    EXPECT_EQ(rows(folder_.read("shared.csv")), rows(folder_.read("alone.csv")));
  }

  TemporaryFolder folder_;
  std::vector<test::Process> ranks_;
};

TEST_F(RankedSweep, HasTheSameRowsIfSomeRanksDie) {
  start({});
  signal_two(SIGKILL);
}

/// Stopped ranks keep their connections open.
TEST_F(RankedSweep, HasTheSameRowsIfSomeRanksStop) {
  start({"--timeout-seconds", "3"});
  signal_two(SIGSTOP);
  // When they continue, they find that the sweep has ended, and change nothing.
  for (const int rank : {0, 1}) {
    ranks_[rank].signal(SIGCONT);
    ranks_[rank].signal(SIGTERM);
    ranks_[rank].wait();
  }
  EXPECT_EQ(
      run_tutti({"sweep", folder_.file("shared.sweep"), "--csv", folder_.file("again.csv")}).status,
      0);
  EXPECT_EQ(rows(folder_.read("again.csv")), rows(folder_.read("alone.csv")));
}

TEST(Sweep, RefusesRanksOfAnotherSweep) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", kRanked);
  const std::string other = folder.write("o.textproto", std::string(kRanked) + "run { steps: 2 }");
  const std::vector<std::string> over{"--over", "strategy.bytes_per_pack=64KiB..64MiB*1.3"};
  test::Process first({"sweep", file, over[0], over[1], "-o", folder.file("a.sweep")},
                      ranked(0, 2, folder));
  test::Process second({"sweep", other, over[0], over[1]}, ranked(1, 2, folder));
  const Outcome refused = second.wait();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("rank 0"));
  first.signal(SIGTERM);
  first.wait();
}

}  // namespace
}  // namespace tutti
