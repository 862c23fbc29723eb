// What holds for every transport between workers.

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/algorithm/ring.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/interpreter.h"
#include "real/perf_loop.h"
#include "tests/real/mesh.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::DataType;
using core::Rank;

class CountDone : public InterpreterListener {
 public:
  void rank_done(CollectiveTag, Rank) override { ++done; }
  void step_done(const StepDone&) override {}
  int done = 0;
};

double input(Rank rank, std::int64_t element) {
  return static_cast<double>(rank + 1) * 0.5 + static_cast<double>(element % 97);
}

/// One worker's part of a collective, in a thread of its own.
void run_worker(const core::Collective& collective, std::int32_t worker, const std::string& name,
                std::vector<int> sockets, std::atomic<int>& wrong, std::atomic<int>& left) {
  const std::vector<std::int32_t> worker_of = workers_of(collective);
  const std::unique_ptr<Transport> opened = transport_named(name, std::move(sockets), worker, worker_of);
  if (!opened) return;
  Transport& transport = *opened;
  CountDone done;
  HostDevices devices;
  Interpreter interpreter(transport, devices, done, false);
  transport.connect(interpreter, devices);
  std::vector<Rank> ranks;
  std::vector<std::vector<std::byte>> data;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
    if (worker_of[static_cast<std::size_t>(r)] != worker) continue;
    ranks.push_back(r);
    data.emplace_back(r < collective.contributors ? static_cast<std::size_t>(collective.bytes().count()) : 0);
    if (r >= collective.contributors) continue;
    for (std::int64_t e = 0; e < collective.elements; ++e)
      set_element(collective.type, data.back().data(), e, input(r, e));
  }
  std::vector<std::byte*> buffers;
  for (std::vector<std::byte>& d : data) buffers.push_back(d.data());
  interpreter.open({0, 0}, collective, Operation::kSum, ranks, buffers);
  for (const Rank r : ranks) interpreter.start({0, 0}, r);
  bool told = false;
  while (left > 0) {  // until everybody is through: others may still need what is queued here
    interpreter.run_ready();
    const auto moved = transport.poll(Transport::Clock::now() + std::chrono::milliseconds(5));
    if (!moved) {
      if (left > 0) ADD_FAILURE() << "worker " << worker << ": " << moved.error().message();
      break;
    }
    if (!told && done.done == static_cast<int>(ranks.size()) && transport.flushed()) {
      told = true;
      --left;
    }
  }
  for (std::size_t i = 0; i < ranks.size() && ranks[i] < collective.contributors; ++i) {
    for (std::int64_t e = 0; e < collective.elements; ++e) {
      double sum = 0;
      for (Rank r = 0; r < collective.contributors; ++r) sum += input(r, e);
      if (element_at(collective.type, data[i].data(), e) != sum) ++wrong;
    }
  }
}

void all_reduce(const core::Collective& collective, const std::string& name, int workers, const std::string& what) {
  std::atomic<int> wrong = 0;
  std::atomic<int> left = workers;
  std::vector<std::vector<int>> sockets = mesh(workers);
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back(
        [&, w] { run_worker(collective, w, name, sockets[static_cast<std::size_t>(w)], wrong, left); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << what;
}

class Transports : public testing::TestWithParam<std::string> {};

TEST_P(Transports, EveryAlgorithmBetweenWorkersAndInsideThem) {
  for (const auto& [workers, gpus] : std::vector<std::pair<int, int>>{{2, 1}, {3, 1}, {2, 2}, {4, 2}}) {
    const core::Cluster cluster({{test::switch_machine(gpus), workers}}, gpus,
                                core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"});
    for (const std::string& algorithm : core::algorithm_names()) {
      const core::Strategy strategy = core::Strategy::for_algorithm(*core::parse_algorithm(algorithm));
      if (!core::problems_of(strategy, cluster).empty()) continue;
      for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{1009}, std::int64_t{300'007}}) {
        all_reduce(core::make_all_reduce(cluster, strategy, DataType::kFloat64, elements, 0), GetParam(), workers,
                   fmt::format("{} on {} x {}, {} elements", algorithm, workers, gpus, elements));
      }
    }
  }
}

TEST_P(Transports, AFullSocketOrRingIsNoEndOfIt) {
  const auto cluster = test::plain_cluster(2);
  const std::int64_t elements = 8 << 20;  // 64 MB, far beyond any socket's buffer
  all_reduce(test::on_plain_cluster(*cluster, core::ring_all_reduce(2, elements), elements, DataType::kFloat64),
             GetParam(), 2, "ring");
}

/// Workers may be an iteration apart; every one is on the buffers that the one before left.
TEST_P(Transports, IterationsBackToBackAreRight) {
  const core::Library library(".");
  for (const char* const strategy :
       {"algorithm: \"ring\"", "algorithm: \"recursive_doubling\"", "algorithm: \"pscpu\" shards: 3"}) {
    const std::string text = fmt::format(
        "cluster {{ workers {{ machine: \"m\" count: 4 }} network {{ kind: ONE_SWITCH latency_us: 1 }} machine {{ "
        "name: "
        "\"m\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: \"nic0\" bandwidth_gb_per_s: 10 "
        "}} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }}\n"
        "workload {{ variable {{ name: \"a\" shape: 20011 }} }} strategy {{ {} }} run {{ steps: 1 }}",
        strategy);
    const auto scenario = core::read_scenario(text, "s.textproto", library);
    ASSERT_TRUE(scenario) << scenario.error().message();
    std::vector<std::vector<int>> sockets = mesh(4);
    std::atomic<int> left = 4;
    std::vector<std::thread> threads;
    for (int w = 0; w < 4; ++w) {
      threads.emplace_back([&, w] {
        const core::Collective& collective = scenario->plan.packs.front().collective;
        const auto transport =
            transport_named(GetParam(), sockets[static_cast<std::size_t>(w)], w, workers_of(collective));
        if (!transport) return;
        HostDevices devices;
        WorkerOptions options;
        options.timeout = std::chrono::seconds(20);
        PerfLoop loop(*scenario, w, *transport, devices, options, {50, 7});
        transport->connect(loop.receiver(), devices);
        const auto done = loop.run([] { return true; });
        EXPECT_TRUE(done) << (done ? "" : done.error().message());
        EXPECT_EQ(done ? done->packs.size() : 0, 1u);
        EXPECT_TRUE(loop.flush());
        --left;
        while (left > 0 && loop.serve(Transport::Clock::now() + std::chrono::milliseconds(5))) {
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_P(Transports, APeerThatIsGoneIsAnErrorForWhoSleeps) {
  const auto cluster = test::plain_cluster(2);
  const core::Collective collective = test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 100), 100);
  auto [ours, theirs] = connected();
  std::thread other([&, socket = theirs] {
    const auto transport = transport_named(GetParam(), {socket, -1}, 1, {0, 1});
  });
  const auto transport = transport_named(GetParam(), {-1, ours}, 0, {0, 1});
  ASSERT_TRUE(transport);
  other.join();
  CountDone done;
  HostDevices devices;
  Interpreter interpreter(*transport, devices, done, false);
  transport->connect(interpreter, devices);
  core::Expected<void> result;
  for (int i = 0; i < 100 && result; ++i)
    result = transport->poll(Transport::Clock::now() + std::chrono::milliseconds(100));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("worker 1 has closed its connection"), std::string::npos)
      << result.error().message();
}

INSTANTIATE_TEST_SUITE_P(All, Transports, testing::Values("tcp", "shm"), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tutti::real
