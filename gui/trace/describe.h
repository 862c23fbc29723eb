#pragma once

#include "core/timeline/summary.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Returns all facts about a span. ERRORS: the timeline's file has changed since it was opened.
core::Expected<Facts> facts_of_span(const Trace& trace, std::size_t row, SpanRow::Index index);
Facts facts_of_run(const Trace& trace);
/// Returns the summary of the run, from which reports are made. REQUIRES: the trace has only one
/// timeline.
core::Summary summary_of(const Trace& trace);
/// Formats a time of the axis, to the picosecond, such as "12.345678 ms" or "step 2 + 12.345678
/// ms".
std::string moment(const Trace& trace, core::Time shown);

}  // namespace tutti::gui
