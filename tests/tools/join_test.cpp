// Workers that join a run by hand: addresses, numbers of workers, and secrets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "tests/tools/cluster_run.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

using Variables = std::map<std::string, std::string>;

const std::string kSecret = "a secret of more than sixteen letters";

TEST(Joining, WorkersNeedNoFiles) {
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

TEST(Joining, WorkersMayRequestTheirNumberAndJoinInAnyOrder) {
  ClusterRun run(ring_of(3), {}, {{{"TUTTI_SECRET", kSecret}}});
  const Process::Options with{{{"TUTTI_SECRET", kSecret}}};
  run.join({"--worker", "2"}, with);
  run.join({}, with);
  run.join({"--worker", "1"}, with);
  EXPECT_EQ(run.coordinator().wait().status, 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(run.worker(i).wait().status, 0);
}

TEST(Joining, RefusesNumbersThatAreTakenOrDoNotExist) {
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

TEST(Joining, AnotherWorkerReplacesOneThatLeavesBeforeTheRun) {
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

TEST(Joining, AllPortsAreClosedAfterAllHaveJoined) {
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

TEST(JoiningSecret, IsRequiredBeyondThisMachine) {
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

TEST(JoiningSecret, RefusesFilesThatOtherUsersCanRead) {
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

TEST(JoiningSecret, BothSidesReportAWrongSecret) {
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

}  // namespace
}  // namespace tutti::test
