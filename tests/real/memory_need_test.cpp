// The memory that a run needs on a machine, compared with results computed by hand. A run must not
// start if the memory is not available.

#include "real/worker/memory_need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include <fmt/format.h>

#include "core/timeline/summary.h"
#include "real/coordinator/tcp_executor.h"
#include "real/transport/inbox.h"
#include "real/transport/tcp.h"
#include "real/worker/worker.h"
#include "tests/support/problems.h"

namespace tutti::real {
namespace {

using core::Bytes;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

core::Scenario scenario(const std::string& workers, const std::string& strategy, int steps = 1,
                        const std::string& variables = "variable { name: \"a\" shape: 1000000 }") {
  const std::string text = fmt::format(
      "cluster {{ {} network {{ kind: ONE_SWITCH latency_us: 1 }} machine {{ name: \"m\" "
      "device {{ name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 100 }} device {{ name: \"cpu0\" "
      "kind: CPU "
      "memory_gb_per_s: 50 }} nic {{ name: \"nic0\" bandwidth_gb_per_s: 10 }} switch {{ name: "
      "\"plx\" kind: "
      "PCIE_SWITCH }} link {{ from: \"gpu[0-1]\" to: \"plx\" kind: PCIE bandwidth_gb_per_s: 10 "
      "latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"cpu0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
      "link {{ from: \"plx\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }} "
      "workload {{ {} forward_ms: 1 backward_ms: 1 }} strategy {{ {} }} run {{ steps: {} }}",
      workers, variables, strategy, steps);
  auto read =
      core::read_scenario(text, "s.textproto", core::Library(std::vector<core::Library::File>()));
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return std::move(*read);
}

const std::string kThree = "workers { machine: \"m\" count: 3 }";

TEST(MemoryNeed, EveryReplicaHoldsThePacksOfAllStepsAtOnce) {
  const core::Scenario one_step = scenario(kThree, "algorithm: \"ring\"");
  EXPECT_EQ(memory_need(one_step, 0, {}).buffers, Bytes(2 * 4'000'000));
  const core::Scenario ten = scenario(kThree, "algorithm: \"ring\"", 10);
  MemoryOptions options;
  options.steps_at_once = 4;
  EXPECT_EQ(memory_need(ten, 2, options).buffers, Bytes(4 * 2 * 4'000'000));
  options.steps_at_once = 16;
  EXPECT_EQ(memory_need(ten, 2, options).buffers, Bytes(10 * 2 * 4'000'000))
      << "no more steps than the run has";
  options.loop = true;
  EXPECT_EQ(memory_need(ten, 2, options).buffers, Bytes(2 * 4'000'000))
      << "a benchmark has one set";
}

TEST(MemoryNeed, ReducingRanksNeedABufferForReceivedData) {
  // Worker 0's CPU gathers the gradients of all six replicas.
  const core::Scenario star = scenario(kThree, "algorithm: \"pscpu\"");
  EXPECT_EQ(memory_need(star, 0, {}).buffers, Bytes((2 + 7) * 4'000'000));
  EXPECT_EQ(memory_need(star, 1, {}).buffers, Bytes(2 * 4'000'000));
}

TEST(MemoryNeed, AsynchronousServersNeedTwoCopiesAndABufferPerRequest) {
  const core::Scenario servers = scenario(
      "workers { machine: \"m\" count: 3 replicas: 1 } workers { machine: \"m\" server: true }",
      "tensorflow { parameter_server { } }");
  const Bytes variable(4'000'000);
  EXPECT_EQ(memory_need(servers, 3, {}).buffers, variable * (2 + 3 * 3))
      << "a push has room for the data that is sent with it";
}

TEST(MemoryNeed, BuffersOnGpusNeedHostCopiesOfOnePackAtATime) {
  const core::Scenario ring =
      scenario(kThree, "algorithm: \"ring\"", 1,
               "variable { name: \"a\" shape: 1000000 } variable { name: \"b\" shape: 10 }");
  MemoryOptions options;
  options.backend = Backend::kCuda;
  const MemoryNeed need = memory_need(ring, 0, options);
  EXPECT_EQ(need.buffers, Bytes());
  EXPECT_EQ(need.copies, Bytes((1 + 2) * 4'000'000))
      << "an input, and the results of both replicas";
  options.verify = false;
  EXPECT_EQ(memory_need(ring, 0, options).copies, Bytes(4'000'000));
  EXPECT_EQ(memory_need(ring, 0, {}).copies, Bytes()) << "the host reads its own memory";
  // The partial sums of pscpu are on the CPU, wherever the gradients are.
  EXPECT_EQ(memory_need(scenario(kThree, "algorithm: \"pscpu\""), 0, options).buffers,
            Bytes(7 * 4'000'000));
}

TEST(MemoryNeed, IncludesBuffersOfConnectionsAndSharedMemory) {
  const core::Scenario ring = scenario(kThree, "algorithm: \"ring\"");
  MemoryOptions options;
  options.streams = 4;
  EXPECT_EQ(memory_need(ring, 0, options).transport,
            Bytes(2 * 4 * static_cast<std::int64_t>(kReadBufferBytes)));
  options.shared_memory = true;
  EXPECT_EQ(
      memory_need(ring, 0, options).transport,
      Bytes(2 * static_cast<std::int64_t>(kLineBytes) + static_cast<std::int64_t>(kPayloadBytes)));
}

TEST(MemoryNeed, StepsAtOnceFitIntoTwoGibibytes) {
  const core::Scenario ring = scenario(kThree, "algorithm: \"ring\"", 100);
  EXPECT_EQ(steps_at_once(ring, 3), 16);
  EXPECT_EQ(steps_at_once(ring, 40), 6) << "2 GiB / (40 workers · 2 replicas · 4 MB)";
  EXPECT_EQ(steps_at_once(ring, 4000), 1);
}

TEST(MemoryNeed, WarnsIfThePeakMayNotFit) {
  const MemoryNeed need{Bytes(6'000'000'000), Bytes(), Bytes(), Bytes(500'000'000)};
  const auto with = [&](std::optional<std::uint64_t> free) {
    return memory_warning(need, [free] { return free; });
  };
  EXPECT_EQ(with(8'450'000'000), "");
  EXPECT_EQ(with(std::nullopt), "");
  EXPECT_EQ(memory_warning(need, {}), "");
  EXPECT_EQ(with(8'449'999'999),
            "the run needs at least 6.50 GB of memory on this machine, and up to 8.45 GB if "
            "messages arrive before they are expected, but only 8.45 GB are free");
}

TEST(MemoryNeed, RefusesRunsThatDoNotFitWithTheNeedAndARemedy) {
  const core::Scenario ring = scenario(kThree, "algorithm: \"ring\"");
  const MemoryNeed need{Bytes(6'000'000'000), Bytes(), Bytes(), Bytes(500'000'000)};
  const auto with = [&](std::optional<std::uint64_t> free) {
    return check_memory(ring, need, 3, [free] { return free; });
  };
  EXPECT_TRUE(with(6'500'000'000));
  EXPECT_TRUE(with(std::nullopt));
  EXPECT_TRUE(check_memory(ring, need, 3, {}));
  const auto refused = with(6'499'999'999);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), core::ErrorKind::kRequest);
  EXPECT_EQ(
      refused.error().message(),
      "s.textproto: the run needs 6.50 GB of memory on this machine for 3 workers (6.00 GB "
      "of this for buffers of gradients and partial sums), but only 6.50 GB are free, which is "
      "enough for about 2 of the workers; use --ranks 4, a smaller model, or more machines "
      "(--listen)");
  const auto too_large_for_one = with(1'000'000'000);
  ASSERT_FALSE(too_large_for_one);
  EXPECT_THAT(too_large_for_one.error().message(), Not(HasSubstr("enough for")));
  EXPECT_THAT(too_large_for_one.error().message(), HasSubstr("; use fewer replicas or workers, "));
}

TEST(MemoryNeed, StartsNoProcessWithoutEnoughMemory) {
  TcpExecutorOptions options;
  options.program = "/no/such/program";
  const core::Scenario ring = scenario(kThree, "algorithm: \"ring\"");
  core::Summary summary;
  options.free_memory = [] { return std::optional<std::uint64_t>(30'000'000); };
  const auto refused = TcpExecutor(options).run(ring, {}, {}, summary);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), core::ErrorKind::kRequest);
  EXPECT_THAT(refused, test::FailsWith(test::Mistake{core::ProblemCode::kTooLarge, "Cluster"}));
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("3 workers"), HasSubstr("30.0 MB")));
  options.free_memory = [] { return std::optional<std::uint64_t>(3'000'000'000); };
  const auto started = TcpExecutor(options).run(ring, {}, {}, summary);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind(), core::ErrorKind::kRun);
}

TEST(MemoryNeed, AJoiningWorkerChecksTheMemoryOfItsMachine) {
  const core::Scenario ring =
      scenario("workers { machine: \"m\" count: 2 }", "algorithm: \"ring\"");
  std::promise<Address> listens;
  const std::shared_future<Address> at = listens.get_future().share();
  std::vector<std::thread> workers;
  for (std::int32_t w = 0; w < 2; ++w) {
    workers.emplace_back([&, w] {
      WorkerJoin join;
      join.where = [at] { return Appointment{at.get(), "the secret of this test"}; };
      join.worker = w;
      if (w == 1) join.free_memory = [] { return std::optional<std::uint64_t>(20'000'000); };
      const WorkerEnd end = work(join);
      EXPECT_FALSE(end.done);
    });
  }
  TcpExecutorOptions options;
  options.gathering.secret = "the secret of this test";
  options.gathering.spawn = Gathering::Spawn::kNone;
  options.gathering.announce = [&](const Address& address) {
    return listens.set_value(address), core::Expected<void>();
  };
  core::Summary summary;
  const auto done = TcpExecutor(options).run(ring, {}, {}, summary);
  for (std::thread& worker : workers) worker.join();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), AllOf(HasSubstr("worker 1"), HasSubstr("20.0 MB")));
}

}  // namespace
}  // namespace tutti::real
