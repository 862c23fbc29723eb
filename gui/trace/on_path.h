#pragma once

#include <cstdint>
#include <vector>

#include "gui/trace/span_row.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// A part of a row that lies on the critical path of the row's side: the computation and the packs
/// in flight of the path's devices. Rows of lanes have no such parts, because the path consists of
/// whole packs.
struct OnPath {
  TimeRange at;
  int kind = 0;            ///< the kind of the spans that are on the path
  std::int32_t pack = -1;  ///< the pack of the spans; -1: spans of any pack
};

/// Returns true if the span of the row is on the path. `parts`: Trace::on_path() of the row. Cost:
/// logarithmic in the number of parts.
bool is_on_path(const std::vector<OnPath>& parts, const SpanRow& spans, SpanRow::Index i);

}  // namespace tutti::gui
