// Runs whose coordinator is killed by SIGKILL, which it cannot handle. The coordinator's timeline
// must be readable, and its workers must end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/base/random.h"
#include "core/timeline/reader.h"
#include "real/coordinator/children.h"
#include "tests/support/process.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

using core::TimelineReader;

/// Waits until `there` returns true. Returns false if it never does. No run lasts that long.
template <class There>
bool wait_until(There there) {
  for (int i = 0; i < 3000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (there()) return true;
  }
  return false;
}

/// Returns the processes that have `setting` in their environment.
std::vector<int> processes_with(const std::string& setting) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "environ");
    // Reads through the stream, because an istreambuf_iterator throws if a process ends while its
    // file is read.
    std::ostringstream read;
    read << file.rdbuf();
    if (read.str().find(setting) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

// --- the timeline ---

std::size_t steps_in(const std::string& file) {
  const auto read = TimelineReader::open(file);
  return read ? read->steps().size() : 0;
}

/// The run has ten steps per second and would last a hundred seconds.
TEST(Killed, AKilledCoordinatorKeepsTheCompletedSteps) {
  const TemporaryFolder folder;
  const std::string part = folder.file("t.tutti.part");
  ClusterRun run(long_ring_of(2, 1000, 100), {"--timeline", folder.file("t.tutti")});
  run.join();
  run.join();
  ASSERT_TRUE(run.is_on()) << run.coordinator().err();
  ASSERT_TRUE(wait_until([&] { return steps_in(part) >= 5; })) << "it is written while it runs";
  run.coordinator().signal(SIGKILL);
  run.coordinator().wait();
  const auto left = TimelineReader::open(part);
  ASSERT_TRUE(left) << left.error().message();
  EXPECT_GE(left->steps().size(), 5u);
  EXPECT_LT(left->steps().size(), 1000u);
  EXPECT_GE(left->packs().size(), left->steps().size());
  EXPECT_FALSE(left->span_blocks().empty());
  EXPECT_THAT(left->damage(), says_cut_off());
  for (std::size_t i = 0; i < left->steps().size(); ++i) {
    const core::StepRecord& step = left->steps()[i];
    EXPECT_EQ(step.step, static_cast<std::int32_t>(i));
    EXPECT_EQ(step.start, i == 0 ? core::Time() : left->steps()[i - 1].end);
  }
}

/// A batch has sixteen steps, and workers normally report it at its end.
TEST(Killed, AKilledCoordinatorKeepsLongStepsOfAnUnfinishedBatch) {
  const TemporaryFolder folder;
  const std::string part = folder.file("t.tutti.part");
  ClusterRun run(long_ring_of(2, 16, 2000), {"--timeline", folder.file("t.tutti")});
  run.join();
  run.join();
  ASSERT_TRUE(run.is_on()) << run.coordinator().err();
  ASSERT_TRUE(wait_until([&] { return steps_in(part) > 0; }));
  run.coordinator().signal(SIGKILL);
  run.coordinator().wait();
  EXPECT_LT(steps_in(part), 16u);
}

// --- children ---

/// The parent has ended before the child could request to be notified of that.
TEST(Killed, ChildrenEndWhenTheirParentDies) {
  Process other({"--version"});
  const std::string gone = std::to_string(other.id());
  other.wait();
  Process child({"worker", "--join", "127.0.0.1:1", "--worker", "0", "--child-of", gone});
  const Outcome outcome = child.wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "") << "it would report a missing reply after a minute";
}

/// The coordinator starts a worker, and has ended before the worker starts to run.
TEST(Killed, AChildThatStartsAfterItsParentHasDiedEndsAtOnce) {
  const TemporaryFolder folder;
  const std::string slow =
      folder.write("slow", "#!/bin/sh\nsleep 0.3\nexec '" + tutti_program() + "' \"$@\"\n");
  std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
  const std::string marker = "TUTTI_TEST_RUN=" + folder.path();
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::putenv(const_cast<char*>(marker.c_str()));
    real::Children children;
    real::ChildOrder order;
    order.program = slow;
    order.join = {"127.0.0.1", 1};
    ::_exit(children.start(order) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_EQ(status, 0);
  // A worker whose coordinator does not answer tries for a minute. The test stops waiting before
  // that.
  const auto began = std::chrono::steady_clock::now();
  bool gone = false;
  while (!gone && std::chrono::steady_clock::now() - began < std::chrono::seconds(40)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gone = processes_with(marker).empty();
  }
  for (const int id : processes_with(marker)) ::kill(id, SIGKILL);
  EXPECT_TRUE(gone);
}

/// The coordinator may be starting its workers, waiting for them, or sending their orders.
TEST(Killed, AKilledCoordinatorLeavesNoWorkersAtAnyTime) {
  core::Random random(7);
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", long_ring_of(4, 3, 60'000));
  const std::string quick = folder.write("q.textproto", ring_of(4));
  const std::vector<std::vector<std::string>> commands{
      {"run", file}, {"perf", quick, "--backend", "tcp", "-e", "64M"}};
  for (int kill = 0; kill < 40; ++kill) {
    const std::string marker = folder.path() + "/" + std::to_string(kill);
    Process coordinator(commands[kill % 2], {.environment = {{"TUTTI_TEST_RUN", marker}}});
    const std::string setting = "TUTTI_TEST_RUN=" + marker + std::string(1, '\0');
    // Some runs are killed as soon as there is a worker, others later.
    ASSERT_TRUE(wait_until([&] { return processes_with(setting).size() > 1; }))
        << coordinator.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(random.below(kill < 20 ? 3 : 60)));
    coordinator.signal(SIGKILL);
    coordinator.wait();
    const auto began = std::chrono::steady_clock::now();
    bool gone = false;
    while (!gone && std::chrono::steady_clock::now() - began < std::chrono::seconds(40)) {
      gone = processes_with(setting).empty();
      if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (const int id : processes_with(setting)) ::kill(id, SIGKILL);
    ASSERT_TRUE(gone) << "run " << kill;
  }
}

}  // namespace
}  // namespace tutti::test
