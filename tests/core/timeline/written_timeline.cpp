#include "tests/core/timeline/written_timeline.h"

#include <gtest/gtest.h>

#include <sstream>

#include "core/base/random.h"
#include "core/timeline/writer.h"

namespace tutti::core {

RunInfo made_run() {
  RunInfo run;
  run.scenario = "s";
  run.scenario_text = "cluster { }";
  run.version = "1";
  run.executor = "simulated";
  run.steps = 2;
  run.devices_in_memory = true;
  run.packs = {{{"a", "b"},
                Bytes(100),
                "float32",
                "Ring LL128, 2 channels × 640 threads",
                0.5,
                2,
                "w0/gpu0→w0/nvs"},
               {{"c"}, Bytes(7), "float16", {}, 0, 0, {}}};
  run.layers = {"last", "first"};
  run.notes = {"take note"};
  return run;
}

void tell(TimelineSink& sink, int spans_per_track, std::uint64_t seed) {
  Random random(seed);
  sink.begin(made_run());
  for (TrackId t = 0; t < 5; ++t)
    sink.track({t, static_cast<TrackKind>(t % 3), t / 2, "gpu" + std::to_string(t % 2), t,
                t % 3 == 2 ? 0 : -1});
  std::vector<Time> at(5);
  for (int i = 0; i < spans_per_track; ++i) {
    for (TrackId t = 0; t < 5; ++t) {
      Span span;
      at[t] += Time(static_cast<std::int64_t>(random.below(1'000'000)));
      span.start = at[t];
      span.duration = Time(static_cast<std::int64_t>(random.below(900'000)));
      at[t] += span.duration;
      span.wait = Time(static_cast<std::int64_t>(random.below(10)));
      span.kind = t % 3 == 2 ? (t == 2 ? 1 : 2) : SpanKind::kFirstCompute + 1;
      span.step = i / 10;
      span.pack = i % 2;
      span.index = i;
      span.bytes = Bytes(i * 1000);
      if (t == 4) {  // track 4 receives the messages of the lane on track 2
        span.kind = 2;
        span.wait = Time(span.duration.count() / 2);
        span.peer = 2;
        span.peer_index = i;
      }
      sink.span(t, span);
    }
  }
  sink.step({0, Time(0), Time(500), "w0/gpu0", Time(1), Time(2), Time(3), Time(4), Time(5),
             "w1/gpu1", Time(6), Time(7)});
  sink.pack({0, 1, Time(10), Time(11), Time(12), Time(13)});
  sink.link({"a→b",
             LinkKind::kNvlink,
             Bandwidth(1'000'000'000),
             Bytes(6),
             Time(6000),
             Time(1000),
             {1, 2, 3}});
  PathPiece piece;
  piece.kind = SpanKind::kPackInFlight;
  piece.pack = 0;
  piece.device = "w0/gpu0";
  piece.layer = "last";
  piece.end = Time(77);
  piece.parts.wire[3] = Time(70);
  piece.parts.queue = Time(7);
  piece.slowest_link = "a→b";
  sink.path(piece);
  sink.steady({Time(40), Time(39), Time(42), 8, 32, true});
  sink.note("said late");
  sink.end();
}

std::string written(int spans_per_track) {
  std::ostringstream out;
  TimelineWriter writer(out);
  tell(writer, spans_per_track);
  EXPECT_TRUE(writer.good());
  EXPECT_EQ(writer.spans(), 5 * spans_per_track);
  return out.str();
}

}  // namespace tutti::core
