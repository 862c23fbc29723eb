#include "tests/gui/made_pairs.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "core/base/random.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/writer.h"

namespace tutti::gui {

using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;

namespace {

Time random_time(core::Random& random, int max_us) {
  return Time(
      1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(max_us) * 1'000'000)));
}

/// Writes the steps of one device: computation, and packs in two slots that overlap, each with the
/// steps of two lanes.
class Device {
 public:
  Device(core::TimelineWriter& writer, core::TrackId first, std::int32_t worker,
         const std::string& name)
      : writer_(writer), first_(first) {
    for (core::TrackId t = 0; t < kTracks; ++t) {
      const auto kind = t == 0 ? TrackKind::kCompute : t < 3 ? TrackKind::kPacks : TrackKind::kLane;
      const std::int32_t slot = t == 0 ? 0 : t < 3 ? t - 1 : (t - 3) / 2;
      writer.track({first + t, kind, worker, name, slot, t < 3 ? -1 : (t - 3) % 2});
    }
  }
  static constexpr core::TrackId kTracks = 7;

  /// Writes a step, and returns its end.
  Time step(core::Random& random, const Recipe& recipe, std::int32_t step, Time begin,
            std::vector<TimeRange>& packs) {
    Time now = begin + random_time(random, 20);
    const auto compute = [&](core::ComputeKind kind, std::int64_t index) {
      Span span;
      span.start = now;
      span.duration = random_time(random, recipe.longest_us);
      span.kind = SpanKind::kFirstCompute + static_cast<std::int32_t>(kind);
      span.step = step;
      span.index = index;
      writer_.span(first_, span);
      now = span.start + span.duration;
    };
    compute(core::ComputeKind::kForward, 0);
    for (std::size_t l = 0; l < recipe.layers.size(); ++l)
      compute(core::ComputeKind::kBackward, static_cast<std::int64_t>(l));
    std::array<Time, 2> free_from{begin, begin};
    Time end = now;
    for (std::size_t p = 0; p < recipe.packs.size(); ++p) {
      const std::size_t slot = p % 2;
      const Time start = free_from[slot] + random_time(random, recipe.longest_us);
      const Time length(3 * (1 + random_time(random, recipe.longest_us).count()));
      const auto pack = static_cast<std::int32_t>(p);
      const auto row = [&](core::TrackId t, Time from, Time duration, std::int32_t kind,
                           std::int64_t index) {
        Span span;
        span.start = from;
        span.duration = duration;
        span.wait = t < 3 ? Time() : Time(duration.count() / 4);
        span.kind = kind;
        span.step = step;
        span.pack = pack;
        span.index = index;
        if (kind == 2) {
          span.peer = first_ + t;
          span.peer_index = 0;
        }
        writer_.span(first_ + t, span);
      };
      row(1 + static_cast<core::TrackId>(slot), start, length, SpanKind::kPackInFlight, 0);
      for (core::TrackId lane = 0; lane < 2; ++lane) {
        for (std::int64_t i = 0; i < 3; ++i)
          row(3 + static_cast<core::TrackId>(slot) * 2 + lane, start + Time(i * length.count() / 3),
              Time(length.count() / 3 - 1), 1 + static_cast<std::int32_t>(i > 0), i);
      }
      free_from[slot] = start + length;
      end = std::max(end, start + length);
      packs[p] = {std::max(packs[p].from, start), std::max(packs[p].to, start + length)};
    }
    return end;
  }

 private:
  core::TimelineWriter& writer_;
  core::TrackId first_;
};

}  // namespace

std::string bytes_of(const Recipe& recipe) {
  core::Random random(recipe.seed);
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.executor = recipe.executor;
  run.strategy = recipe.strategy;
  for (const std::string& gradient : recipe.packs)
    run.packs.push_back({{gradient}, core::Bytes(100), "float32", {}, 0, 0, {}});
  run.layers = recipe.layers;
  writer.begin(run);
  std::vector<Device> devices;
  for (int w = 0; w < recipe.workers; ++w) {
    for (const char* name : {"gpu0", "gpu1"})
      devices.emplace_back(writer, static_cast<core::TrackId>(devices.size()) * Device::kTracks, w,
                           name);
  }
  Time begin;
  for (std::int32_t step = recipe.first_step; step < recipe.first_step + recipe.steps; ++step) {
    std::vector<TimeRange> packs(recipe.packs.size());
    Time end = begin;
    for (Device& device : devices)
      end = std::max(end, device.step(random, recipe, step, begin, packs));
    for (std::size_t p = 0; p < packs.size(); ++p)
      writer.pack({step, static_cast<std::int32_t>(p), packs[p].from, packs[p].from, packs[p].from,
                   packs[p].to});
    core::StepRecord record;
    record.step = step;
    record.start = begin;
    record.end = end;
    record.forward = random_time(random, 100);
    writer.step(record);
    begin = end;
  }
  if (recipe.links) {
    core::LinkRecord link;
    link.name = "w0/nic0 out";
    link.bandwidth = core::bandwidth_from_gb_per_s(1);
    link.bin_width = core::microseconds(7);
    for (Time t; t < begin; t += link.bin_width)
      link.bins.push_back(static_cast<std::int64_t>(random.below(7000)));
    writer.link(link);
  }
  core::PathPiece piece;
  piece.kind = SpanKind::kFirstCompute;
  piece.device = "w0/gpu0";
  piece.start = begin - core::microseconds(10);
  piece.end = begin;
  writer.path(piece);
  writer.end();
  return out.str();
}

std::shared_ptr<const Trace> trace_of(const std::string& bytes) {
  auto trace = Trace::from_bytes(bytes, "t.tutti");
  if (!trace) throw std::runtime_error(trace.error().message());
  return *trace;
}
std::shared_ptr<const Trace> made(const Recipe& recipe) { return trace_of(bytes_of(recipe)); }

Comparison comparison(const Recipe& a, const Recipe& b, Align align) {
  return compare_traces(made(a), made(b), align, {"a", "b"});
}

std::vector<std::pair<Recipe, Recipe>> pairs() {
  std::vector<std::pair<Recipe, Recipe>> all;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Recipe a, b;
    a.seed = seed;
    b.seed = seed + 100;
    b.executor = "tcp";
    all.emplace_back(a, b);
    b.longest_us = 900;
    all.emplace_back(a, b);
    b.packs = {"c", "x", "a"};
    b.layers = {"l3", "l1"};
    b.workers = 3;
    b.steps = 5;
    all.emplace_back(a, b);
    a.first_step = 2;
    a.longest_us = 2000;
    all.emplace_back(a, b);
  }
  return all;
}

}  // namespace tutti::gui
