// This file computes which lines are in view, and navigates between lines.

#include "gui/widgets/timeline_view.h"

#include <algorithm>

namespace tutti::gui {

using core::Time;

namespace {

/// Width of the scroll bar in pixels.
constexpr int kBar = 14;

}  // namespace

void TimelineView::filter(const QString& text) {
  layout_.filter(text.toStdString());
  lines_have_changed();
}

/// Shows or hides the lines of counters. The lines appear before the values of the counters are
/// known, so that other lines do not move when the values become known. If there are two timelines,
/// counters are not shown, because the comparison needs the space.
void TimelineView::show_counters(bool on) {
  counters_ = on;
  const bool has = on && trace_ && trace_->sides().size() == 1;
  layout_.show_counters(has ? counter_names(*trace_) : std::vector<std::string>());
  lines_have_changed();
}

std::vector<std::size_t> TimelineView::visible_rows() const {
  std::vector<std::size_t> rows;
  for (const Line& line : layout_.lines()) {
    if (line.kind == Line::Kind::kSpans || (line.is_group() && !line.open))
      rows.insert(rows.end(), line.rows.begin(), line.rows.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::size_t TimelineView::line_with_key(const std::string& key) const {
  const auto& lines = layout_.lines();
  const auto line =
      std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.key == key; });
  return static_cast<std::size_t>(line - lines.begin());
}

void TimelineView::go_to_line(const QString& key) {
  layout_.reveal(key.toStdString());
  lines_have_changed();
  const auto& lines = layout_.lines();
  const auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const Line& l) { return l.key == key.toStdString(); });
  if (line == lines.end()) return;
  line_at_hand_ = line->key;
  scroll_to(static_cast<std::size_t>(line - lines.begin()));
}

void TimelineView::open_all() {
  layout_.open_all(true);
  lines_have_changed();
}

void TimelineView::close_all() {
  layout_.open_all(false);
  lines_have_changed();
}

void TimelineView::open_or_close() {
  const auto& lines = layout_.lines();
  const auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const Line& l) { return l.key == line_at_hand_; });
  if (line == lines.end() || !line->is_group()) return;
  layout_.open(line_at_hand_, !line->open);
  lines_have_changed();
}

void TimelineView::pin_or_unpin() {
  const auto& lines = layout_.lines();
  std::string key = line_at_hand_;
  if (key.empty() && selected_) {
    const std::size_t line = layout_.line_of_row(selected_->row);
    if (line < lines.size()) key = lines[line].key;
  }
  const auto line =
      std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.key == key; });
  if (line == lines.end()) return;
  layout_.pin(key, !line->pinned);
  lines_have_changed();
}

/// Returns the span of a row that is nearest to the selected span: the span that covers the middle
/// of the selected span. If no span is selected, the middle of the view counts instead. If no span
/// covers this time, returns the next span, or else the last span.
std::optional<SpanId> TimelineView::nearest_span(std::size_t row) const {
  const SpanRow& spans = trace_->rows()[row].spans;
  if (spans.size() == 0) return std::nullopt;
  Time from = view_.range().from, to = view_.range().to;
  if (selected_) {
    const SpanRow& of = trace_->rows()[selected_->row].spans;
    from = of.start(selected_->index), to = of.end(selected_->index);
  }
  const Time middle = from + Time((to - from).count() / 2);
  const SpanRow::Index there = spans.at(middle);
  return SpanId{
      row, there < spans.size() ? there : std::min(spans.first_from(middle), spans.size() - 1)};
}

void TimelineView::walk_lines(int by) {
  const auto& lines = layout_.lines();
  if (!trace_ || lines.empty()) return;
  const auto at_hand = std::find_if(lines.begin(), lines.end(),
                                    [&](const Line& line) { return line.key == line_at_hand_; });
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(lines.size()) - 1;
  std::ptrdiff_t next =
      at_hand == lines.end() ? (by > 0 ? 0 : last) : (at_hand - lines.begin()) + by;
  next = std::clamp(next, std::ptrdiff_t{0}, last);
  const auto line = static_cast<std::size_t>(next);
  line_at_hand_ = lines[line].key;
  scroll_to(line);
  if (lines[line].kind == Line::Kind::kSpans) {
    if (const auto span = nearest_span(lines[line].rows.front())) go_to(*span);
  }
  if (lines[line].kind == Line::Kind::kLink) emit link_chosen(lines[line].side, lines[line].number);
  setAccessibleDescription(QString::fromStdString(line_at_hand_));
  update();
}

void TimelineView::scroll_to(std::size_t line) {
  if (line >= layout_.lines().size() || layout_.lines()[line].pinned) return;
  const Line& there = layout_.lines()[line];
  const int room = lines_rect(size()).height();
  const int covered = layout_.pinned_height() + (there.depth > 0 ? Scene::kSticky : 0);
  if (there.top - covered < scroll_bar_->value()) {
    scroll_bar_->setValue(there.top - covered);
  } else if (there.bottom() > scroll_bar_->value() + room) {
    scroll_bar_->setValue(there.bottom() - room);
  }
}

bool TimelineView::is_in_view(std::size_t line, const QSize& size) const {
  if (line >= layout_.lines().size()) return false;
  const Line& there = layout_.lines()[line];
  const int top = scroll_bar_->value();
  return there.top >= top && there.bottom() <= top + lines_rect(size).height();
}

/// Scrolls so that the line is visible, and also the matching line of the other timeline if both
/// fit into the view.
void TimelineView::scroll_to_both(std::size_t line) {
  const auto& lines = layout_.lines();
  if (line >= lines.size() || lines[line].pinned) return;
  // The header of a group may stay below the pinned lines.
  const int covered = layout_.pinned_height() + (lines[line].depth > 0 ? Scene::kSticky : 0);
  const int room = lines_rect(size()).height() - covered;
  int top = lines[line].top, bottom = lines[line].bottom();
  for (const SpanId& partner : partners_) {
    const std::size_t other = layout_.line_of_row(partner.row);
    if (other >= lines.size() || lines[other].pinned) continue;
    const int both_top = std::min(top, lines[other].top),
              both_bottom = std::max(bottom, lines[other].bottom());
    if (both_bottom - both_top > room) continue;
    top = both_top;
    bottom = both_bottom;
  }
  if (top - covered < scroll_bar_->value()) {
    scroll_bar_->setValue(top - covered);
  } else if (bottom > scroll_bar_->value() + covered + room) {
    scroll_bar_->setValue(bottom - covered - room);
  }
}

void TimelineView::lines_have_changed() {
  place_scroll_bar();
  repaint_lines();
  emit lines_changed();
}

void TimelineView::place_scroll_bar() {
  const QRect lines = lines_rect(size());
  scroll_bar_->setGeometry(width() - kBar, lines.top(), kBar, lines.height());
  scroll_bar_->setRange(0, std::max(0, layout_.height() - lines.height()));
  scroll_bar_->setPageStep(lines.height());
  scroll_bar_->setSingleStep(20);
  scroll_bar_->setVisible(scroll_bar_->maximum() > 0);
}

}  // namespace tutti::gui
