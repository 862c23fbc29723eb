// Measures writing, reading and exporting timelines, in spans per second and bytes per span.

#include <benchmark/benchmark.h>

#include <sstream>

#include "core/timeline/export_perfetto.h"
#include "core/timeline/reader.h"
#include "core/timeline/writer.h"

namespace tutti {
namespace {

constexpr int kTracks = 64;
constexpr int kSpansPerTrack = 10'000;

std::string timeline() {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  for (int t = 0; t < kTracks; ++t)
    writer.track({t, core::TrackKind::kLane, t / 8, "gpu", -1, t % 8});
  for (int i = 0; i < kSpansPerTrack; ++i) {
    for (int t = 0; t < kTracks; ++t) {
      core::Span span;
      span.start = core::nanoseconds(1000 * i + t);
      span.duration = core::nanoseconds(900);
      span.wait = core::nanoseconds(i % 7);
      span.kind = i % 5;
      span.pack = i / 100;
      span.index = i % 100;
      span.bytes = core::Bytes(524'288);
      span.peer = (t + 1) % kTracks;
      span.peer_index = i % 100;
      writer.span(t, span);
    }
  }
  writer.end();
  return std::move(out).str();
}

void rate(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kTracks * kSpansPerTrack);
}

void WriteTimeline(benchmark::State& state) {
  std::size_t bytes = 0;
  for (auto _ : state) bytes = timeline().size();
  rate(state);
  state.counters["bytes_per_span"] = static_cast<double>(bytes) / (kTracks * kSpansPerTrack);
}
BENCHMARK(WriteTimeline)->Unit(benchmark::kMillisecond);

void ReadTimeline(benchmark::State& state) {
  const auto reader = core::TimelineReader::from_bytes(timeline(), "t");
  for (auto _ : state) {
    for (const auto& block : reader->span_blocks()) benchmark::DoNotOptimize(reader->read(block));
  }
  rate(state);
}
BENCHMARK(ReadTimeline)->Unit(benchmark::kMillisecond);

void OpenTimeline(benchmark::State& state) {
  const std::string bytes = timeline();
  constexpr auto kIndexAlone = core::TimelineReader::Check::kWhenRead;
  for (auto _ : state)
    benchmark::DoNotOptimize(core::TimelineReader::from_bytes(bytes, "t", kIndexAlone));
}
BENCHMARK(OpenTimeline)->Unit(benchmark::kMillisecond);

void ExportPerfetto(benchmark::State& state) {
  const auto reader = core::TimelineReader::from_bytes(timeline(), "t");
  for (auto _ : state) {
    std::ostringstream out;
    static_cast<void>(core::export_perfetto(*reader, out));
    benchmark::DoNotOptimize(out);
  }
  rate(state);
}
BENCHMARK(ExportPerfetto)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tutti
