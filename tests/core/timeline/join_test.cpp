// Pairs of spans of two timelines. The pairs must equal those found by a search through all spans
// of both timelines.

#include "core/timeline/join.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/random.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/writer.h"

namespace tutti::core {
namespace {

constexpr std::int32_t kBackward =
    SpanKind::kFirstCompute + static_cast<std::int32_t>(ComputeKind::kBackward);

/// A span and its track.
struct Written {
  Track track;
  Span span;
  int pass = 0;  ///< number of earlier spans of the same kind in its training step
};

struct Made {
  TimelineReader timeline;
  std::vector<Written> spans;
};

/// Returns a timeline of two workers with two devices, with computation of two micro-batches,
/// packs, and two lanes per device. Some spans are missing. `packs`, `layers`: names by number.
Made made(std::uint64_t seed, const std::vector<std::string>& packs,
          const std::vector<std::string>& layers) {
  Random random(seed);
  std::ostringstream out;
  TimelineWriter writer(out);
  RunInfo run;
  for (const std::string& gradient : packs)
    run.packs.push_back({{gradient}, Bytes(100), "float32", {}, 0, 0, {}});
  run.layers = layers;
  writer.begin(run);
  std::vector<Written> written;
  TrackId id = 0;
  for (std::int32_t place = 0; place < 16; ++place) {
    const std::int32_t row = place % 4;
    const auto kind = row == 0   ? TrackKind::kCompute
                      : row == 1 ? TrackKind::kPacks
                                 : TrackKind::kLane;
    const Track track{
        id++, kind, place / 8, place % 8 < 4 ? "gpu0" : "gpu1", 0, row < 2 ? -1 : row - 2};
    writer.track(track);
    Time now;
    for (std::int32_t step = 0; step < 4; ++step) {
      const auto things =
          static_cast<std::int32_t>(kind == TrackKind::kCompute ? 2 * layers.size() : packs.size());
      std::map<std::int32_t, int> seen;
      for (std::int32_t i = 0; i < things; ++i) {
        const std::int32_t thing =
            kind == TrackKind::kCompute ? i % static_cast<std::int32_t>(layers.size()) : i;
        for (std::int32_t index = 0; index < (kind == TrackKind::kLane ? 3 : 1); ++index) {
          if (random.below(5) == 0) continue;
          Span span;
          span.start = now;
          span.duration = Time(1 + static_cast<std::int64_t>(random.below(1000)));
          span.wait = kind == TrackKind::kLane ? Time(span.duration.count() / 3) : Time();
          span.kind = kind == TrackKind::kCompute ? kBackward
                      : kind == TrackKind::kPacks ? SpanKind::kPackInFlight
                                                  : 1 + static_cast<std::int32_t>(random.below(2));
          span.step = step;
          span.pack = kind == TrackKind::kCompute ? -1 : thing;
          span.index = kind == TrackKind::kCompute ? thing : index;
          now = span.start + span.duration;
          writer.span(track.id, span);
          written.push_back({track, span, kind == TrackKind::kCompute ? seen[thing]++ : 0});
        }
      }
    }
  }
  writer.end();
  auto read = TimelineReader::from_bytes(out.str(), "t");
  if (!read) throw std::runtime_error(read.error().message());
  return {std::move(*read), std::move(written)};
}

using Found = std::set<std::tuple<TrackId, Time, TrackId, Time>>;

TEST(Join, PairsMatchAnExhaustiveSearch) {
  const std::vector<std::string> packs_a{"a", "b", "c"}, packs_b{"c", "x", "a", "y"};
  const std::vector<std::string> layers_a{"l1", "l2", "l3"}, layers_b{"l2", "l3", "l4", "l1"};
  const Numbers steps{{0, 1}, {2, 2}};
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Made a = made(seed, packs_a, layers_a), b = made(seed + 1000, packs_b, layers_b);
    const Numbers packs = packs_in_common(a.timeline.run(), b.timeline.run());
    EXPECT_EQ(packs, (Numbers{{0, 2}, {2, 0}}));
    Found expected_lanes, expected_others;
    for (const Written& x : a.spans) {
      for (const Written& y : b.spans) {
        const bool same_place = x.track.worker == y.track.worker &&
                                x.track.device == y.track.device && x.track.kind == y.track.kind &&
                                x.track.lane == y.track.lane;
        const auto step = steps.find(x.span.step);
        if (!same_place || step == steps.end() || step->second != y.span.step ||
            x.span.kind != y.span.kind || x.pass != y.pass)
          continue;
        const bool same =
            x.track.kind == TrackKind::kCompute
                ? layers_a[x.span.index] == layers_b[y.span.index]
                : packs_a[x.span.pack] == packs_b[y.span.pack] && x.span.index == y.span.index;
        if (!same) continue;
        (x.track.kind == TrackKind::kLane ? expected_lanes : expected_others)
            .emplace(x.track.id, x.span.start, y.track.id, y.span.start);
      }
    }
    Found lanes, others;
    const auto counts =
        join_lane_steps(a.timeline, b.timeline, steps, packs, [&](const SpanPair& pair) {
          EXPECT_FALSE(pair.together);
          lanes.emplace(pair.track_a, pair.a.start, pair.track_b, pair.b.start);
          return true;
        });
    ASSERT_TRUE(counts);
    ASSERT_TRUE(join_other_spans(a.timeline, b.timeline, steps, packs, [&](const SpanPair& pair) {
      others.emplace(pair.track_a, pair.a.start, pair.track_b, pair.b.start);
      return true;
    }));
    EXPECT_EQ(lanes, expected_lanes);
    EXPECT_EQ(others, expected_others);
    // Every lane step of these training steps is in a pair, or counted as unpaired.
    std::int64_t all_a = 0, all_b = 0;
    for (const Written& x : a.spans)
      all_a += x.track.kind == TrackKind::kLane && steps.contains(x.span.step);
    for (const Written& y : b.spans)
      all_b += y.track.kind == TrackKind::kLane && (y.span.step == 1 || y.span.step == 2);
    EXPECT_EQ(counts->joined, std::ssize(lanes));
    EXPECT_EQ(counts->only_a, all_a - counts->joined);
    EXPECT_EQ(counts->only_b, all_b - counts->joined);
  }
}

}  // namespace
}  // namespace tutti::core
