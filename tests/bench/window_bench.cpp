// The window on a generated timeline of 64 rows: how long it takes to open, and a frame of it at 1920×1080.
//
//   window_bench                          10 million spans
//   TUTTI_BENCH_SPANS=100000000 window_bench   so many

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/random.h"
#include "core/timeline/writer.h"
#include "gui/model/trace.h"
#include "gui/paint/row_raster.h"
#include "gui/paint/theme.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::Time;

constexpr int kRows = 64;
constexpr int kWidth = 1920, kRowHeight = 16;

std::int64_t spans_wanted() {
  const char* const wanted = std::getenv("TUTTI_BENCH_SPANS");
  return wanted ? std::atoll(wanted) : 10'000'000;
}

/// Lane steps of about a microsecond with gaps between, written once.
const std::string& file() {
  static const std::string path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "tutti_window_bench.tutti").string();
    std::ofstream out(name, std::ios::binary);
    core::TimelineWriter writer(out);
    core::RunInfo run;
    run.scenario = "benchmark";
    writer.begin(run);
    core::Random random(1);
    const std::int64_t each = spans_wanted() / kRows;
    for (int row = 0; row < kRows; ++row)
      writer.track({row, core::TrackKind::kLane, row / 8, "gpu" + std::to_string(row % 8), 0, 0});
    for (int row = 0; row < kRows; ++row) {
      Time at;
      for (std::int64_t i = 0; i < each; ++i) {
        Span span;
        span.start = at;
        span.duration = Time(200'000 + static_cast<std::int64_t>(random.below(1'600'000)));
        span.kind = 1 + static_cast<std::int32_t>(random.below(7));
        span.pack = static_cast<std::int32_t>(i / 1000 % 50);
        span.index = i % 1000;
        span.bytes = core::Bytes(65'536);
        writer.span(row, span);
        at = span.start + span.duration + Time(static_cast<std::int64_t>(random.below(400'000)));
      }
    }
    core::StepRecord step;
    step.end = Time(each * 1'200'000);
    writer.step(step);
    writer.end();
    return name;
  }();
  return path;
}

const Trace& trace() {
  static const auto opened = *Trace::open(file());
  return *opened;
}

void open_timeline(benchmark::State& state) {
  file();
  std::size_t memory = 0;
  std::int64_t spans = 0;
  for (auto _ : state) {
    const auto opened = Trace::open(file());
    memory = (*opened)->memory();
    spans = (*opened)->spans();
  }
  state.counters["MB"] = static_cast<double>(memory) / 1e6;
  state.counters["spans"] = static_cast<double>(spans);
}
BENCHMARK(open_timeline)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A frame that shows 1/zoom of the run, moved a little each time.
void frame(benchmark::State& state) {
  const Trace& all = trace();
  std::vector<Pixel> pixels(static_cast<std::size_t>(kWidth) * kRows * kRowHeight);
  std::vector<Column> columns(kWidth);
  const Time shown(all.length().count() / state.range(0));
  Time from;
  for (auto _ : state) {
    std::fill(pixels.begin(), pixels.end(), light_theme().background);
    for (std::size_t r = 0; r < all.rows().size(); ++r) {
      columns_of(all.rows()[r].spans, {from, from + shown}, columns);
      draw_columns(columns, light_theme().spans, pixels.data() + r * kRowHeight * kWidth, kWidth, kRowHeight);
    }
    benchmark::DoNotOptimize(pixels.data());
    from += Time(shown.count() / 37);
    if (from + shown > all.length()) from = Time();
  }
  state.counters["spans in view"] = static_cast<double>(all.spans()) / static_cast<double>(state.range(0));
}
BENCHMARK(frame)->Unit(benchmark::kMillisecond)->RangeMultiplier(10)->Range(1, 100'000)->UseRealTime();

}  // namespace
}  // namespace tutti::gui

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::temp_directory_path() / "tutti_window_bench.tutti", ignored);
}
