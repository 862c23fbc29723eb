#include "tools/tutti/predicted_step.h"

#include "sim/simulator.h"
#include "tools/tutti/io/interrupt.h"

namespace tutti::tools {

core::Expected<core::Summary> predicted_step(const core::Scenario& scenario) {
  Interrupt interrupt;
  core::RunControl control;
  control.cancel = &interrupt.flag();
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  core::Summary summary;
  sim::Simulator simulator;
  if (const auto ran = simulator.run(scenario, record, control, summary); !ran)
    return tl::make_unexpected(ran.error());
  if (interrupt.happened() || summary.steps().empty())
    return tl::make_unexpected(
        core::Error::run({core::ProblemCode::kSystem}, "the simulation was interrupted"));
  return summary;
}

}  // namespace tutti::tools
