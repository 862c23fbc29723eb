#include "gui/widgets/timeline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "gui/model/beside.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr double kZoomStep = 1.5;
constexpr double kPanStep = 0.2;
/// A press that moves less is a click.
constexpr int kClick = 4;
constexpr int kBar = 14;

}  // namespace

TimelineView::TimelineView(QWidget* parent)
    : QWidget(parent), theme_(&light_theme()), scroll_bar_(new QScrollBar(Qt::Vertical, this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(tr("Rows of spans over time; the details panel reads out the selected span"));
  connect(scroll_bar_, &QScrollBar::valueChanged, this, [this] { repaint_lines(); });
}

void TimelineView::show_trace(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  view_ = View(trace_ ? trace_->length() : Time());
  layout_ = trace_ ? Layout(*trace_, arrangement_) : Layout();
  selected_.reset();
  partners_.clear();
  range_.reset();
  piece_of_path_.reset();
  traffic_.reset();
  show_counters(counters_);
  emit trace_changed();
  emit view_changed();
  emit selection_changed();
  emit range_changed();
}

void TimelineView::replace_trace(std::shared_ptr<const Trace> trace, const std::optional<TimeRange>& range) {
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

Scene TimelineView::scene() const {
  return {*trace_, layout_, *theme_, view_.range(), scroll_bar_->value(), path_only_, traffic_.get()};
}

QImage TimelineView::picture(const QSize& size, qreal scale) const {
  if (!trace_) return {};
  QImage picture = paint_picture(scene(), size, scale);
  QPainter painter(&picture);
  paint_overlays(painter, lines_rect(size));
  return picture;
}

void TimelineView::paint_shapes(QPainter& painter, const QSize& size) const {
  if (!trace_) return;
  gui::paint_shapes(painter, scene(), size);
  paint_overlays(painter, lines_rect(size));
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

// --- what is in view ---

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

void TimelineView::zoom(double factor, Time at) { glide_to(view_.zoomed(factor, at)); }

Time TimelineView::time_under(double x) const {
  const QRect lines = lines_rect(size());
  return time_at(view_.range(), static_cast<int>(std::lround(x)) - lines.left(), lines.width());
}

Time TimelineView::cursor_or_middle() const {
  if (mouse_ && lines_rect(size()).contains(*mouse_)) return time_under(mouse_->x());
  return view_.range().from + Time(view_.range().length().count() / 2);
}

void TimelineView::zoom_in() { zoom(1 / kZoomStep, cursor_or_middle()); }
void TimelineView::zoom_out() { zoom(kZoomStep, cursor_or_middle()); }
void TimelineView::pan_left() { glide_to(view_.panned(-kPanStep)); }
void TimelineView::pan_right() { glide_to(view_.panned(kPanStep)); }
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

// --- selection ---

void TimelineView::select(const std::optional<SpanId>& span) {
  if (selected_ == span) return;
  selected_ = span;
  partners_ = span && trace_ && trace_->parts() ? trace_->parts()->partners(*span) : std::vector<SpanId>();
  update();
  emit selection_changed();
}

void TimelineView::go_to(const SpanId& span) {
  if (!trace_ || span.row >= trace_->rows().size() || span.index >= trace_->rows()[span.row].spans.size()) return;
  layout_.reveal(span.row);
  lines_have_changed();
  const SpanRow& spans = trace_->rows()[span.row].spans;
  const Time start = spans.start(span.index), end = spans.end(span.index);
  const TimeRange& seen = view_.range();
  if (end < seen.from || start > seen.to || spans.duration(span.index) > seen.length()) {
    const Time length = std::max(seen.length(), Time(spans.duration(span.index).count() * 2));
    const Time middle = start + Time(spans.duration(span.index).count() / 2);
    show_range({middle - Time(length.count() / 2), middle + Time(length.count() / 2)});
  }
  const std::size_t line = layout_.line_of_row(span.row);
  if (line < layout_.lines().size()) line_at_hand_ = layout_.lines()[line].key;
  select(span);
  scroll_to_both(line);
}

/// With the same of the other of two timelines, if there is room for both.
void TimelineView::scroll_to_both(std::size_t line) {
  const auto& lines = layout_.lines();
  if (line >= lines.size() || lines[line].pinned) return;
  const int room = lines_rect(size()).height() - layout_.pinned_height();
  int top = lines[line].top, bottom = lines[line].bottom();
  for (const SpanId& partner : partners_) {
    const std::size_t other = layout_.line_of_row(partner.row);
    if (other >= lines.size() || lines[other].pinned) continue;
    const int both_top = std::min(top, lines[other].top), both_bottom = std::max(bottom, lines[other].bottom());
    if (both_bottom - both_top > room) continue;
    top = both_top;
    bottom = both_bottom;
  }
  if (top - layout_.pinned_height() < scroll_bar_->value()) {
    scroll_bar_->setValue(top - layout_.pinned_height());
  } else if (bottom > scroll_bar_->value() + layout_.pinned_height() + room) {
    scroll_bar_->setValue(bottom - layout_.pinned_height() - room);
  }
}

void TimelineView::select_partner() {
  if (partners_.empty()) return;
  const SpanId partner = partners_.front();  // there are others once it is selected
  go_to(partner);
}

void TimelineView::scroll_to(std::size_t line) {
  if (line >= layout_.lines().size() || layout_.lines()[line].pinned) return;
  const Line& there = layout_.lines()[line];
  const int room = lines_rect(size()).height();
  if (there.top - layout_.pinned_height() < scroll_bar_->value()) {
    scroll_bar_->setValue(there.top - layout_.pinned_height());
  } else if (there.bottom() > scroll_bar_->value() + room) {
    scroll_bar_->setValue(there.bottom() - room);
  }
}

void TimelineView::select_next() {
  if (!trace_) return;
  if (!selected_) return walk_lines(1);
  if (selected_->index + 1 < trace_->rows()[selected_->row].spans.size()) go_to({selected_->row, selected_->index + 1});
}

void TimelineView::select_previous() {
  if (trace_ && selected_ && selected_->index > 0) go_to({selected_->row, selected_->index - 1});
}

void TimelineView::select_range(const std::optional<TimeRange>& range) {
  range_ = range;
  update();
  emit range_changed();
}

void TimelineView::clear_selection() {
  select(std::nullopt);
  select_range(std::nullopt);
}

// --- critical path ---

void TimelineView::set_path_only(bool on) {
  path_only_ = on;
  repaint_lines();
}

void TimelineView::next_on_path() { step_along_path(1); }
void TimelineView::previous_on_path() { step_along_path(-1); }

/// To the piece of the path after (before) the one at hand, and to the span that it is, where one is recorded.
void TimelineView::step_along_path(int by) {
  if (!trace_) return;
  // Of two timelines, along that in which something is selected.
  const std::size_t side = selected_ ? trace_->rows()[selected_->row].side : 0;
  const std::vector<core::PathPiece>& path = trace_->sides()[side].path;
  if (path.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(path.size());
  std::ptrdiff_t next = by > 0 ? 0 : count - 1;
  if (piece_of_path_)
    next = std::clamp(static_cast<std::ptrdiff_t>(*piece_of_path_) + by, std::ptrdiff_t{0}, count - 1);
  piece_of_path_ = static_cast<std::size_t>(next);
  const core::PathPiece& piece = path[*piece_of_path_];
  const Time margin((piece.end - piece.start).count() / 2 + 1);
  select_range(TimeRange{piece.start, piece.end});
  show_range({piece.start - margin, piece.end + margin});
  const Time middle = piece.start + Time((piece.end - piece.start).count() / 2);
  for (std::size_t r = 0; r < trace_->rows().size(); ++r) {
    const Trace::Row& row = trace_->rows()[r];
    const bool its = "w" + std::to_string(row.track.worker) + '/' + row.track.device == piece.device;
    if (!its || row.side != side || row.track.kind == core::TrackKind::kLane) continue;
    const SpanRow::Index at = row.spans.at(middle);
    if (at < row.spans.size() && row.spans.kind(at) == piece.kind &&
        (piece.pack < 0 || row.spans.pack(at) == piece.pack))
      return go_to({r, at});
  }
}

// --- lines ---

void TimelineView::filter(const QString& text) {
  layout_.filter(text.toStdString());
  lines_have_changed();
}

void TimelineView::show_traffic(std::shared_ptr<const Traffic> traffic) {
  traffic_ = std::move(traffic);
  repaint_lines();
}

/// Their lines are there before it is known what they hold, so that nothing moves when it is. Of two timelines nothing is worked
/// out: the room is for comparing.
void TimelineView::show_counters(bool on) {
  counters_ = on;
  const bool has = on && trace_ && trace_->sides().size() == 1;
  layout_.show_counters(has ? counter_names(*trace_) : std::vector<std::string>());
  lines_have_changed();
}

void TimelineView::go_to_line(const QString& key) {
  layout_.reveal(key.toStdString());
  lines_have_changed();
  const auto& lines = layout_.lines();
  const auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.key == key.toStdString(); });
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

void TimelineView::pin_or_unpin() {
  const auto& lines = layout_.lines();
  std::string key = line_at_hand_;
  if (key.empty() && selected_) {
    const std::size_t line = layout_.line_of_row(selected_->row);
    if (line < lines.size()) key = lines[line].key;
  }
  const auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.key == key; });
  if (line == lines.end()) return;
  layout_.pin(key, !line->pinned);
  lines_have_changed();
}

/// Of the row, the span that covers the middle of the selected one, else the middle of the view; else the next, else the last.
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
  return SpanId{row, there < spans.size() ? there : std::min(spans.first_from(middle), spans.size() - 1)};
}

void TimelineView::walk_lines(int by) {
  const auto& lines = layout_.lines();
  if (!trace_ || lines.empty()) return;
  const auto at_hand =
      std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.key == line_at_hand_; });
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(lines.size()) - 1;
  std::ptrdiff_t next = at_hand == lines.end() ? (by > 0 ? 0 : last) : (at_hand - lines.begin()) + by;
  next = std::clamp(next, std::ptrdiff_t{0}, last);
  const auto line = static_cast<std::size_t>(next);
  line_at_hand_ = lines[line].key;
  scroll_to(line);
  if (lines[line].kind == Line::Kind::kSpans) {
    if (const auto span = nearest_span(lines[line].rows.front())) go_to(*span);
  }
  if (lines[line].kind == Line::Kind::kLink && !trace_->parts()) emit link_chosen(lines[line].number);
  setAccessibleDescription(QString::fromStdString(line_at_hand_));
  update();
}

void TimelineView::open_or_close() {
  const auto& lines = layout_.lines();
  const auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.key == line_at_hand_; });
  if (line == lines.end() || !line->is_group()) return;
  layout_.open(line_at_hand_, !line->open);
  lines_have_changed();
}

void TimelineView::lines_have_changed() {
  place_scroll_bar();
  repaint_lines();
}

void TimelineView::place_scroll_bar() {
  const QRect lines = lines_rect(size());
  scroll_bar_->setGeometry(width() - kBar, lines.top(), kBar, lines.height());
  scroll_bar_->setRange(0, std::max(0, layout_.height() - lines.height()));
  scroll_bar_->setPageStep(lines.height());
  scroll_bar_->setSingleStep(20);
  scroll_bar_->setVisible(scroll_bar_->maximum() > 0);
}

void TimelineView::repaint_lines() {
  image_is_old_ = true;
  update();
}

std::size_t TimelineView::line_under(const QPoint& point) const {
  const int y = point.y() - Scene::kAxis;
  if (y < 0) return layout_.lines().size();
  return layout_.line_at(y < layout_.pinned_height() ? y : y + scroll_bar_->value());
}

std::optional<SpanId> TimelineView::span_under(const QPoint& point) const {
  const QRect lines = lines_rect(size());
  const std::size_t line = line_under(point);
  if (!trace_ || !lines.contains(point) || line >= layout_.lines().size() ||
      layout_.lines()[line].kind != Line::Kind::kSpans)
    return std::nullopt;
  const std::size_t row = layout_.lines()[line].rows.front();
  const SpanRow& spans = trace_->rows()[row].spans;
  // The longest of those that are within a pixel of the mouse: what is drawn there.
  const Time from = time_under(point.x()), to = std::max(time_under(point.x() + 1), from + Time(1));
  SpanRow::Index first = spans.first_from(from);
  const SpanRow::Index end = spans.first_from(to);
  if (first > 0 && spans.end(first - 1) > from) --first;
  if (first >= end) return std::nullopt;
  return SpanId{row, spans.longest(first, end)};
}

const Difference* TimelineView::error_under(const QPoint& point) const {
  const std::size_t line = line_under(point);
  if (!trace_ || !lines_rect(size()).contains(point) || line >= layout_.lines().size() ||
      layout_.lines()[line].kind != Line::Kind::kError)
    return nullptr;
  const Time from = time_under(point.x()), to = std::max(time_under(point.x() + 1), from + Time(1));
  for (const Difference& error : trace_->differences()[layout_.lines()[line].number].differences) {
    if (error.at.from < to && error.at.to >= from) return &error;
  }
  return nullptr;
}

// --- events ---

void TimelineView::resizeEvent(QResizeEvent*) {
  place_scroll_bar();
  repaint_lines();
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
  paint_axis(painter, scene(), QRect(0, 0, width(), Scene::kAxis), texts_);
  paint_line_at_hand(painter, lines);
  paint_overlays(painter, lines);
  if (mouse_ && lines.contains(*mouse_)) {
    QColor faint = QColor::fromRgb(theme_->faint_text);
    faint.setAlpha(120);
    painter.setPen(faint);
    painter.drawLine(mouse_->x(), lines.top(), mouse_->x(), lines.bottom());
  }
}

/// A bar beside its name.
void TimelineView::paint_line_at_hand(QPainter& painter, const QRect& lines) const {
  for (std::size_t i = 0; i < layout_.lines().size(); ++i) {
    const Line& line = layout_.lines()[i];
    const int top = lines.top() + top_of_line(scene(), i);
    if (line.key == line_at_hand_ && top + line.height > lines.top())
      painter.fillRect(QRect(0, top, 3, line.height), QColor::fromRgb(theme_->selection));
  }
}

void TimelineView::paint_overlays(QPainter& painter, const QRect& lines) const {
  painter.save();
  painter.setClipRect(lines);
  const Scene shown = scene();
  const Placement place{shown, lines};
  if (range_) {
    QColor tint = QColor::fromRgb(theme_->selection);
    const QRect box(QPoint(place.x_of(range_->from), lines.top()), QPoint(place.x_of(range_->to), lines.bottom()));
    painter.setPen(QPen(tint, 1, Qt::DashLine));
    painter.drawLine(box.topLeft(), box.bottomLeft());
    painter.drawLine(box.topRight(), box.bottomRight());
    tint.setAlpha(24);
    painter.fillRect(box, tint);
  }
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

void TimelineView::wheelEvent(QWheelEvent* event) {
  const double notches = (event->angleDelta().y() + event->angleDelta().x()) / 120.0;
  if (event->modifiers() & Qt::ControlModifier) {
    zoom(std::pow(kZoomStep, -notches), time_under(event->position().x()));
  } else if (event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0) {
    glide_to(view_.panned(-notches * kPanStep / 2));
  } else {
    scroll_bar_->setValue(scroll_bar_->value() - static_cast<int>(notches * 60));
  }
  event->accept();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  pressed_range_ = view_.range();
  if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && space_held_)) {
    drag_ = Drag::kPan;
  } else if (event->button() == Qt::LeftButton && event->pos().x() >= Scene::kGutter) {
    drag_ = event->modifiers() & Qt::AltModifier ? Drag::kZoom : Drag::kRange;
  }
  setFocus(Qt::MouseFocusReason);
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  mouse_ = event->pos();
  update();
  emit cursor_moved(event->pos().x() >= Scene::kGutter ? time_under(event->pos().x()).count() : -1);
  const bool moved = std::abs(event->pos().x() - pressed_.x()) >= kClick;
  if (drag_ == Drag::kPan) {
    const int width = lines_rect(size()).width();
    const double share = static_cast<double>(pressed_.x() - event->pos().x()) / width;
    const Time by(std::llround(share * static_cast<double>(pressed_range_.length().count())));
    glide_to({pressed_range_.from + by, pressed_range_.to + by});
  } else if (drag_ != Drag::kNone && moved) {
    const Time a = time_under(pressed_.x()), b = time_under(event->pos().x());
    select_range(TimeRange{std::max(Time(), std::min(a, b)), std::min(view_.run_length(), std::max(a, b))});
  }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(drag_, Drag::kNone);
  settle();
  const bool moved = std::abs(event->pos().x() - pressed_.x()) >= kClick;
  if (drag == Drag::kZoom && moved && range_) {
    const TimeRange range = *range_;
    select_range(std::nullopt);
    return show_range(range);
  }
  if (moved || event->button() != Qt::LeftButton || drag == Drag::kPan) return;
  if (event->pos().y() < Scene::kAxis && event->pos().x() >= Scene::kGutter) {
    emit moment_wanted(time_under(event->pos().x()));
    return;
  }
  const std::size_t line = line_under(event->pos());
  if (line >= layout_.lines().size()) return clear_selection();
  line_at_hand_ = layout_.lines()[line].key;
  if (layout_.lines()[line].is_group()) {
    layout_.open(line_at_hand_, !layout_.lines()[line].open);
    return lines_have_changed();
  }
  if (layout_.lines()[line].kind == Line::Kind::kLink && !trace_->parts())
    emit link_chosen(layout_.lines()[line].number);
  if (const Difference* const error = error_under(event->pos())) {
    select(std::nullopt);
    return select_range(error->at);
  }
  select_range(std::nullopt);
  select(span_under(event->pos()));
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto span = span_under(event->pos())) {
    select(span);
    fit_selection();
  }
}

void TimelineView::leaveEvent(QEvent*) {
  mouse_.reset();
  update();
  emit cursor_moved(-1);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Space) return QWidget::keyPressEvent(event);
  space_held_ = true;
}

void TimelineView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) space_held_ = false;
  QWidget::keyReleaseEvent(event);
}

bool TimelineView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* const help = static_cast<QHelpEvent*>(event);
  const auto span = span_under(help->pos());
  if (span) {
    const SpanRow& spans = trace_->rows()[span->row].spans;
    QToolTip::showText(help->globalPos(),
                       QString::fromStdString(label_of(*trace_, span->row, span->index) + ": " +
                                              core::show(spans.duration(span->index))),
                       this);
  } else if (const Difference* const error = error_under(help->pos())) {
    const auto& sides = trace_->sides();
    QToolTip::showText(help->globalPos(),
                       QString::fromStdString(error->what + "\n" + sides[0].name + ": " + core::show(error->time.a) +
                                              "\n" + sides[1].name + ": " + core::show(error->time.b) + "\n" +
                                              signed_difference(error->time)),
                       this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

}  // namespace tutti::gui
