#pragma once

#include <memory>
#include <string>

#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "gui/trace/trace.h"

namespace tutti::test {

/// The repository's machines, models and layer times.

/// A scenario of `workers` boxes of `gpus` GPUs, a CPU and a card behind a PCIe switch, one
/// training step of five gradients of odd sizes. `strategy`: `algorithm: "ring"`.
std::string small_scenario(const std::string& strategy, int workers, int gpus);

/// Simulates a scenario and gives back the bytes of its timeline. REQUIRES: no problems in it.
std::string simulated(const std::string& text, core::RecordLevel level = core::RecordLevel::kSteps);
/// The same, opened.
std::shared_ptr<const gui::Trace> simulated_trace(
    const std::string& text, core::RecordLevel level = core::RecordLevel::kSteps);

}  // namespace tutti::test
