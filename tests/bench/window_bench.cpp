// The window on a generated timeline of 64 rows: how long it takes to open, and a frame that shows all rows, texts included.
//
//   window_bench                          10 million spans
//   TUTTI_BENCH_SPANS=100000000 window_bench   so many

#include <benchmark/benchmark.h>

#include <QGuiApplication>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/random.h"
#include "core/timeline/writer.h"
#include "gui/model/layout.h"
#include "gui/model/trace.h"
#include "gui/paint/timeline_painter.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::Time;

constexpr int kRows = 64;
constexpr int kWidth = 1920, kHeight = 1400;  // taller than a screen: every row is in view

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
    for (int row = 0; row < kRows; ++row) writer.track({row, core::TrackKind::kLane, 0, "gpu0", 0, row});
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

/// A frame that shows 1/zoom of the run, moved a little each time: all that is repainted when the view moves, but for its
/// way to the screen.
void frame(benchmark::State& state) {
  const Trace& all = trace();
  Layout lines(all);
  lines.open_all(true);
  const Time shown(all.length().count() / state.range(0));
  Time from;
  for (auto _ : state) {
    const Scene scene{all, lines, light_theme(), {from, from + shown}};
    const QImage picture = paint_picture(scene, {kWidth, kHeight}, 1);
    benchmark::DoNotOptimize(picture.constBits());
    from += Time(shown.count() / 37);
    if (from + shown > all.length()) from = Time();
  }
  state.counters["spans in view"] = static_cast<double>(all.spans()) / static_cast<double>(state.range(0));
}
BENCHMARK(frame)->Unit(benchmark::kMillisecond)->RangeMultiplier(10)->Range(1, 100'000)->UseRealTime();

}  // namespace
}  // namespace tutti::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QGuiApplication app(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::temp_directory_path() / "tutti_window_bench.tutti", ignored);
}
