// Handling of mouse and keyboard, and lookup of items under the mouse.

#include "gui/widgets/timeline_view.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/format.h"
#include "gui/comparison/comparison.h"
#include "gui/trace/describe.h"
#include "gui/traffic/link_load.h"

namespace tutti::gui {

using core::Time;

namespace {

/// A press of the mouse button is a click if the mouse moves by less than this distance, in pixels.
constexpr int kClick = 4;
constexpr double kZoomStep = 1.5;
constexpr double kPanStep = 0.2;

}  // namespace

Time TimelineView::time_under(double x) const {
  const QRect lines = lines_rect(size());
  return time_at(view_.range(), static_cast<int>(std::lround(x)) - lines.left(), lines.width());
}

Time TimelineView::cursor_or_middle() const {
  if (mouse_ && lines_rect(size()).contains(*mouse_)) return time_under(mouse_->x());
  return view_.range().from + Time(view_.range().length().count() / 2);
}

void TimelineView::zoom(double factor, Time at) { glide_to(view_.zoomed(factor, at)); }
void TimelineView::zoom_in() { zoom(1 / kZoomStep, cursor_or_middle()); }
void TimelineView::zoom_out() { zoom(kZoomStep, cursor_or_middle()); }
void TimelineView::pan_left() { glide_to(view_.panned(-kPanStep)); }
void TimelineView::pan_right() { glide_to(view_.panned(kPanStep)); }

std::size_t TimelineView::line_under(const QPoint& point) const {
  const int y = point.y() - Scene::kAxis;
  if (y < 0) return layout_.lines().size();
  const int scroll = scroll_bar_->value();
  if (y >= layout_.pinned_height() && y < covered_height(layout_, scroll))
    return sticky_group(layout_, scroll);
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
  // If several spans are within a pixel of the mouse, use the longest span, since this span is
  // drawn there.
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
    const TimeRange range{std::max(Time(), std::min(a, b)),
                          std::min(view_.run_length(), std::max(a, b))};
    // A drag to another line, or with Ctrl, selects a rectangle; a drag within a line or on the
    // axis selects the range on all lines.
    const std::size_t count = layout_.lines().size();
    const std::size_t from = line_under(pressed_);
    const std::size_t to = line_under({event->pos().x(), std::max(event->pos().y(), Scene::kAxis)});
    const bool rectangle = drag_ == Drag::kRange && pressed_.y() >= Scene::kAxis && from < count &&
                           (to != from || event->modifiers() & Qt::ControlModifier);
    if (!rectangle) return select_range(range);
    select_region(range, std::min(from, to), std::max(from, to));
    if (to < from) std::swap(region_begin_, region_end_);
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
  if (layout_.lines()[line].kind == Line::Kind::kLink)
    emit link_chosen(layout_.lines()[line].side, layout_.lines()[line].number);
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

/// With the mouse, the context menu applies to the span under the mouse, which is selected first.
/// With the keyboard, the context menu applies to the selected span.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (!trace_) return;
  if (event->reason() == QContextMenuEvent::Mouse) {
    const std::size_t line = line_under(event->pos());
    if (line < layout_.lines().size()) line_at_hand_ = layout_.lines()[line].key;
    if (const auto span = span_under(event->pos())) select(span);
  }
  emit menu_wanted(event->globalPos());
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Space) return QWidget::keyPressEvent(event);
  space_held_ = true;
}

void TimelineView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) space_held_ = false;
  QWidget::keyReleaseEvent(event);
}

void TimelineView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

/// The release of the space bar goes to another widget, such as the next window.
void TimelineView::focusOutEvent(QFocusEvent* event) {
  space_held_ = false;
  QWidget::focusOutEvent(event);
  update();
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
    QToolTip::showText(
        help->globalPos(),
        QString::fromStdString(error->what + "\n" + sides[0].name + ": " +
                               core::show(error->time.a) + "\n" + sides[1].name + ": " +
                               core::show(error->time.b) + "\n" + signed_difference(error->time)),
        this);
  } else if (const QString value = value_under(help->pos()); !value.isEmpty()) {
    QToolTip::showText(help->globalPos(), value, this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

QString TimelineView::value_under(const QPoint& point) const {
  const QRect lines = lines_rect(size());
  const std::size_t number = line_under(point);
  if (!trace_ || !lines.contains(point) || number >= layout_.lines().size()) return {};
  const Line& line = layout_.lines()[number];
  const Time from = time_under(point.x()), to = std::max(time_under(point.x() + 1), from + Time(1));
  std::string value;
  if (line.kind == Line::Kind::kCounter && traffic_) {
    const NamedCounter counter = counters_of(*traffic_, {from, to})[line.number];
    const auto words = [&](std::int64_t count) {
      return counter.bytes ? core::show(core::Bytes(count)) : std::to_string(count);
    };
    value =
        fmt::format("{} ({} at most)", words(counter.counter->most(from, to)), words(counter.peak));
  } else if (line.kind == Line::Kind::kLink) {
    const core::LinkRecord& link = trace_->sides()[line.side].links[line.number];
    const double load = load_of(link, from, to);
    value =
        fmt::format("{:.0f} % load, {:.3g} of {:.3g} GB/s", 100 * load,
                    load * core::to_gb_per_s(link.bandwidth), core::to_gb_per_s(link.bandwidth));
  } else {
    return {};
  }
  return tr("%1 at %2: %3")
      .arg(QString::fromStdString(line.name), QString::fromStdString(moment(*trace_, from)),
           QString::fromStdString(value));
}

}  // namespace tutti::gui
