#pragma once

#include "core/timeline/summary.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// ERRORS: the timeline's file has changed since it was opened.
core::Expected<Facts> facts_of_span(const Trace& trace, std::size_t row, SpanRow::Index index);
Facts facts_of_run(const Trace& trace);
/// The run's steps and packs as reports take them. REQUIRES: the trace is of one file.
core::Summary summary_of(const Trace& trace);
/// A moment of the time axis, to the picosecond: "12.345678 ms", "step 2 + 12.345678 ms".
std::string moment(const Trace& trace, core::Time shown);

}  // namespace tutti::gui
