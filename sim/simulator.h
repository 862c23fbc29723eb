#pragma once

#include "core/executor.h"

namespace tutti::sim {

/// Runs scenarios in virtual time. Deterministic: the same scenario and seed give the same timeline to the last bit.
/// Holds no state; one may run in every thread.
class Simulator : public core::Executor {
 public:
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions& record,
                           const core::RunControl& control, core::TimelineSink& sink) override;
};

}  // namespace tutti::sim
