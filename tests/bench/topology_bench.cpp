// Measures the topology view of 256 DGX-1 (4609 nodes, 18944 links) during playback: computing one
// moment, and painting the whole view or an enlarged part.

#include <benchmark/benchmark.h>

#include <QImage>

#include "gui/topology/topology_painter.h"
#include "tests/gui/simulated.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using core::Time;

constexpr QSize kSize(900, 900);

struct Sight {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const core::Scenario> plan;
  std::shared_ptr<const Traffic> traffic;
  Topology topology;
  TopologyLayout layout;

  Sight()
      : trace(test::simulated_trace(R"(
cluster { workers { machine: "dgx1-v100" count: 256 } network { kind: ONE_SWITCH latency_us: 1.5 } }
workload { variable { name: "a" shape: [4194304] } update_ms: 0 }
strategy { algorithm: "recursive_doubling" }
run { steps: 1 })")),
        plan(*plan_of_run(*trace, test::shipped_library())),
        traffic(*Traffic::read(*trace)),
        topology(Topology::of(*trace, plan.get(), traffic.get())),
        layout(lay_out(topology, 1)) {}
};

const Sight& sight() {
  static const Sight made;
  return made;
}

void moment(benchmark::State& state) {
  TopologyPlayer player(sight().trace, sight().plan, sight().traffic, sight().topology);
  const core::PackRecord pack = sight().trace->packs().front();
  std::int64_t frame = 0;
  for (auto _ : state) {
    const Time t =
        pack.first_start + Time((pack.end - pack.first_start).count() / 1000 * (frame++ % 1000));
    benchmark::DoNotOptimize(player.at(t));
  }
}
BENCHMARK(moment)->Unit(benchmark::kMillisecond)->Iterations(1000);

/// Paints the view. `from_near`: at full size; otherwise the whole topology is visible.
void paint(benchmark::State& state) {
  TopologyPlayer player(sight().trace, sight().plan, sight().traffic, sight().topology);
  const core::PackRecord pack = sight().trace->packs().front();
  const TopologyMoment now =
      player.at(pack.first_start + Time((pack.end - pack.first_start).count() / 2));
  const Box& bounds = sight().layout.bounds;
  const double scale =
      state.range(0) ? 1 : std::min(kSize.width() / bounds.width, kSize.height() / bounds.height);
  QImage image(kSize, QImage::Format_RGB32);
  for (auto _ : state) {
    QPainter painter(&image);
    painter.fillRect(image.rect(), Qt::white);
    painter.scale(scale, scale);
    const TopologyScene scene{sight().topology, sight().layout, now, light_theme(), {}, {}};
    paint_topology(painter, scene, QRectF(0, 0, kSize.width() / scale, kSize.height() / scale),
                   scale);
  }
  state.counters["nodes"] = static_cast<double>(sight().topology.nodes().size());
  state.counters["links"] = static_cast<double>(sight().topology.links().size());
  state.counters["messages"] = static_cast<double>(now.flights.size());
}
BENCHMARK(paint)->Unit(benchmark::kMillisecond)->ArgName("from_near")->Arg(0)->Arg(1);

}  // namespace
}  // namespace tutti::gui
