// Measures the instructions of a short all-reduce, without its waiting times. One thread runs all
// workers and their shared memory in turns, so no time passes while a cache line or a process is
// awaited, and the result changes with every added instruction. To find the instructions, run the
// program of tools/bench.sh under valgrind --tool=callgrind --toggle-collect='*::all_reduce(*',
// with --benchmark_filter=OneThread/2/4/

#include <benchmark/benchmark.h>

#include <sys/socket.h>

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "core/algorithm/recursive_doubling.h"
#include "core/algorithm/shuffle.h"
#include "core/base/check.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/shm.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

struct Worker : InterpreterListener {
  Worker(std::unique_ptr<Transport> opened, core::Rank r, std::int64_t elements)
      : transport(std::move(opened)),
        ranks{r},
        data(static_cast<std::size_t>(elements)),
        buffers{reinterpret_cast<std::byte*>(data.data())},
        interpreter(*transport, devices, *this, false) {
    transport->connect(interpreter, devices);
  }
  void rank_done(CollectiveTag, core::Rank) override { --*left; }
  void step_done(const StepDone&) override {}
  void open(CollectiveTag tag, const core::Collective& collective) {
    interpreter.open(tag, collective, Operation::kSum, ranks, buffers);
  }
  void serve() {
    TUTTI_CHECK(transport->poll({}) && interpreter.poll(),
                "the other worker is not what it should be");
  }

  std::unique_ptr<Transport> transport;
  std::vector<core::Rank> ranks;
  std::vector<float> data;
  std::vector<std::byte*> buffers;
  HostDevices devices;
  Interpreter interpreter;
  std::size_t* left = nullptr;  ///< number of workers that have not finished
};

/// Returns one transport per worker, each connected to all other workers.
std::vector<std::unique_ptr<Transport>> transports(int workers) {
  const auto n = static_cast<std::size_t>(workers);
  std::vector<std::vector<int>> sockets(n, std::vector<int>(n, -1));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      int ends[2];
      TUTTI_CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
      sockets[a][b] = ends[0];
      sockets[b][a] = ends[1];
    }
  }
  std::vector<std::int32_t> worker_of(n);
  std::iota(worker_of.begin(), worker_of.end(), 0);
  std::vector<std::unique_ptr<Transport>> opened(n);
  std::vector<std::thread> threads;  // each constructor waits for the others
  for (std::size_t w = 0; w < n; ++w) {
    threads.emplace_back([&, w] {
      auto made = ShmTransport::open(sockets[w], static_cast<std::int32_t>(w), worker_of, {},
                                     {Transport::Clock::now() + std::chrono::seconds(60)});
      TUTTI_CHECK(made, "{}", made.error().message());
      opened[w] = std::move(*made);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return opened;
}

__attribute__((noinline)) void all_reduce(std::vector<std::unique_ptr<Worker>>& workers,
                                          const core::Collective& collective,
                                          std::uint32_t iteration) {
  std::size_t left = workers.size();
  for (const auto& worker : workers) {
    worker->left = &left;
    worker->open({iteration + 1, 0}, collective);
    worker->interpreter.start({iteration, 0}, worker->ranks[0]);
    TUTTI_CHECK(worker->interpreter.poll(), "the schedule cannot be run");
  }
  while (left > 0) {
    for (const auto& worker : workers) worker->serve();
  }
  for (const auto& worker : workers) worker->interpreter.close({iteration, 0});
}

std::unique_ptr<core::Schedule> schedule(bool star, std::int32_t ranks, std::int64_t elements) {
  if (star)
    return core::shuffle_all_reduce(ranks, ranks, {0}, elements, core::Engine::kCpu,
                                    core::Engine::kCpu);
  return core::recursive_doubling_all_reduce(ranks, elements);
}

/// Arguments: the number of ranks, the bytes, and the algorithm (0: recursive doubling, 1: gather
/// and broadcast through rank 0).
void ShortAllReduceInOneThread(benchmark::State& state) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const auto elements = state.range(1) / 4;
  const auto cluster = test::plain_cluster(ranks);
  const core::Collective collective =
      test::on_plain_cluster(*cluster, schedule(state.range(2) == 1, ranks, elements), elements);
  std::vector<std::unique_ptr<Worker>> workers;
  for (auto& transport : transports(ranks)) {
    const auto rank = static_cast<core::Rank>(workers.size());
    workers.push_back(std::make_unique<Worker>(std::move(transport), rank, elements));
  }
  std::uint32_t iteration = 0;
  for (const auto& worker : workers) worker->open({iteration, 0}, collective);
  for (auto _ : state) all_reduce(workers, collective, iteration++);
}
BENCHMARK(ShortAllReduceInOneThread)
    ->Args({2, 4, 0})
    ->Args({2, 256, 0})
    ->Args({8, 4, 0})
    ->Args({8, 4, 1})
    ->Args({8, 256, 1});

}  // namespace
}  // namespace tutti::real
