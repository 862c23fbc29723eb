#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gui/model/trace.h"

namespace tutti::gui {

/// What there is to say of something, as names and values, in the order in which a reader wants them.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// ERRORS: the timeline's file has changed since it was opened.
core::Expected<Facts> facts_of_span(const Trace& trace, std::size_t row, SpanRow::Index index);
Facts facts_of_run(const Trace& trace);

}  // namespace tutti::gui
