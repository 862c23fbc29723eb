#include "tests/gui/window_fixture.h"

#include <sstream>

#include "core/schedule/step.h"
#include "core/timeline/writer.h"

namespace tutti::gui {

using core::Span;
using core::SpanKind;
using core::Time;

std::string small_timeline() {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.scenario = "small";
  run.executor = "simulated";
  run.version = "0";
  run.steps = 2;
  run.packs = {{{"a", "b"}, core::Bytes(1000), "float32", {}, 0, 0, {}}};
  run.layers = {"conv1", "conv2"};
  writer.begin(run);
  core::TrackId id = 0;
  for (std::int32_t worker = 0; worker < 2; ++worker) {
    for (const char* device : {"gpu0", "gpu1"}) {
      for (int row = 0; row < 4; ++row) {
        const auto kind = row == 0   ? core::TrackKind::kCompute
                          : row == 1 ? core::TrackKind::kPacks
                                     : core::TrackKind::kLane;
        writer.track({id, kind, worker, device, 0, row < 2 ? -1 : row - 2});
        for (std::int32_t step = 0; step < 2; ++step) {
          const Time begin = kMs * (100 * step);
          const auto add = [&](std::int32_t what, int from, int to, std::int32_t pack,
                               std::int64_t index) {
            Span span;
            span.start = begin + kMs * from;
            span.duration = kMs * (to - from);
            span.kind = what;
            span.step = step;
            span.pack = pack;
            span.index = index;
            span.bytes = core::Bytes(row >= 2 ? 500 : 0);
            if (what == static_cast<std::int32_t>(core::StepKind::kReceive)) {
              span.peer = id + (device[3] == '0' ? 4 : -4);  // the same lane of the other device
              span.peer_index = 0;
            }
            writer.span(id, span);
          };
          if (row == 0) {
            add(SpanKind::kFirstCompute, 0, 30, -1, 0);
            add(SpanKind::kFirstCompute + 1, 30, 80, -1, 1);
          } else if (row == 1) {
            add(SpanKind::kPackInFlight, 70, 100, 0, 0);
          } else {
            add(static_cast<std::int32_t>(core::StepKind::kSend), 70, 80, 0, 0);
            add(static_cast<std::int32_t>(core::StepKind::kReceive), 80, 100, 0, 1);
          }
        }
        ++id;
      }
    }
  }
  for (std::int32_t step = 0; step < 2; ++step) {
    core::StepRecord record;
    record.step = step;
    record.start = kMs * (100 * step);
    record.end = record.start + kMs * 100;
    writer.step(record);
    writer.pack({step, 0, record.start + kMs * 70, record.start + kMs * 70, record.start + kMs * 70,
                 record.end});
  }
  core::LinkRecord link;
  link.name = "w0/nic0 out";
  link.bandwidth = core::bandwidth_from_gb_per_s(1);
  link.bin_width = kMs;
  link.bins.assign(200, 500'000);
  writer.link(link);
  core::PathPiece piece;
  piece.kind = SpanKind::kFirstCompute;
  piece.device = "w1/gpu0";
  piece.start = kMs * 100;
  piece.end = kMs * 130;
  writer.path(piece);
  piece.kind = SpanKind::kPackInFlight;
  piece.pack = 0;
  piece.start = kMs * 170;
  piece.end = kMs * 200;
  writer.path(piece);
  writer.end();
  return out.str();
}

}  // namespace tutti::gui
