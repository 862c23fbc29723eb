// Properties of every transport between workers (TCP, shared memory): all collectives are right,
// with many ranks, large messages and repeated iterations.

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "core/algorithm/ring.h"
#include "core/scenario/scenario.h"
#include "real/interpreter/interpreter.h"
#include "real/interpreter/verify.h"
#include "real/worker/perf_loop.h"
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

/// Runs one worker's part of a collective, in its own thread.
void run_worker(const core::Collective& collective, Operation operation, std::int32_t worker,
                const std::string& name, std::vector<int> sockets, std::atomic<int>& wrong,
                std::atomic<int>& left) {
  const std::vector<std::int32_t> worker_of = workers_of(collective);
  const std::unique_ptr<Transport> opened =
      transport_named(name, std::move(sockets), worker, worker_of);
  if (!opened) return;
  Transport& transport = *opened;
  CountDone done;
  HostDevices devices;
  Interpreter interpreter(transport, devices, done, false);
  transport.connect(interpreter, devices);
  const Reduced reduced{collective.type, operation, 99,
                        static_cast<std::int32_t>(collective.contributors), 1};
  std::vector<Rank> ranks;
  std::vector<std::vector<std::byte>> data;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
    if (worker_of[r] != worker) continue;
    ranks.push_back(r);
    data.emplace_back(r < collective.contributors
                          ? static_cast<std::size_t>(collective.buffer_bytes().count())
                          : 0);
    if (r < collective.contributors)
      fill_inputs(reduced, collective.contract(), r, data.back().data());
  }
  std::vector<std::byte*> buffers;
  for (std::vector<std::byte>& d : data) buffers.push_back(d.data());
  interpreter.open({0, 0}, collective, operation, ranks, buffers);
  for (const Rank r : ranks) interpreter.start({0, 0}, r);
  bool reported = false;
  while (left > 0) {  // others may still need data that is queued here
    interpreter.run_ready();
    const auto moved = transport.poll(Transport::Clock::now() + std::chrono::milliseconds(5));
    if (!moved) {
      if (left > 0) ADD_FAILURE() << "worker " << worker << ": " << moved.error().message();
      break;
    }
    if (!reported && done.done == static_cast<int>(ranks.size()) && transport.flushed()) {
      reported = true;
      --left;
    }
  }
  std::vector<Rank> replicas;
  std::vector<const std::byte*> results;
  for (std::size_t i = 0; i < ranks.size() && ranks[i] < collective.contributors; ++i) {
    replicas.push_back(ranks[i]);
    results.push_back(data[i].data());
  }
  if (find_wrong_element(reduced, collective.contract(), replicas, results)) ++wrong;
}

/// Closes the sockets so that their ports are free immediately instead of after a minute, because
/// thousands of connections would exhaust them. Unread data is lost, but all workers have finished.
void close_without_waiting(const std::vector<std::vector<int>>& sockets) {
  const linger at_once{1, 0};
  for (const std::vector<int>& of_worker : sockets) {
    for (const int socket : of_worker) {
      if (socket < 0) continue;
      EXPECT_EQ(::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    }
  }
}

void execute_points(const core::Collective& collective, Operation operation,
                    const std::string& name, int workers, const std::string& what) {
  std::atomic<int> wrong = 0;
  std::atomic<int> left = workers;
  std::vector<std::vector<int>> sockets = mesh(workers, streams_of(name));
  close_without_waiting(sockets);
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back(
        [&, w] { run_worker(collective, operation, w, name, sockets[w], wrong, left); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << what << ": so many workers' results are";
}

/// The number of workers, and of GPUs per worker.
struct Shape {
  int workers = 1;
  int gpus = 1;
};
constexpr Shape kShapes[] = {{1, 4}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1},
                             {7, 1}, {8, 1}, {2, 2}, {3, 2}, {4, 2}, {2, 4},
                             {1, 2}, {1, 3}, {1, 5}, {1, 6}, {1, 7}, {1, 8}};
/// The largest size has several pieces. With many ranks, a smaller one is used.
constexpr std::int64_t kSizes[] = {0, 1, 1009, 300'007};
constexpr std::int64_t kLargeForMany = 60'013;

struct Case {
  core::AlgorithmChoice algorithm{};
  std::int64_t elements = 0;
  DataType type{};
  Operation operation{};
};

core::Cluster cluster_of(const Shape& shape) {
  return {{{test::switch_machine(shape.gpus), shape.workers}},
          shape.gpus,
          core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"}};
}

/// Returns every algorithm that the shape supports, with every size. Types and operations take
/// turns, so that each of them is used.
std::vector<Case> cases_on(std::size_t shape) {
  std::vector<Case> cases;
  const core::Cluster cluster = cluster_of(kShapes[shape]);
  const std::vector<core::AlgorithmChoice> algorithms = core::algorithms();
  for (std::size_t number = 0; number < algorithms.size(); ++number) {
    const core::AlgorithmChoice algorithm = algorithms[number];
    if (!core::problems_of(core::Strategy::for_algorithm(algorithm), cluster).empty()) continue;
    for (std::size_t size = 0; size < std::size(kSizes); ++size) {
      const std::size_t turn = shape + 2 * size + number;
      const bool many = kShapes[shape].workers * kShapes[shape].gpus > 4;
      cases.push_back({algorithm, many ? std::min(kSizes[size], kLargeForMany) : kSizes[size],
                       core::kDataTypes[turn % std::size(core::kDataTypes)],
                       static_cast<Operation>((turn + turn / 6) % kOperations)});
    }
  }
  return cases;
}

TEST(EveryAlgorithmBetween, ShapesTogetherCoverEveryTypeAndOperation) {
  std::map<core::AlgorithmChoice, std::set<DataType>> types;
  std::map<core::AlgorithmChoice, std::set<Operation>> operations;
  std::map<core::AlgorithmChoice, std::set<std::int64_t>> sizes;
  for (std::size_t shape = 0; shape < std::size(kShapes); ++shape) {
    for (const Case& c : cases_on(shape)) {
      sizes[c.algorithm].insert(c.elements);
      if (c.elements < 1000) continue;
      types[c.algorithm].insert(c.type);
      operations[c.algorithm].insert(c.operation);
    }
  }
  for (const core::AlgorithmChoice algorithm : core::algorithms()) {
    EXPECT_EQ(types[algorithm].size(), std::size(core::kDataTypes)) << core::to_string(algorithm);
    EXPECT_EQ(operations[algorithm].size(), static_cast<std::size_t>(kOperations))
        << core::to_string(algorithm);
    EXPECT_EQ(sizes[algorithm].size(), std::size(kSizes) + 1) << core::to_string(algorithm);
  }
}

class EveryAlgorithm : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(EveryAlgorithm, GivesTheCorrectResult) {
  const auto& [transport, place] = GetParam();
  const Shape shape = kShapes[place];
  const core::Cluster cluster = cluster_of(shape);
  for (const Case& c : cases_on(place)) {
    const core::Strategy strategy = core::Strategy::for_algorithm(c.algorithm);
    execute_points(core::make_all_reduce(cluster, strategy, c.type, c.elements, 0), c.operation,
                   transport, shape.workers,
                   fmt::format("{} on {} x {}, {} elements of {}, operation {}",
                               core::to_string(c.algorithm), shape.workers, shape.gpus, c.elements,
                               core::to_string(c.type), static_cast<int>(c.operation)));
  }
}

/// Tests all other collectives of the algorithms, in place and out of place, and all-reduces out of
/// place. Types take turns.
TEST_P(EveryAlgorithm, HasItsOtherCollectivesRight) {
  const auto& [transport, place] = GetParam();
  const Shape shape = kShapes[place];
  const core::Cluster cluster = cluster_of(shape);
  const std::int64_t ranks = std::int64_t{shape.workers} * shape.gpus;
  std::size_t turn = place;
  for (const core::AlgorithmChoice algorithm : core::algorithms()) {
    for (const core::CollectiveKind kind : core::collective_kinds()) {
      for (const bool out_of_place : {false, true}) {
        core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
        strategy.collective = kind;
        strategy.out_of_place = out_of_place;
        strategy.root = static_cast<Rank>(turn % static_cast<std::size_t>(ranks));
        if (kind == core::CollectiveKind::kAllReduce && !out_of_place) continue;
        if (!core::problems_of(strategy, cluster).empty()) continue;
        for (const std::int64_t most :
             {std::int64_t{1}, std::int64_t{1009}, std::int64_t{60'013}}) {
          const std::int64_t elements = (most + ranks - 1) / ranks * ranks;
          const DataType type = core::kDataTypes[++turn % std::size(core::kDataTypes)];
          execute_points(core::make_collective(cluster, strategy, type, elements, 0),
                         Operation::kSum, transport, shape.workers,
                         fmt::format("{} by {} on {} x {}, {} elements of {}, root {}, {}",
                                     core::to_string(kind), core::to_string(algorithm),
                                     shape.workers, shape.gpus, elements, core::to_string(type),
                                     strategy.root, out_of_place ? "out of place" : "in place"));
        }
      }
    }
  }
}

std::string as_identifier(std::string name) {
  std::erase(name, ' ');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Transports, EveryAlgorithm,
                         testing::Combine(testing::Values("tcp", "tcp 3", "tcp codes", "tcp tls",
                                                          "shm"),
                                          testing::Range(std::size_t{0}, std::size(kShapes))),
                         [](const auto& each) {
                           const Shape& shape = kShapes[std::get<1>(each.param)];
                           return fmt::format("{}_{}x{}", as_identifier(std::get<0>(each.param)),
                                              shape.workers, shape.gpus);
                         });

class Transports : public testing::TestWithParam<std::string> {};

TEST_P(Transports, FullSocketsAndRingsDoNotBlockForever) {
  const auto cluster = test::plain_cluster(2);
  const std::int64_t elements = 8 << 20;  // 64 MB, much more than any socket's buffer
  execute_points(test::on_plain_cluster(*cluster, core::ring_all_reduce(2, elements), elements,
                                        DataType::kFloat64),
                 Operation::kSum, GetParam(), 2, "ring");
}

/// Workers may be one iteration apart. Each iteration uses the buffers that the previous one has
/// left.
TEST_P(Transports, ConsecutiveIterationsGiveTheCorrectResult) {
  const core::Library library(".");
  for (const char* const strategy :
       {"algorithm: \"ring\"", "algorithm: \"recursive_doubling\"",
        "algorithm: \"pscpu\" shards: 3", "algorithm: \"ring\" out_of_place: true",
        "algorithm: \"ring\" collective: REDUCE_SCATTER",
        "algorithm: \"halving_doubling\" collective: ALL_GATHER",
        "algorithm: \"pscpu\" collective: ALL_TO_ALL out_of_place: true",
        // In these collectives, some ranks may be ahead of others by as much data as the transport
        // can hold.
        "algorithm: \"ring\" collective: BROADCAST root: 2",
        "algorithm: \"recursive_doubling\" collective: BROADCAST",
        "algorithm: \"pscpu\" collective: BROADCAST",
        "algorithm: \"ring\" collective: REDUCE root: 1",
        "algorithm: \"pscpu\" collective: GATHER out_of_place: true",
        "algorithm: \"halving_doubling\" collective: SCATTER root: 3",
        "algorithm: \"ring\" collective: SEND_RECEIVE out_of_place: true"}) {
    const std::string text = fmt::format(
        "cluster {{ workers {{ machine: \"m\" count: 4 }} network {{ kind: ONE_SWITCH latency_us: "
        "1 }} machine {{ "
        "name: "
        "\"m\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: \"nic0\" "
        "bandwidth_gb_per_s: 10 "
        "}} link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} "
        "}} }}\n"
        "workload {{ variable {{ name: \"a\" shape: 20012 }} }} strategy {{ {} }} run {{ steps: 1 "
        "}}",
        strategy);
    const auto scenario = core::read_scenario(text, "s.textproto", library);
    ASSERT_TRUE(scenario) << scenario.error().message();
    std::vector<std::vector<int>> sockets = mesh(4, streams_of(GetParam()));
    std::atomic<int> left = 4;
    std::vector<std::thread> threads;
    for (int w = 0; w < 4; ++w) {
      threads.emplace_back([&, w] {
        const core::Collective& collective =
            scenario->plan.collective(scenario->plan.packs.front());
        const auto transport = transport_named(GetParam(), sockets[w], w, workers_of(collective));
        if (!transport) return;
        HostDevices devices;
        WorkerOptions options;
        options.timeout = std::chrono::seconds(20);
        PerfLoop loop(*scenario, w, *transport, devices, options, {50, 7});
        transport->connect(loop.receiver(), devices);
        const auto done = loop.run([] { return true; });
        EXPECT_TRUE(done) << (done ? "" : done.error().message());
        EXPECT_EQ(done ? done->packs.size() : 0, 1u);
        EXPECT_EQ(done ? done->recorded.size() : 0, 1u) << "of its rank, by its own clock";
        if (done && done->recorded.size() == 1) {
          const core::Span& span = done->recorded[0].spans.at(0);
          EXPECT_EQ(span.start, stamp(done->packs[0].first_start));
          EXPECT_EQ(span.start + span.duration, stamp(done->packs[0].end));
        }
        EXPECT_TRUE(loop.flush());
        --left;
        while (left > 0 && loop.serve(Transport::Clock::now() + std::chrono::milliseconds(5))) {
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_P(Transports, SleepingPeersNoticeALostPeer) {
  const auto cluster = test::plain_cluster(2);
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 100), 100);
  std::vector<std::vector<int>> sockets = mesh(2, streams_of(GetParam()));
  std::thread other([&] {
    const auto transport = transport_named(GetParam(), sockets[1], 1, {0, 1});
  });
  const auto transport = transport_named(GetParam(), sockets[0], 0, {0, 1});
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
  EXPECT_NE(result.error().message().find("worker 1 "), std::string::npos)
      << result.error().message();
}

INSTANTIATE_TEST_SUITE_P(All, Transports,
                         testing::Values("tcp", "tcp 3", "tcp codes", "tcp tls", "shm"),
                         [](const auto& each) { return as_identifier(each.param); });

}  // namespace
}  // namespace tutti::real
