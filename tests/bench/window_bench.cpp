// Measures the window with a generated timeline of lanes that receive from each other in a ring:
// how long it takes to open, and how long one frame of the timeline takes while the user moves
// through it, with texts, names and axis. frame/ZOOM/HEIGHT shows 1/ZOOM of the run. A height of
// 1080 is a typical screen; at 1400 every row is visible. first_picture and whole_window measure
// the main window with all of its panels.
//
//   window_bench                                                      10 million spans on 64 rows
//   TUTTI_BENCH_SPANS=100000000 window_bench                          100 million spans
//   TUTTI_BENCH_SPANS=12000000 TUTTI_BENCH_ROWS=2863 window_bench     as many rows as a large run

#include <benchmark/benchmark.h>

#include <QApplication>
#include <QElapsedTimer>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "core/base/random.h"
#include "core/schedule/step.h"
#include "core/timeline/writer.h"
#include "gui/paint/row_raster.h"
#include "gui/paint/timeline_painter.h"
#include "gui/topology/traffic_reader.h"
#include "gui/trace/communication.h"
#include "gui/trace/layout.h"
#include "gui/trace/trace.h"
#include "gui/traffic/traffic.h"
#include "gui/widgets/timeline_view.h"
#include "gui/window/main_window.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::Time;

constexpr int kWidth = 1920;

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted ? std::atoll(wanted) : otherwise;
}
std::int64_t spans_wanted() { return number_of("TUTTI_BENCH_SPANS", 10'000'000); }
int rows_wanted() { return static_cast<int>(number_of("TUTTI_BENCH_ROWS", 64)); }

/// Writes lane steps of about a microsecond, with gaps between them.
void write(std::ostream& out) {
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.scenario = "benchmark";
  writer.begin(run);
  core::Random random(1);
  const int rows = rows_wanted();
  const std::int64_t each = spans_wanted() / rows;
  // Few rows are lanes of one device; otherwise a worker has 8 devices with 8 lanes each.
  const bool many = rows > 64;
  for (int row = 0; row < rows; ++row)
    writer.track({row, core::TrackKind::kLane, many ? row / 64 : 0,
                  "gpu" + std::to_string(many ? row / 8 % 8 : 0), 0, many ? row % 8 : row});
  for (int row = 0; row < rows; ++row) {
    Time at;
    for (std::int64_t i = 0; i < each; ++i) {
      Span span;
      span.start = at;
      span.duration = Time(200'000 + static_cast<std::int64_t>(random.below(1'600'000)));
      span.kind = 1 + static_cast<std::int32_t>(random.below(7));
      span.pack = static_cast<std::int32_t>(i / 1000 % 50);
      span.index = i % 1000;
      span.bytes = core::Bytes(65'536);
      if (many && core::receives(static_cast<core::StepKind>(span.kind))) {
        span.peer = (row + 8) % rows;
        span.peer_index = span.index;
        span.wait = Time(span.duration.count() / 3);
      }
      writer.span(row, span);
      at = span.start + span.duration + Time(static_cast<std::int64_t>(random.below(400'000)));
    }
  }
  core::StepRecord step;
  step.end = Time(each * 1'200'000);
  writer.step(step);
  writer.end();
}

/// Returns the path of a timeline that is written once, and deleted when the program ends.
const std::string& file() {
  struct File {
    std::string name =
        (std::filesystem::temp_directory_path() / "tutti_window_bench.tutti").string();
    File() {
      std::ofstream out(name, std::ios::binary);
      write(out);
    }
    ~File() {
      std::error_code ignored;
      std::filesystem::remove(name, ignored);
    }
  };
  static const File written;
  return written.name;
}

const std::shared_ptr<const Trace>& trace() {
  static const std::shared_ptr<const Trace> opened = *Trace::open(file());
  return opened;
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
BENCHMARK(open_timeline)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

/// Iterates over ranges that show 1/zoom of the run. Each range is shifted slightly from the one
/// before.
class Pan {
 public:
  explicit Pan(std::int64_t zoom) : length_(trace()->length()), shown_(length_.count() / zoom) {}
  TimeRange next() {
    const TimeRange range{from_, from_ + shown_};
    from_ += Time(shown_.count() / 37);
    if (from_ + shown_ > length_) from_ = Time();
    return range;
  }

 private:
  Time length_, shown_, from_;
};

const std::vector<std::int64_t> kZooms{1, 10, 100, 1000, 10'000, 100'000}, kHeights{1080, 1400};

void count(benchmark::State& state) {
  state.counters["spans"] =
      static_cast<double>(trace()->spans()) / static_cast<double>(state.range(0));
}

/// Measures all work from a key that moves the view to the new picture in the window's memory. Only
/// the transfer to the screen is not included.
void frame(benchmark::State& state) {
  TimelineView view;
  view.resize(kWidth, static_cast<int>(state.range(1)));
  view.show();
  view.show_trace(trace());
  view.open_all();
  QApplication::processEvents();  // a window that is not exposed paints nothing
  Pan pan(state.range(0));
  for (auto _ : state) {
    view.glide_to(pan.next());
    view.repaint();
  }
  count(state);
}
BENCHMARK(frame)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({kZooms, kHeights})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

/// Opens the timeline in a main window of 1920×1080, and returns when the timeline is open, before
/// it is painted.
std::unique_ptr<MainWindow> open_window() {
  auto window = std::make_unique<MainWindow>();
  window->resize(kWidth, 1080);
  window->show();
  QApplication::processEvents();
  bool open = false;
  QObject::connect(window.get(), &MainWindow::opened, [&] { open = true; });
  window->open(QString::fromStdString(file()));
  while (!open) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  return window;
}

/// Measures the time from an open file to the first picture of the whole window. The counter
/// `cpu_ms` is the processor time of all threads, which other programs do not change.
void first_picture(benchmark::State& state) {
  file();
  double cpu = 0;
  for (auto _ : state) {
    const auto window = open_window();
    QElapsedTimer timer;
    timer.start();
    const std::clock_t began = std::clock();
    QApplication::processEvents();
    window->timeline().repaint();
    cpu += static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC * 1000;
    state.SetIterationTime(static_cast<double>(timer.nsecsElapsed()) / 1e9);
  }
  state.counters["cpu_ms"] = benchmark::Counter(cpu, benchmark::Counter::kAvgIterations);
}
BENCHMARK(first_picture)->Unit(benchmark::kMillisecond)->UseManualTime();

/// Measures a frame of the whole window while the view moves: the timeline, the overview, and what
/// the other panels do in the thread of the user interface.
void whole_window(benchmark::State& state) {
  const auto window = open_window();
  window->timeline().open_all();
  window->traffic().wait();
  QApplication::processEvents();
  Pan pan(state.range(0));
  for (auto _ : state) {
    window->timeline().glide_to(pan.next());
    QApplication::processEvents();
  }
  count(state);
}
BENCHMARK(whole_window)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({kZooms})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

/// Measures a part of frame(): spans, groups and loads as pixels, without texts, names and axis.
void lines(benchmark::State& state) {
  Layout layout(*trace());
  layout.open_all(true);
  const QRect rect = lines_rect({kWidth, static_cast<int>(state.range(1))});
  Pan pan(state.range(0));
  QImage image;
  for (auto _ : state)
    image =
        paint_lines({*trace(), layout, light_theme(), pan.next()}, rect.size(), 1, std::move(image))
            .image;
  count(state);
}
BENCHMARK(lines)->Unit(benchmark::kMillisecond)->ArgsProduct({kZooms, {1400}})->UseRealTime();

/// Measures a part of frame(): finding what each pixel of all rows shows, on one core.
void columns(benchmark::State& state) {
  Pan pan(state.range(0));
  for (auto _ : state) {
    RowRaster raster(pan.next(), kWidth - Scene::kGutter);
    for (const Trace::Row& row : trace()->rows())
      benchmark::DoNotOptimize(raster.columns_of(row.spans).data());
  }
  count(state);
}
BENCHMARK(columns)->Unit(benchmark::kMillisecond)->ArgsProduct({kZooms})->UseRealTime();

/// Measures the communication matrix of the whole run, which a thread of the window computes.
void matrix(benchmark::State& state) {
  const TimeRange all{Time(), trace()->length() + Time(1)};
  for (auto _ : state) benchmark::DoNotOptimize(communication_of(*trace(), all));
}
BENCHMARK(matrix)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Measures how long a thread of the window needs until messages can be followed. The counter `MB`
/// is the memory in addition to the trace.
void follow_messages(benchmark::State& state) {
  std::size_t memory = 0;
  for (auto _ : state) memory = (*Traffic::read(*trace()))->memory();
  state.counters["MB"] = static_cast<double>(memory) / 1e6;
}
BENCHMARK(follow_messages)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

/// Measures how long it takes to find the messages in flight at a time, for a frame of the
/// topology.
void in_flight(benchmark::State& state) {
  static const auto traffic = *Traffic::read(*trace());
  std::size_t found = 0;
  for (Time t; auto _ : state) {
    found = traffic->in_flight(t).size();
    t = t + Time(trace()->length().count() / 37);
    if (t > trace()->length()) t = Time();
  }
  state.counters["messages"] = static_cast<double>(found);
}
BENCHMARK(in_flight)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Measures how long it takes to compute the counters of a range that has about as many changes as
/// are computed exactly, which a frame needs when the view has moved out of the last such range.
void counters(benchmark::State& state) {
  static const auto traffic = *Traffic::read(*trace());
  Time length = trace()->length();
  while (length > Time(1) && traffic->counters_in({Time(), length}).get() == &traffic->counters())
    length = Time(length.count() / 2);
  Time from;
  for (auto _ : state) {
    from += Time(length.count() * 4);
    if (from + length > trace()->length()) from = Time();
    benchmark::DoNotOptimize(traffic->counters_in({from, from + length}));
  }
  state.counters["range_us"] = static_cast<double>(length.count()) / 1e6;
}
BENCHMARK(counters)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

/// Measures a change of the filter of rows, and the statistics of the selected range that follow.
void filter(benchmark::State& state) {
  Layout layout(*trace());
  for (auto _ : state) {
    layout.filter("worker 0/gpu1/ | worker 0/gpu2/");
    benchmark::DoNotOptimize(layout.lines().data());
    layout.filter("");
  }
}
BENCHMARK(filter)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace tutti::gui
