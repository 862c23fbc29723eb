#pragma once

#include <memory>

#include "core/scenario/scenario.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Reconstructs the scenario of a timeline from the text in its file: the cluster, the plan and the
/// schedule of every pack. ERRORS: the text, or a file that it names, cannot be read here; one of
/// those files has changed since, so that the plan is different.
core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace,
                                                                  const core::Library& library);

}  // namespace tutti::gui
