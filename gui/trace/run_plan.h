#pragma once

#include <memory>

#include "core/scenario/scenario.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Reconstructs the scenario of a timeline, with the cluster, the plan and the schedule of every
/// pack, from the scenario's text in the timeline. ERRORS: the text, or a file that it names,
/// cannot be read; such a file has changed since the run, so that the plan is different.
core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace,
                                                                  const core::Library& library);

}  // namespace tutti::gui
