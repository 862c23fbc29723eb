// Runs whose processes a launcher starts: TF_CONFIG, mpirun, srun and torchrun. Most tests set the
// variables of the launcher by hand; those of the suite RealLaunchers run the launcher.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "core/timeline/reader.h"
#include "real/join/rendezvous.h"
#include "real/join/socket.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/launched.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

const std::string kSecret = "a secret of more than sixteen letters";

TEST(Launchers, OpenMpi) {
  Launched(3, ring_of(3), [](int rank) { return open_mpi(rank, 3); }).expect_done();
}

TEST(Launchers, Mpich) {
  Launched(3, ring_of(3), [](int rank) {
    return Variables{
        {"PMI_RANK", std::to_string(rank)}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}};
  }).expect_done();
}

TEST(Launchers, Slurm) {
  Launched(3, ring_of(3), [](int rank) {
    return Variables{{"SLURM_PROCID", std::to_string(rank)},
                     {"SLURM_NTASKS", "3"},
                     {"SLURM_NNODES", "1"},
                     {"SLURM_JOB_ID", "77"},
                     {"SLURM_STEP_ID", "0"},
                     {"SLURM_NODELIST", "n1"},
                     {"SLURM_LAUNCH_NODE_IPADDR", "192.0.2.1"}};
  }).expect_done();
}

TEST(Launchers, Torchrun) {
  const std::string port = std::to_string(free_port());
  Launched(2, ring_of(2), [&](int rank) {
    return Variables{{"RANK", std::to_string(rank)},
                     {"WORLD_SIZE", "2"},
                     {"MASTER_ADDR", "127.0.0.1"},
                     {"MASTER_PORT", port},
                     {"LOCAL_RANK", std::to_string(rank)}};
  }).expect_done();
}

TEST(Launchers, TfConfig) {
  const int port = free_port();
  Launched(3, ring_of(3), [&](int rank) {
    const std::string task = rank == 0 ? R"("type": "chief", "index": 0)"
                                       : fmt::format(R"("type": "worker", "index": {})", rank - 1);
    return Variables{
        {"TF_CONFIG",
         fmt::format(R"({{"cluster": {{"chief": ["127.0.0.1:{}"], "worker": ["127.0.0.1:1", )"
                     R"("127.0.0.1:2"]}}, "task": {{{}}}}})",
                     port, task)}};
  }).expect_done();
}

TEST(Launchers, SeveralMachinesNeedARendezvousAddress) {
  const std::string at = fmt::format("127.0.0.1:{}", free_port());
  const auto variables = [](int rank) {
    Variables set = open_mpi(rank, 2);
    set["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
    return set;
  };
  Launched(2, ring_of(2), variables, {"--rendezvous", at}).expect_done();
  Launched nowhere(2, ring_of(2), variables);
  for (Process& rank : nowhere.ranks) {
    const Outcome outcome = rank.wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("openmpi"), HasSubstr("--rendezvous")));
  }
}

TEST(Launchers, EveryRankReportsTooManyRanks) {
  Launched launched(4, ring_of(2), [](int rank) { return open_mpi(rank, 4); });
  for (Process& rank : launched.ranks) {
    const Outcome outcome = rank.wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, says_processes(2, 4));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Launchers, AnInvalidScenarioEndsEveryRank) {
  Launched launched(3, "cluster {", [](int rank) { return open_mpi(rank, 3); });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Outcome outcome = launched.ranks[rank].wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, rank == 0 ? HasSubstr("s.textproto:1:") : says_ask_rank_zero());
  }
}

TEST(Launchers, AWorkerOfALauncherReportsACoordinatorWithoutLauncher) {
  ClusterRun run(ring_of(2));
  const Outcome worker = Process({"worker", "--rendezvous", run.at()}, {open_mpi(1, 3)}).wait();
  EXPECT_EQ(worker.status, 2);
  EXPECT_THAT(worker.err,
              AllOf(HasSubstr("one of 3 processes, but no launcher started the coordinator; "),
                    HasSubstr("--join")));
  run.join();
  run.join();
  EXPECT_EQ(run.coordinator().wait().status, 0);
}

TEST(Launchers, NamesARankThatDoesNotJoin) {
  const TemporaryFolder folder;
  Process::Options with{open_mpi(0, 2)};
  with.environment["TMPDIR"] = folder.path();
  const Outcome alone =
      Process({"run", folder.write("s.textproto", ring_of(2)), "--wait-seconds", "1"}, with).wait();
  EXPECT_EQ(alone.status, 1);
  EXPECT_THAT(alone.err,
              AllOf(HasSubstr("worker 1 did not join within "), HasSubstr("127.0.0.1:")));
  with.environment["OMPI_COMM_WORLD_RANK"] = "1";
  const Outcome lost =
      Process({"run", folder.file("s.textproto"), "--wait-seconds", "1"}, with).wait();
  EXPECT_EQ(lost.status, 1);
  EXPECT_THAT(lost.err, says_no_rendezvous());
  EXPECT_THAT(folder.files(), testing::ElementsAre("s.textproto"));
}

/// A killed run leaves a rendezvous file with its address. By now a different run, which rejects
/// the worker, or another program may listen at this address.
TEST(Launchers, IgnoresTheRendezvousOfAnEarlierRun) {
  for (const bool is_a_run : {true, false}) {
    ClusterRun other(ring_of(2), {}, {{{"TUTTI_SECRET", kSecret}}});
    auto stranger = real::Listener::open({"127.0.0.1", 0});
    ASSERT_TRUE(stranger);
    std::atomic<bool> over{false};
    std::thread answers([&] {
      while (!over) {
        if (auto guest = stranger->accept())
          static_cast<void>(::send(guest->get(), std::string(200, 'x').data(), 200, MSG_NOSIGNAL));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    const std::string at = is_a_run ? other.at() : to_string(stranger->address());
    const TemporaryFolder folder;
    const std::string stale = real::rendezvous_path(folder.path(), "4711");
    const std::string name = stale.substr(folder.path().size() + 1);
    static_cast<void>(folder.write(
        name, "tutti rendezvous 1\n" + at + "\nanother secret of an earlier run\nend\n"));
    ASSERT_EQ(::chmod(stale.c_str(), 0600), 0);
    const std::string file = folder.write("s.textproto", ring_of(2));
    Process::Options late{open_mpi(1, 2)}, first{open_mpi(0, 2)};
    late.environment["TMPDIR"] = first.environment["TMPDIR"] = folder.path();
    Process rank_1({"run", file}, late);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));  // the worker has read the old one
    Process rank_0({"run", file}, first);
    const Outcome outcome = rank_0.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(rank_1.wait().status, 0) << rank_1.err();
    over = true;
    answers.join();
  }
}

TEST(Launchers, RefusesARendezvousThatOthersCanRead) {
  const TemporaryFolder folder;
  Process::Options with{open_mpi(1, 2)};
  with.environment["TMPDIR"] = folder.path();
  const std::string path = folder.write(fmt::format("tutti-{}-openmpi-4711", ::geteuid()),
                                        "tutti rendezvous 1\n127.0.0.1:1\nsecret\nend\n");
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const Outcome outcome = Process({"run", "s", "--wait-seconds", "1"}, with).wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, says_no_rendezvous()) << "others could have read it";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_THAT(Process({"run", "s", "--wait-seconds", "1"}, with).wait().err,
              HasSubstr("127.0.0.1:1"));
}

TEST(Launchers, AreIgnoredOnRequest) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", ring_of(2));
  const Outcome alone = Process({"run", file, "--launcher", "none"}, {open_mpi(1, 8)}).wait();
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("processes of this machine"));
  const Outcome missing = Process({"run", file, "--launcher", "torchrun"}, {open_mpi(1, 8)}).wait();
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("MASTER_ADDR"));
  expect_refused({"run", file, "--launcher", "ssh"}, folder,
                 {ProblemCode::kUnknownName, "--launcher"});
  const Outcome zero = Process({"worker"}, {open_mpi(0, 8)}).wait();
  EXPECT_EQ(zero.status, 2);
  EXPECT_THAT(zero.err, HasSubstr("rank 0"));
  expect_refused({"worker"}, folder, HasSubstr("--join"));
  expect_refused({"run", file, "--rendezvous", "/tmp"}, folder,
                 {ProblemCode::kUnused, "--rendezvous"});
  expect_refused({"run", file, "--listen", "4711"}, folder, {ProblemCode::kSyntax, "--listen"});
  expect_refused({"run", file, "--wait-seconds", "0"}, folder,
                 {ProblemCode::kTooSmall, "--wait-seconds"});
}

TEST(Launchers, EveryRankNamesARankThatDies) {
  Launched launched(3, long_ring_of(3), [](int rank) { return open_mpi(rank, 3); });
  // The rendezvous file is removed when all workers have joined.
  while (launched.folder.files().size() < 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (launched.folder.files().size() > 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  launched.ranks[2].signal(SIGKILL);
  const Outcome zero = launched.ranks[0].wait();
  EXPECT_EQ(zero.status, 1);
  EXPECT_THAT(zero.err, says_gone(2));
  const Outcome one = launched.ranks[1].wait();
  EXPECT_THAT(one.err, says_the_run_failed(says_gone(2)));
  EXPECT_EQ(one.status, 0) << "otherwise its launcher kills rank 0, which still writes files";
}

// --- the launchers themselves ---

Outcome launch(std::vector<std::string> launcher, const std::string& scenario,
               const std::string& command = "run", const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  launcher.insert(launcher.end(),
                  {tutti_program(), command, folder.write("s.textproto", scenario)});
  launcher.insert(launcher.end(), options.begin(), options.end());
  return Process::of(launcher, {{{"TMPDIR", folder.path()}}}).wait();
}

TEST(RealLaunchers, MpirunOfOpenMpi) {
  if (!have_program("mpirun.openmpi"))
    GTEST_SKIP() << "mpirun.openmpi is not installed (openmpi-bin)";
  const std::vector<std::string> mpirun{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
                                        "-n"};
  const auto ranks = [&](const char* n) {
    auto words = mpirun;
    words.emplace_back(n);
    return words;
  };
  const Outcome done = launch(ranks("4"), ring_of(4));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, says_verified());
  const Outcome table = launch(ranks("4"), ring_of(4), "perf", kThreeSizes);
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, testing::ContainsRegex(kThreeRows));
  EXPECT_EQ(table.out.find("# Avg"), table.out.rfind("# Avg"))
      << "one \"Avg bus bandwidth\": " << table.out;
  const Outcome few = launch(ranks("3"), ring_of(4));
  EXPECT_EQ(few.status, 2);
  EXPECT_THAT(few.err, says_processes(4, 3));
}

void interrupt_and_expect_a_timeline(std::vector<std::string> mpirun) {
  if (!have_program(mpirun[0])) GTEST_SKIP() << mpirun[0] << " is not installed";
  const TemporaryFolder folder;
  mpirun.insert(mpirun.end(), {"-n", "3", tutti_program(), "run",
                               folder.write("s.textproto", ring_of(3, 100'000)), "--timeline",
                               folder.file("t.tutti")});
  // On a busy machine, the first step may take a while. Before it ends, there is no timeline to
  // keep.
  for (const int wait_ms : {1500, 6000, 20'000}) {
    Process run = Process::of(mpirun, {{{"TMPDIR", folder.path()}}});
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    run.signal(SIGINT);
    run.wait();  // the launcher determines the status
    if (std::filesystem::exists(folder.file("t.tutti"))) break;
  }
  const auto timeline = core::TimelineReader::open(folder.file("t.tutti"));
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->complete());
  EXPECT_GE(timeline->steps().size(), 1u);
}

TEST(RealLaunchers, MpichKeepsTheTimelineAfterControlC) {
  interrupt_and_expect_a_timeline({"mpirun.mpich"});
}

TEST(RealLaunchers, OpenMpiKeepsTheTimelineAfterControlC) {
  interrupt_and_expect_a_timeline({"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
                                   "--mca", "odls_base_sigkill_timeout", "3"});
}

TEST(RealLaunchers, MpirunOfMpich) {
  if (!have_program("mpirun.mpich")) GTEST_SKIP() << "mpirun.mpich is not installed (mpich)";
  const Outcome done = launch({"mpirun.mpich", "-n", "4"}, ring_of(4));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, says_verified());
  const Outcome many = launch({"mpirun.mpich", "-n", "5"}, ring_of(4));
  EXPECT_EQ(many.status, 2);
  EXPECT_THAT(many.err, says_processes(4, 5));
}

}  // namespace
}  // namespace tutti::test
