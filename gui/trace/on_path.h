#pragma once

#include <cstdint>
#include <vector>

#include "gui/trace/span_row.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// A time range of a row that lies on the critical path of the row's timeline. Only rows of
/// computation and of packs in flight have such ranges. Rows of lanes have none, because the
/// critical path consists of whole packs.
struct OnPath {
  TimeRange at;
  int kind = 0;            ///< the kind of the spans that are on the path
  std::int32_t pack = -1;  ///< the pack of the spans; -1: spans of any pack
};

/// Returns true if span `i` of the row is on the critical path. `parts` is the row's entry of
/// Trace::on_path(). Cost: logarithmic in the number of parts.
bool is_on_path(const std::vector<OnPath>& parts, const SpanRow& spans, SpanRow::Index i);

}  // namespace tutti::gui
