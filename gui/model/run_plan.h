#pragma once

#include <memory>

#include "core/scenario/scenario.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// The scenario that a timeline is of, made anew from the text in its file: cluster, plan, and with it the schedule of every
/// pack. ERRORS: the text, or a file that it names, cannot be read here; those files have changed since, so that the plan is
/// another one.
core::Expected<std::shared_ptr<const core::Scenario>> plan_of_run(const Trace& trace, const core::Library& library);

}  // namespace tutti::gui
