// This file holds the state of the view and its painting. The file timeline_events.cpp handles the
// mouse and the keyboard, timeline_lines.cpp the lines, and timeline_selection.cpp the selection.
// There are two layers. The spans are painted into an image. The image is valid until
// repaint_lines() is called after zooming, panning, scrolling, or a change of data or theme. Each
// paint event paints texts, the selection, the cursor and overlays over the image, so moving the
// mouse does not paint spans again. The same functions paint pictures for files, which therefore
// look like the window.

#include "gui/widgets/timeline_view.h"

#include <QPainter>
#include <QResizeEvent>
#include <algorithm>

#include "gui/paint/focus.h"
#include "gui/widgets/timeline_accessible.h"

namespace tutti::gui {

using core::Time;

TimelineView::TimelineView(QWidget* parent)
    : QWidget(parent), theme_(&light_theme()), scroll_bar_(new QScrollBar(Qt::Vertical, this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  make_timelines_accessible();
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(
      tr("Rows of spans over time; the details panel describes the selected span"));
  connect(scroll_bar_, &QScrollBar::valueChanged, this, [this] { repaint_lines(); });
}

void TimelineView::show_trace(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  view_ = View(trace_ ? trace_->length() : Time());
  layout_ = trace_ ? Layout(*trace_, arrangement_) : Layout();
  selected_.reset();
  partners_.clear();
  range_.reset();
  region_.clear();
  region_rows_.clear();
  readable_.reset();
  piece_of_path_.reset();
  traffic_.reset();
  show_counters(counters_);
  emit trace_changed();
  emit view_changed();
  emit selection_changed();
  emit range_changed();
}

void TimelineView::replace_trace(std::shared_ptr<const Trace> trace,
                                 const std::optional<TimeRange>& range) {
  const Layout before = layout_;
  show_trace(std::move(trace));
  layout_.take_over(before);
  lines_have_changed();
  if (range) show_range(*range);
}

void TimelineView::arrange(Arrangement arrangement) {
  if (arrangement == arrangement_) return;
  arrangement_ = arrangement;
  if (!trace_) return;
  const Layout before = layout_;
  layout_ = Layout(*trace_, arrangement_);
  layout_.take_over(before);
  lines_have_changed();
}

void TimelineView::set_theme(const Theme& theme) {
  theme_ = &theme;
  repaint_lines();
}

void TimelineView::show_traffic(std::shared_ptr<const Traffic> traffic) {
  traffic_ = std::move(traffic);
  repaint_lines();
}

Scene TimelineView::scene() const {
  return {*trace_,    layout_,       *theme_, view_.range(), scroll_bar_->value(),
          path_only_, traffic_.get()};
}

QImage TimelineView::picture(const QSize& size, qreal scale) const {
  if (!trace_) return {};
  const QRegion covered = covered_of_axis(lines_rect(size), QFontMetrics(QFont()));
  QImage picture = paint_picture(scene(), size, scale, covered);
  QPainter painter(&picture);
  paint_overlays(painter, lines_rect(size));
  return picture;
}

void TimelineView::paint_shapes(QPainter& painter, const QSize& size) const {
  if (!trace_) return;
  gui::paint_shapes(painter, scene(), size,
                    covered_of_axis(lines_rect(size), painter.fontMetrics()));
  paint_overlays(painter, lines_rect(size));
}

void TimelineView::show_range(const TimeRange& range) {
  view_.show(range);
  repaint_lines();
  emit view_changed();
}

void TimelineView::glide_to(const TimeRange& range) {
  view_.glide(range);
  repaint_lines();
  emit view_changed();
}

void TimelineView::settle() { view_.settle(); }
void TimelineView::fit_all() { show_range({Time(), view_.run_length()}); }

void TimelineView::fit_selection() {
  if (range_) return show_range(*range_);
  if (!selected_ || !trace_) return fit_all();
  const SpanRow& spans = trace_->rows()[selected_->row].spans;
  const Time margin(spans.duration(selected_->index).count() / 4 + 1);
  show_range({spans.start(selected_->index) - margin, spans.end(selected_->index) + margin});
}

void TimelineView::back() {
  view_.go_back();
  repaint_lines();
  emit view_changed();
}

void TimelineView::forward() {
  view_.go_forward();
  repaint_lines();
  emit view_changed();
}

/// Keeps the row of the selected span in view if another panel takes a part of the height.
void TimelineView::resizeEvent(QResizeEvent* event) {
  const std::size_t line = selected_ ? layout_.line_of_row(selected_->row) : layout_.lines().size();
  const bool was_in_view = is_in_view(line, event->oldSize());
  place_scroll_bar();
  if (was_in_view) scroll_to(line);
  repaint_lines();
}

void TimelineView::repaint_lines() {
  image_is_old_ = true;
  readable_.reset();
  update();
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (!trace_) {
    painter.fillRect(rect(), QColor::fromRgb(theme_->background));
    return;
  }
  const QRect lines = lines_rect(size());
  if (image_is_old_) {
    painted_ = paint_lines(scene(), lines.size(), devicePixelRatioF(), std::move(painted_.image));
    image_is_old_ = false;
  }
  painter.drawImage(lines.topLeft(), painted_.image);
  paint_texts(painter, scene(), lines, painted_.texts, texts_);
  paint_names(painter, scene(), QRect(0, lines.top(), Scene::kGutter, lines.height()), texts_);
  paint_axis(painter, scene(), QRect(0, 0, width(), Scene::kAxis), texts_,
             covered_of_axis(lines, painter.fontMetrics()));
  paint_line_at_hand(painter, lines);
  paint_overlays(painter, lines);
  paint_without_rows(painter, lines);
  if (mouse_ && lines.contains(*mouse_)) {
    QColor faint = QColor::fromRgb(theme_->faint_text);
    faint.setAlpha(120);
    painter.setPen(faint);
    painter.drawLine(mouse_->x(), lines.top(), mouse_->x(), lines.bottom());
  }
  paint_focus(painter, *this);
}

QRegion TimelineView::covered_of_axis(const QRect& lines, const QFontMetrics& metrics) const {
  const Scene shown = scene();
  QRegion covered;
  for (const Overlay* const overlay : overlays_)
    covered += overlay->on_axis({shown, lines}, metrics);
  return covered;
}

/// Says why the timeline is empty if the filter matches no row.
void TimelineView::paint_without_rows(QPainter& painter, const QRect& lines) const {
  if (!layout_.lines().empty() || layout_.filter().empty()) return;
  painter.setPen(QColor::fromRgb(theme_->text));
  painter.drawText(lines, Qt::AlignCenter | Qt::TextWordWrap,
                   tr("No row contains “%1”.\nDelete the text in “Only rows with …” (Ctrl+L) to "
                      "show all rows.")
                       .arg(QString::fromStdString(layout_.filter()).trimmed()));
}

/// Paints a bar next to the name of the current line.
void TimelineView::paint_line_at_hand(QPainter& painter, const QRect& lines) const {
  for (std::size_t i = 0; i < layout_.lines().size(); ++i) {
    const Line& line = layout_.lines()[i];
    const int top = lines.top() + top_of_line(scene(), i);
    if (line.key == line_at_hand_ && top + line.height > lines.top())
      painter.fillRect(QRect(0, top, 3, line.height), QColor::fromRgb(theme_->selection));
  }
}

/// Hatches the time ranges in which a row's spans were not recorded, because devices would
/// otherwise look idle there.
void TimelineView::paint_unrecorded(QPainter& painter, const QRect& lines) const {
  if (!trace_->recorded()) return;
  const Scene shown = scene();
  const Placement place{shown, lines};
  const TimeRange& range = view_.range();
  const TimeRange recorded = *trace_->recorded();
  QColor faint = QColor::fromRgb(theme_->faint_text);
  faint.setAlpha(110);
  for (std::size_t i = 0; i < layout_.lines().size(); ++i) {
    const Line& line = layout_.lines()[i];
    if (line.kind != Line::Kind::kSpans) continue;
    const auto hatch = [&](Time from, Time to) {
      from = std::max(from, range.from);
      to = std::min(to, range.to);
      if (from >= to) return;
      const int left = place.x_of(from), right = std::min(place.x_of(to), lines.right() + 1);
      const QRect box(left, lines.top() + top_of_line(shown, i) + 1, right - left, line.height - 2);
      const bool under_pinned =
          !line.pinned && box.bottom() < lines.top() + covered_height(layout_, shown.scroll);
      if (under_pinned || !box.intersects(lines)) return;
      painter.fillRect(box, QBrush(faint, Qt::BDiagPattern));
      const QString text = tr("not recorded");
      const int width = painter.fontMetrics().horizontalAdvance(text) + 8;
      if (box.width() < 2 * width) return;
      const QRect label(box.center().x() - width / 2, box.top(), width, box.height());
      painter.fillRect(label, QColor::fromRgb(background_of(shown, i)));
      painter.setPen(QColor::fromRgb(theme_->faint_text));
      painter.drawText(label, Qt::AlignCenter, text);
    };
    // Spans that extend beyond the recorded part of the run are drawn completely.
    const SpanRow& spans = trace_->rows()[line.rows.front()].spans;
    const bool empty = spans.size() == 0;
    hatch(Time(), empty ? recorded.from : std::min(recorded.from, spans.start(0)));
    hatch(empty ? recorded.to : std::max(recorded.to, spans.end(spans.size() - 1)),
          trace_->length());
  }
}

/// Tints the selected range, on all lines or on those of the region.
void TimelineView::paint_range(QPainter& painter, const Placement& place,
                               const QRect& lines) const {
  QColor tint = QColor::fromRgb(theme_->selection);
  const QRect all(QPoint(place.x_of(range_->from), lines.top()),
                  QPoint(place.x_of(range_->to), lines.bottom()));
  painter.setPen(QPen(tint, 1, Qt::DashLine));
  QColor pale = tint;
  pale.setAlpha(24);
  if (region_.empty()) {
    painter.drawLine(all.topLeft(), all.bottomLeft());
    painter.drawLine(all.topRight(), all.bottomRight());
    return painter.fillRect(all, pale);
  }
  painter.setBrush(pale);
  QRect box;  // of adjacent lines
  const auto draw = [&] {
    if (box.intersects(lines)) painter.drawRect(box.adjusted(0, 0, -1, -1));
  };
  for (std::size_t i = 0; i < layout_.lines().size(); ++i) {
    const Line& line = layout_.lines()[i];
    // Groups may have been opened or closed since the region was selected.
    const bool has_rows =
        !line.rows.empty() && (line.kind == Line::Kind::kSpans || (line.is_group() && !line.open));
    const bool is_inside = has_rows
                               ? std::all_of(line.rows.begin(), line.rows.end(),
                                             [&](std::size_t row) {
                                               return std::binary_search(region_rows_.begin(),
                                                                         region_rows_.end(), row);
                                             })
                               : region_.contains(line.key);
    if (!is_inside) continue;
    QRect own(all.left(), lines.top() + top_of_line(place.scene, i), all.width(), line.height);
    if (!line.pinned)
      own.setTop(std::max(own.top(), lines.top() + covered_height(layout_, place.scene.scroll)));
    if (own.isEmpty()) continue;
    if (!box.isEmpty() && box.bottom() + 1 == own.top()) {
      box |= own;
      continue;
    }
    draw();
    box = own;
  }
  draw();
}

void TimelineView::paint_overlays(QPainter& painter, const QRect& lines) const {
  painter.save();
  painter.setClipRect(lines);
  paint_unrecorded(painter, lines);
  const Scene shown = scene();
  const Placement place{shown, lines};
  if (range_) paint_range(painter, place, lines);
  if (selected_) {
    const QRect box = place.box_of(*selected_);
    painter.setPen(QPen(QColor::fromRgb(theme_->selection), 2));
    painter.setBrush(Qt::NoBrush);
    if (!box.isEmpty()) painter.drawRect(box);
    painter.setPen(QPen(QColor::fromRgb(theme_->selection), 2, Qt::DashLine));
    for (const SpanId& partner : partners_) {
      const QRect other = place.box_of(partner);
      if (!other.isEmpty()) painter.drawRect(other);
    }
  }
  painter.restore();
  for (const Overlay* const overlay : overlays_) {
    painter.save();
    painter.setClipRect(QRect(lines.left(), 0, lines.width(), lines.bottom() + 1));
    overlay->paint(painter, place);
    painter.restore();
  }
}

}  // namespace tutti::gui
