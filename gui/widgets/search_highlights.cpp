#include "gui/widgets/search_highlights.h"

#include <algorithm>

namespace tutti::gui {

namespace {

/// The maximum number of spans that a paint visits.
constexpr SpanRow::Index kMaxVisited = 100'000;
constexpr int kHeight = 3;  ///< height of the underline in pixels

}  // namespace

void SearchHighlights::paint(QPainter& painter, const Placement& place) const {
  drawn_ = 0;
  if (!query_ || query_->empty()) return;
  const Scene& scene = place.scene;
  painter.setClipRect(place.lines);
  painter.setPen(QPen(colour(scene.theme.background), 1));
  painter.setBrush(colour(scene.theme.selection));
  SpanRow::Index left = kMaxVisited;
  const auto& lines = scene.layout.lines();
  const int covered = covered_height(scene.layout, scene.scroll);
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (lines[l].kind != Line::Kind::kSpans) continue;
    const int top = top_of_line(scene, l), bottom = top + lines[l].height;
    const bool is_covered = !lines[l].pinned && bottom <= covered;
    if (bottom <= 0 || top >= place.lines.height() || is_covered) continue;
    const Trace::Row& row = scene.trace.rows()[lines[l].rows.front()];
    if (!query_->takes_row(row)) continue;
    SpanRow::Index i = row.spans.first_from(scene.range.from);
    if (i > 0 && row.spans.end(i - 1) > scene.range.from) --i;
    const SpanRow::Index end = i + std::min(row.spans.first_from(scene.range.to) - i, left);
    left -= end - i;
    int drawn_to = place.lines.left() - 1;  // matches on one pixel are drawn once
    for (; i < end; ++i) {
      if (!query_->takes(row, i)) continue;
      const int from = std::max(place.x_of(row.spans.start(i)), place.lines.left());
      const int to =
          std::max(std::min(place.x_of(row.spans.end(i)), place.lines.right()), from + 2);
      if (to <= drawn_to) continue;
      painter.drawRect(QRect(from, place.lines.top() + bottom - kHeight - 2, to - from, kHeight));
      drawn_to = to;
      ++drawn_;
    }
  }
}

}  // namespace tutti::gui
