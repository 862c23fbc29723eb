// `tutti perf` over several processes, which a launcher starts or which join by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/tools/cluster_run.h"
#include "tests/tools/launched.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

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

TEST(Benchmarks, LaunchedRanksPrintOneTable) {
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

TEST(Benchmarks, JoinedWorkersMeasureAllSizes) {
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

TEST(Benchmarks, EveryRankReportsAnInvalidRequest) {
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

TEST(Benchmarks, PrintMeasuredSizesWhenARankDies) {
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
  EXPECT_THAT(zero.err, HasSubstr("worker 2 ")) << "has died, or did not reconnect";
  EXPECT_THAT(zero.out, testing::ContainsRegex("\n +4 +1 .* 0\n# Avg"));
  EXPECT_EQ(launched.ranks[1].wait().status, 0) << "otherwise its launcher kills rank 0";
}

TEST(Benchmarks, AnInterruptEndsEveryRank) {
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

}  // namespace
}  // namespace tutti::test
