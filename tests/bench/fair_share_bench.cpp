// Measures how fast max-min fair rates are computed as flows start and end. tools/bench.sh runs
// these benchmarks.

#include <benchmark/benchmark.h>

#include "tests/support/fair_flows.h"

namespace tutti {
namespace {

/// Every worker pushes to each of 32 servers, over links and with sizes that differ: 8,192 flows
/// for 256 workers, 16,384 flows for 512. SimGrid 3.32 needs 15.3 and 79.6 CPU seconds
/// (docs/performance.md).
void HeterogeneousPush(benchmark::State& state) {
  const test::FairFlows flows = test::heterogeneous_push(static_cast<int>(state.range(0)), 32);
  for (auto _ : state) benchmark::DoNotOptimize(test::ends_by_fair_share(flows));
  state.counters["flows"] = benchmark::Counter(
      static_cast<double>(flows.flows.size() * state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(HeterogeneousPush)->Arg(64)->Arg(256)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tutti
