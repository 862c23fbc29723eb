#pragma once

#include <memory>

#include "core/scenario/scenario.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Reconstructs the scenario of a timeline from the scenario's text in the timeline. The result has
/// the cluster, the plan, and the schedule of every pack. ERRORS: the text, or a file to which it
/// refers, cannot be read; a file has changed since the run, so that the plan differs.
core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace,
                                                                  const core::Library& library);

}  // namespace tutti::gui
