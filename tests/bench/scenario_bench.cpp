// Measures complete predictions: reading a shipped scenario and simulating it.

#include <benchmark/benchmark.h>

#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

core::Expected<core::Scenario> load(const std::string& name) {
  const std::string folder = test::source_folder() + "/scenarios";
  return core::load_scenario(folder + "/" + name + ".textproto", core::Library(folder));
}

void LoadScenario(benchmark::State& state, const char* name) {
  for (auto _ : state) benchmark::DoNotOptimize(load(name));
}
BENCHMARK_CAPTURE(LoadScenario, resnet50_nccl, "06_resnet50_nccl")->Unit(benchmark::kMillisecond);

void Simulate(benchmark::State& state, const char* name) {
  const auto scenario = load(name);
  for (auto _ : state) {
    core::Summary summary;
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    static_cast<void>(sim::Simulator().run(*scenario, record, {}, summary));
    benchmark::DoNotOptimize(summary.step_time());
  }
  state.SetItemsProcessed(state.iterations() * scenario->run.steps);
}
BENCHMARK_CAPTURE(Simulate, resnet50_ring, "04_resnet50_ring")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, resnet50_pscpu, "05_resnet50_pscpu")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, resnet50_nccl, "06_resnet50_nccl")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tutti
