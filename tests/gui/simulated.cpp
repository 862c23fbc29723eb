#include "tests/gui/simulated.h"

#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "core/timeline/writer.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::test {

std::string small_scenario(const std::string& strategy, int workers, int gpus) {
  return fmt::format(R"(
cluster {{
  workers {{ machine: "box" count: {} }}
  machine {{
    name: "box"
    device {{ name: "gpu[0-{}]" kind: GPU memory_gb_per_s: 600 }}
    device {{ name: "cpu0" kind: CPU memory_gb_per_s: 60 }}
    switch {{ name: "plx0" kind: PCIE_SWITCH }}
    nic {{ name: "nic0" bandwidth_gb_per_s: 12.5 }}
    link {{ from: "gpu[0-{}]" to: "plx0" kind: PCIE bandwidth_gb_per_s: 12 latency_us: 0.5 }}
    link {{ from: "plx0" to: "cpu0" kind: PCIE bandwidth_gb_per_s: 12 latency_us: 0.5 }}
    link {{ from: "plx0" to: "nic0" kind: PCIE bandwidth_gb_per_s: 12 latency_us: 0.5 }}
  }}
  network {{ kind: ONE_SWITCH latency_us: 1.5 }}
}}
workload {{
  variable {{ name: "a" shape: [331, 77] forward_ms: 0.02 backward_ms: 0.03 }}
  variable {{ name: "b" shape: [1009] forward_ms: 0.01 backward_ms: 0.04 }}
  variable {{ name: "c" shape: [3] forward_ms: 0.01 backward_ms: 0.01 }}
  variable {{ name: "d" shape: [5003] forward_ms: 0.02 backward_ms: 0.02 }}
  variable {{ name: "e" shape: [121, 121] forward_ms: 0.01 backward_ms: 0.02 }}
  update_ms: 0
}}
strategy {{ {} }}
run {{ steps: 2 }}
)",
                     workers, gpus - 1, gpus - 1, strategy);
}

std::string simulated(const std::string& text, core::RecordLevel level) {
  core::RecordOptions record;
  record.level = level;
  return simulated(text, record);
}

std::string simulated(const std::string& text, core::RecordOptions record) {
  const auto scenario = core::read_scenario(text, "small.textproto", shipped_library());
  if (!scenario) throw std::runtime_error(scenario.error().message());
  std::ostringstream out;
  core::TimelineWriter writer(out);
  record.last_worker = scenario->cluster->workers() - 1;
  if (const auto ran = sim::Simulator().run(*scenario, record, {}, writer); !ran)
    throw std::runtime_error(ran.error().message());
  return out.str();
}

std::shared_ptr<const gui::Trace> simulated_trace(const std::string& text,
                                                  core::RecordLevel level) {
  auto trace = gui::Trace::from_bytes(simulated(text, level), "small.tutti");
  if (!trace) throw std::runtime_error(trace.error().message());
  return *trace;
}

std::vector<gui::Transfer> transfers_of(const gui::Traffic& traffic) {
  std::vector<gui::Transfer> all;
  traffic.each_in({core::Time(-1), core::kHorizon},
                  [&](const gui::Transfer& message) { all.push_back(message); });
  return all;
}

}  // namespace tutti::test
