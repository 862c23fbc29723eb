// Starting the workers of a run with real processes: by hand, with TF_CONFIG, and with mpirun, srun
// and torchrun. The tests cover addresses, secrets, ranks, errors at the start, and benchmarks over
// several processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "core/timeline/reader.h"
#include "real/join/rendezvous.h"
#include "real/join/socket.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

using Variables = std::map<std::string, std::string>;

const std::string kSecret = "a secret of more than sixteen letters";

TEST(Joining, WorkersComeFromElsewhereAndNeedNoFiles) {
  // The machine and the model are from the library, which the workers do not have.
  ClusterRun run(
      "cluster { workers { machine: \"cpu-host\" count: 3 } network { kind: ONE_SWITCH latency_us: "
      "1 } }\n"
      "workload { model: \"mnist_cnn_tf\" forward_ms: 1 backward_ms: 1 }\nstrategy { algorithm: "
      "\"ring\" }\n"
      "run { steps: 2 }\n");
  for (int i = 0; i < 3; ++i) run.join();
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, says_verified());
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("other machines"))) << "one machine, one clock";
  for (std::size_t i = 0; i < 3; ++i) {
    const Outcome worker = run.worker(i).wait();
    EXPECT_EQ(worker.status, 0) << worker.err;
    EXPECT_EQ(worker.out + worker.err, "") << "only the coordinator reports";
  }
}

TEST(Joining, WorkersMayAskForTheirNumberAndComeInAnyOrder) {
  ClusterRun run(ring_of(3), {}, {{{"TUTTI_SECRET", kSecret}}});
  const Process::Options with{{{"TUTTI_SECRET", kSecret}}};
  run.join({"--worker", "2"}, with);
  run.join({}, with);
  run.join({"--worker", "1"}, with);
  EXPECT_EQ(run.coordinator().wait().status, 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(run.worker(i).wait().status, 0);
}

TEST(Joining, ANumberThatIsTakenOrThatNobodyHasIsRefusedAndTheOthersGoOn) {
  ClusterRun run(ring_of(2));
  const Outcome high = run.join({"--worker", "2"}).wait();
  EXPECT_EQ(high.status, 2);
  EXPECT_THAT(high.err, AllOf(HasSubstr("worker 2"), HasSubstr("2 workers")));
  Process& first = run.join({"--worker", "0"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Outcome twice = run.join({"--worker", "0"}).wait();
  if (twice.status != 0) {  // otherwise it joined first, and the other worker was rejected
    EXPECT_EQ(twice.status, 2);
    EXPECT_THAT(twice.err, HasSubstr("worker 0"));
    run.join();
    EXPECT_EQ(run.coordinator().wait().status, 0);
    EXPECT_EQ(first.wait().status, 0);
  }
}

TEST(Joining, AWorkerThatLeavesBeforeTheRunBeginsMakesRoomForAnother) {
  ClusterRun run(ring_of(2));
  Process& leaves = run.join({"--worker", "1"});
  ASSERT_TRUE(leaves.handles(SIGINT)) << leaves.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  leaves.signal(SIGINT);
  const Outcome left = leaves.wait();
  EXPECT_EQ(left.status, 1);
  EXPECT_THAT(left.err, says_interrupted());
  run.join({"--worker", "1"});
  run.join({"--worker", "0"});
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

/// Returns the number of ports at which the process listens, according to the kernel.
std::size_t listening(pid_t process) {
  std::set<std::string> sockets;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", ignored)) {
    const std::string link = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (link.starts_with("socket:[")) sockets.insert(link.substr(8, link.size() - 9));
  }
  std::ifstream table("/proc/" + std::to_string(process) + "/net/tcp");
  std::size_t found = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::vector<std::string> field;
    for (std::string word; fields >> word;) field.push_back(word);
    if (field.size() > 9 && field[3] == "0A" && sockets.contains(field[9])) ++found;
  }
  return found;
}

TEST(Joining, NobodyListensAnyMoreOnceAllHaveMet) {
  ClusterRun run(long_ring_of(2, 3, 4000));
  EXPECT_EQ(listening(run.coordinator().id()), 1u);
  run.join();
  run.join();
  ASSERT_TRUE(run.is_on()) << run.coordinator().err();
  std::size_t left = 3;
  for (int i = 0; i < 500 && left > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    left = listening(run.coordinator().id()) + listening(run.worker(0).id()) +
           listening(run.worker(1).id());
  }
  EXPECT_EQ(left, 0u);
}

// --- permission to join ---

TEST(JoiningSecret, BeyondThisMachineOnlyWithOne) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", ring_of(2));
  for (const std::string at : {"0.0.0.0:4711", "192.0.2.7:4711"}) {
    expect_refused({"run", file, "--listen", at}, folder, {ProblemCode::kMissing, "--secret-file"});
  }
  const auto needs_a_secret = [](const std::string& at) {
    return AllOf(HasSubstr(at), HasSubstr("--secret-file"));
  };
  expect_refused({"worker", "--join", "192.0.2.7:4711"}, folder, needs_a_secret("192.0.2.7:4711"));
  expect_refused(
      {"worker", "--join", "127.0.0.1:4711", "--listen", "0.0.0.0:0", "--wait-seconds", "1"},
      folder, needs_a_secret("0.0.0.0:0"));
  const Outcome weak =
      Process({"worker", "--join", "192.0.2.7:4711"}, {{{"TUTTI_SECRET", "1234"}}}).wait();
  EXPECT_EQ(weak.status, 2);
  EXPECT_THAT(weak.err, HasSubstr("4 characters"));
}

TEST(JoiningSecret, ComesFromAFileThatNobodyElseReads) {
  const TemporaryFolder folder;
  const std::string secret = folder.write("secret", kSecret + "\n");
  ASSERT_EQ(::chmod(secret.c_str(), 0644), 0);
  expect_refused({"worker", "--join", "127.0.0.1:1", "--secret-file", secret}, folder,
                 HasSubstr(secret));
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  ClusterRun run(ring_of(2), {"--secret-file", secret});
  run.join({"--secret-file", secret});
  run.join({}, {{{"TUTTI_SECRET", kSecret}}});  // the same secret without the newline
  EXPECT_EQ(run.coordinator().wait().status, 0);
  EXPECT_EQ(
      Process({"worker", "--join", "127.0.0.1:1", "--secret-file", folder.write("none", "\n")})
          .wait()
          .status,
      2);
}

TEST(JoiningSecret, WhoHasAnotherIsToldAndWhoeverWaitsLearnsOfIt) {
  ClusterRun run(ring_of(2), {"--wait-seconds", "2"}, {{{"TUTTI_SECRET", kSecret}}});
  for (const Variables& variables : {Variables{{"TUTTI_SECRET", kSecret + "?"}}, Variables{}}) {
    const Outcome worker = run.join({}, {variables}).wait();
    EXPECT_EQ(worker.status, 2);
    EXPECT_THAT(worker.err, AllOf(HasSubstr(run.at()), HasSubstr("a different secret")));
  }
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("workers 0, 1 did not join within "), HasSubstr(run.at()),
                    HasSubstr("2 connections with a wrong secret"), HasSubstr("127.0.0.1)")));
}

// --- variables of launchers, set by hand ---

/// Runs `tutti run` once per rank with the same command, these variables, and the variables of the
/// rank.
struct Launched {
  std::deque<Process> ranks;
  TemporaryFolder folder;

  Launched(int count, const std::string& scenario, const std::function<Variables(int)>& variables,
           const std::vector<std::string>& options = {}, const std::string& command = "run") {
    const std::string file = folder.write("s.textproto", scenario);
    for (int rank = count - 1; rank >= 0; --rank) {  // rank 0 starts last
      Process::Options with{variables(rank)};
      with.environment["TMPDIR"] = folder.path();
      // Only rank 0 has the scenario.
      std::vector<std::string> words{command, rank == 0 ? file : "/nowhere/s.textproto"};
      words.insert(words.end(), options.begin(), options.end());
      ranks.emplace_front(words, with);
    }
  }

  void expect_done() {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const Outcome outcome = ranks[rank].wait();
      EXPECT_EQ(outcome.status, 0) << "rank " << rank << ": " << outcome.err;
      if (rank == 0) {
        EXPECT_THAT(outcome.out, says_verified());
      } else {
        EXPECT_EQ(outcome.out, "");
      }
    }
    EXPECT_THAT(folder.files(), testing::ElementsAre("s.textproto"))
        << "no rendezvous stays behind";
  }
};

Variables open_mpi(int rank, int size) {
  return {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
          {"OMPI_COMM_WORLD_SIZE", std::to_string(size)},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(size)},
          {"PMIX_NAMESPACE", "4711"}};
}

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

TEST(Launchers, SeveralMachinesMeetAtTheAddressTheyAreGiven) {
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

TEST(Launchers, MoreRanksThanWorkersIsOneErrorOnEveryRank) {
  Launched launched(4, ring_of(2), [](int rank) { return open_mpi(rank, 4); });
  for (Process& rank : launched.ranks) {
    const Outcome outcome = rank.wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, says_processes(2, 4));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Launchers, AScenarioThatIsWrongEndsEveryRank) {
  Launched launched(3, "cluster {", [](int rank) { return open_mpi(rank, 3); });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Outcome outcome = launched.ranks[rank].wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, rank == 0 ? HasSubstr("s.textproto:1:") : says_ask_rank_zero());
  }
}

TEST(Launchers, ARankThatNeverComesIsNamed) {
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
TEST(Launchers, ARendezvousOfAnEarlierRunEndsNoLaterOne) {
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

TEST(Launchers, ARendezvousThatIsNotOursIsNotBelieved) {
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

TEST(Launchers, CanBeLeftOutOfIt) {
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

TEST(Launchers, ARankThatDiesIsNamedOnAllAndRankZeroTellsForAll) {
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
  EXPECT_EQ(one.status, 0) << "else its launcher kills rank 0, which has files to end";
}

// --- benchmarks ---

const std::vector<std::string> kThreeSizes{"--backend", "tcp", "-b", "4K", "-e",
                                           "64K",       "-f",  "4",  "-n", "3"};
/// Any row may be followed by a note.
const std::string kThreeRows = "\n +4096 .* 0\n(# .*\n)* +16384 .* 0\n(# .*\n)* +65536 .* 0\n# Out";

void expect_one_table(Launched& launched) {
  for (std::size_t rank = 0; rank < launched.ranks.size(); ++rank) {
    const Outcome outcome = launched.ranks[rank].wait();
    EXPECT_EQ(outcome.status, 0) << "rank " << rank << ": " << outcome.err;
    if (rank == 0) {
      EXPECT_THAT(outcome.out, testing::ContainsRegex(kThreeRows));
      EXPECT_THAT(outcome.out, HasSubstr("workers that joined"));
    } else {
      EXPECT_EQ(outcome.out + outcome.err, "") << rank;
    }
  }
  EXPECT_THAT(launched.folder.files(), testing::ElementsAre("s.textproto"))
      << "no rendezvous stays behind";
}

TEST(Benchmarks, RanksThatWereStartedTogetherMeasureOnceWithAllOfThem) {
  Launched by_file(
      3, ring_of(3), [](int rank) { return open_mpi(rank, 3); }, kThreeSizes, "perf");
  expect_one_table(by_file);
  const std::string port = std::to_string(free_port());
  const auto torchrun = [&](int rank) {
    return Variables{{"RANK", std::to_string(rank)},
                     {"WORLD_SIZE", "2"},
                     {"MASTER_ADDR", "127.0.0.1"},
                     {"MASTER_PORT", port},
                     {"LOCAL_RANK", std::to_string(rank)}};
  };
  Launched by_address(2, ring_of(2), torchrun, kThreeSizes, "perf");
  expect_one_table(by_address);
}

TEST(Benchmarks, WorkersThatJoinByHandStayForAllSizes) {
  ClusterRun run(ring_of(2), kThreeSizes, {}, "perf");
  run.join({"--worker", "1"});
  run.join();
  const Outcome outcome = run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex(kThreeRows));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2)
      << "waits once, and is joined once: " << outcome.err;
  for (std::size_t i = 0; i < 2; ++i) {
    const Outcome worker = run.worker(i).wait();
    EXPECT_EQ(worker.status, 0) << worker.err;
    EXPECT_EQ(worker.out + worker.err, "");
  }
}

TEST(Benchmarks, OfAnotherNumberOfRanksOrAWrongScenarioAreOneErrorOnEveryRank) {
  Launched many(
      4, ring_of(2), [](int rank) { return open_mpi(rank, 4); }, kThreeSizes, "perf");
  for (Process& rank : many.ranks) {
    const Outcome outcome = rank.wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, says_processes(2, 4));
  }
  Launched wrong(
      2, "cluster {", [](int rank) { return open_mpi(rank, 2); }, kThreeSizes, "perf");
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const Outcome outcome = wrong.ranks[rank].wait();
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, rank == 0 ? HasSubstr("s.textproto:1:") : says_ask_rank_zero());
  }
}

TEST(Benchmarks, ARankThatDiesEndsThemAllAndWhatWasMeasuredIsPrinted) {
  // The second size takes minutes.
  const std::vector<std::string> sizes{
      "--backend",      "tcp", "-b", "4", "-e", "16M", "-f", "4194304", "-n", "5000",
      "--wait-seconds", "5"};
  Launched launched(
      3, ring_of(3), [](int rank) { return open_mpi(rank, 3); }, sizes, "perf");
  while (launched.ranks[0].out().find("float") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  launched.ranks[2].signal(SIGKILL);
  const Outcome zero = launched.ranks[0].wait();
  EXPECT_EQ(zero.status, 1);
  EXPECT_THAT(zero.err, HasSubstr("worker 2 ")) << "is gone, or never came again";
  EXPECT_THAT(zero.out, testing::ContainsRegex("\n +4 +1 .* 0\n# Avg"));
  EXPECT_EQ(launched.ranks[1].wait().status, 0) << "else its launcher kills rank 0";
}

TEST(Benchmarks, InterruptedTheyEndOnEveryRank) {
  std::vector<std::string> sizes = kThreeSizes;
  sizes.back() = "1000000";
  Launched launched(
      2, ring_of(2), [](int rank) { return open_mpi(rank, 2); }, sizes, "perf");
  while (launched.folder.files().size() < 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (launched.folder.files().size() > 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  launched.ranks[0].signal(SIGINT);
  EXPECT_EQ(launched.ranks[0].wait().status, 1);
  launched.ranks[1].wait();
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

TEST(RealLaunchers, ControlCOfMpichLeavesAWholeTimeline) {
  interrupt_and_expect_a_timeline({"mpirun.mpich"});
}

TEST(RealLaunchers, ControlCOfOpenMpiLeavesAWholeTimelineIfItIsGivenTime) {
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
