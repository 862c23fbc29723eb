#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "gui/trace/trace.h"
#include "gui/traffic/traffic.h"

namespace tutti::test {

/// Returns a scenario of one training step with five gradients of odd sizes. Each of `workers`
/// machines has `gpus` GPUs, a CPU, and a network card behind a PCIe switch. `strategy`: fields
/// such as `algorithm: "ring"`.
std::string small_scenario(const std::string& strategy, int workers, int gpus);

/// Simulates a scenario, and returns the bytes of its timeline. REQUIRES: the scenario is valid.
std::string simulated(const std::string& text, core::RecordLevel level = core::RecordLevel::kSteps);
/// Does the same with these options, but records all workers.
std::string simulated(const std::string& text, core::RecordOptions record);
/// Simulates a scenario, and opens its timeline.
std::shared_ptr<const gui::Trace> simulated_trace(
    const std::string& text, core::RecordLevel level = core::RecordLevel::kSteps);
/// Returns all messages of a run.
std::vector<gui::Transfer> transfers_of(const gui::Traffic& traffic);

}  // namespace tutti::test
