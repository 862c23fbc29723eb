#include "gui/widgets/overlay.h"

#include <algorithm>

namespace tutti::gui {

QRect Placement::line_of(std::size_t row) const {
  const std::size_t line = scene.layout.line_with_row(row);
  if (line >= scene.layout.lines().size()) return {};
  return {lines.left(), lines.top() + top_of_line(scene, line), lines.width(),
          scene.layout.lines()[line].height};
}

QRect Placement::box_of(SpanId span) const {
  const QRect line = line_of(span.row);
  const SpanRow& spans = scene.trace.rows()[span.row].spans;
  const core::Time start = spans.start(span.index), end = spans.end(span.index);
  if (line.isEmpty() || end < scene.range.from || start > scene.range.to) return {};
  const bool pinned = scene.layout.lines()[scene.layout.line_with_row(span.row)].pinned;
  if (!pinned && line.top() < lines.top() + covered_height(scene.layout, scene.scroll)) return {};
  const int from = x_of(start);
  return {from, line.top() + 1, std::max(x_of(end), from + 2) - from, line.height() - 3};
}

}  // namespace tutti::gui
