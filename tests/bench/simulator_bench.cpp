// Measures how fast the simulator advances virtual time. tools/bench.sh runs these benchmarks.

#include <benchmark/benchmark.h>

#include <sys/resource.h>

#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/custom/custom_algorithm.h"
#include "sim/collectives/collective_run.h"
#include "sim/engine/event_queue.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

void run(benchmark::State& state, const core::Collective& collective, core::NetworkModel model,
         bool causal_chain) {
  std::int64_t events = 0;
  for (auto _ : state) {
    const sim::CollectiveRun result = sim::run_alone(collective, model, {}, causal_chain);
    benchmark::DoNotOptimize(result.end);
    events += result.events;
  }
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

/// All-reduces 256 MiB with a ring, as in the common scenario of all compared simulators
/// (docs/validation.md).
void Ring(benchmark::State& state, core::NetworkModel model, bool causal_chain) {
  const int ranks = static_cast<int>(state.range(0));
  const auto cluster = test::plain_cluster(ranks);
  const std::int64_t elements = std::int64_t{64} << 20;
  run(state, test::on_plain_cluster(*cluster, core::ring_all_reduce(ranks, elements), elements),
      model, causal_chain);
}
BENCHMARK_CAPTURE(Ring, fifo, core::NetworkModel::kFifo, false)
    ->Arg(8)
    ->Arg(64)
    ->Arg(256)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Ring, fifo_with_critical_path, core::NetworkModel::kFifo, true)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Ring, ideal, core::NetworkModel::kIdeal, false)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);

std::shared_ptr<const core::Schedule> ring_of_file(int ranks, std::int64_t elements) {
  core::Problems problems;
  const auto text =
      core::read_text_file(test::source_folder() + "/scenarios/algorithms/ring.tutti-algorithm");
  const auto algorithm =
      core::read_algorithm(*text, "ring", problems)->for_shape({ranks, 1, 0}, {}, problems);
  return algorithm->schedule(elements, 0, core::Engine::kKernel);
}

/// All-reduces 256 MiB with a ring, in the setting in which LogGOPSim, ASTRA-sim and SimGrid were
/// measured: links of 25 GB/s and 1 us, free additions, every message simulated, nothing recorded.
/// `staggered`: ranks start up to 2 ms apart. `file`: uses the ring of scenarios/algorithms instead
/// of the built-in one. Reports messages per second of CPU time, and the peak memory of the
/// process.
void PeersRing(benchmark::State& state, bool staggered, bool file) {
  const int ranks = static_cast<int>(state.range(0));
  test::PlainRates rates;
  rates.link = core::Bandwidth(25'000'000'000);
  rates.latency = core::microseconds(1);
  rates.reduce = core::Bandwidth(0);
  const auto cluster = test::plain_cluster(ranks, rates);
  const std::int64_t elements = std::int64_t{64} << 20;
  const core::Collective collective = test::on_plain_cluster(
      *cluster, file ? ring_of_file(ranks, elements) : core::ring_all_reduce(ranks, elements),
      elements);
  std::vector<core::Time> start;
  for (int r = 0; staggered && r < ranks; ++r)
    start.push_back(core::microseconds(1 + r * std::int64_t{7919} % 2000));
  double messages = 0;
  for (auto _ : state) {
    const sim::CollectiveRun result =
        sim::run_alone(collective, core::NetworkModel::kFifo, start, false);
    benchmark::DoNotOptimize(result.end);
    messages += 2.0 * ranks * (ranks - 1);
  }
  state.counters["messages"] = benchmark::Counter(messages, benchmark::Counter::kIsRate);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1000;
}
BENCHMARK_CAPTURE(PeersRing, in_lock_step, false, false)
    ->Arg(64)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PeersRing, staggered, true, false)
    ->Arg(64)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PeersRing, of_a_file_in_lock_step, false, true)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PeersRing, of_a_file_staggered, true, true)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);

/// Pops and pushes an event while the given number of events wait, which is the "hold model" for
/// comparing event queues. All events have the same time, or they are spread over 2 ms.
template <class Queue>
void hold(benchmark::State& state, bool staggered) {
  core::Random random(1);
  Queue queue;
  std::uint64_t order = 0;
  const auto push = [&](core::Time now) {
    const auto ahead =
        staggered ? static_cast<std::int64_t>(random.below(2'000'000'000)) : 1'000'000;
    queue.push({now + core::Time(1 + ahead), ++order, sim::EventKind::kArrive, 0, 0});
  };
  for (int i = 0; i < state.range(0); ++i) push(core::Time());
  for (auto _ : state) push(queue.pop().time);
}
void HoldQueue(benchmark::State& state, bool staggered) { hold<sim::EventQueue>(state, staggered); }
void HoldHeap(benchmark::State& state, bool staggered) { hold<sim::EventHeap>(state, staggered); }
BENCHMARK_CAPTURE(HoldQueue, in_lock_step, false)->Arg(64)->Arg(4096)->Arg(65'536);
BENCHMARK_CAPTURE(HoldHeap, in_lock_step, false)->Arg(64)->Arg(4096)->Arg(65'536);
BENCHMARK_CAPTURE(HoldQueue, staggered, true)->Arg(64)->Arg(4096)->Arg(65'536);
BENCHMARK_CAPTURE(HoldHeap, staggered, true)->Arg(64)->Arg(4096)->Arg(65'536);

/// Every rank sends to every server at the same time, so that messages queue at the ports.
void ParameterServers(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const auto cluster = test::plain_cluster(ranks);
  const std::int64_t elements = 16 << 20;
  std::vector<core::Rank> servers;
  for (int r = 0; r < ranks; ++r) servers.push_back(r);
  run(state,
      test::on_plain_cluster(*cluster,
                             core::shuffle_all_reduce(ranks, ranks, servers, elements,
                                                      core::Engine::kCpu, core::Engine::kCpu),
                             elements),
      core::NetworkModel::kFifo, false);
}
BENCHMARK(ParameterServers)->Arg(16)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tutti
