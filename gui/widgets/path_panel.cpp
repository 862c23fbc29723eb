#include "gui/widgets/path_panel.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/paint/focus.h"
#include "gui/paint/text_of.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr int kPathEdge = 6, kPathRow = 34;

}  // namespace

PathPanel::PathPanel(TimelineView& view) : view_(view), theme_(&light_theme()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Critical path by cause"));
  connect(&view, &TimelineView::trace_changed, this, [this] {
    boxes_ = view_.trace() ? path_flame(*view_.trace()) : std::vector<FlameBox>();
    length_ = Time();
    for (const FlameBox& box : boxes_) length_ = std::max(length_, box.begin + box.time);
    choose(-1);
  });
}

void PathPanel::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

QRect PathPanel::rect_of(const FlameBox& box) const {
  const int top = kPathEdge + fontMetrics().height() + 2;
  const int tall = std::min(kPathRow, (height() - top - kPathEdge) / kFlameLevels);
  const auto x = [&](Time t) {
    const double share = static_cast<double>(t.count()) / static_cast<double>(length_.count());
    return kPathEdge + static_cast<int>(std::lround(share * (width() - 2 * kPathEdge)));
  };
  const int left = x(box.begin);
  return {left, top + box.level * tall, x(box.begin + box.time) - left, tall};
}

QString PathPanel::words_of(const FlameBox& box) const {
  const auto root = std::find_if(boxes_.begin(), boxes_.end(), [&](const FlameBox& other) {
    return other.level == 0 && other.side == box.side;
  });
  const double share =
      100 * static_cast<double>(box.time.count()) / static_cast<double>(root->time.count());
  QString words = tr("%1: %2").arg(text_of(box.name), text_of(box.time));
  if (box.level > 0) words += tr(", %1 % of the critical path").arg(share, 0, 'f', 1);
  if (!box.where.empty()) words += tr("; the longest at %1").arg(text_of(box.where));
  return words;
}

Pixel PathPanel::colour_of(const FlameBox& box) const {
  if (box.level == 0) return theme_->group;
  const SpanLook& look = theme_->spans[static_cast<std::size_t>(box.kind) % theme_->spans.size()];
  // The boxes of the groups are paler than those of the causes, which have the legend's colours.
  if (box.level == 1) return blend(theme_->background, look.colour, 0.5);
  return box.waits ? look.waiting : look.colour;
}

void PathPanel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor::fromRgb(theme_->background));
  painter.setPen(QColor::fromRgb(theme_->text));
  if (boxes_.empty()) {
    painter.drawText(rect().adjusted(kPathEdge, kPathEdge, -kPathEdge, -kPathEdge),
                     Qt::AlignCenter | Qt::TextWordWrap,
                     tr("this timeline has no critical path: only simulations record it"));
    return paint_focus(painter, *this);
  }
  const QRect top(kPathEdge, kPathEdge, width() - 2 * kPathEdge, fontMetrics().height());
  const QString words = chosen_ >= 0 ? words_of(boxes_[static_cast<std::size_t>(chosen_)])
                                     : tr("The critical path of the last training step by cause: "
                                          "the width of a box shows its time");
  painter.drawText(top, Qt::AlignLeft | Qt::AlignVCenter,
                   fontMetrics().elidedText(words, Qt::ElideRight, top.width()));
  for (const FlameBox& box : boxes_) {
    const QRect area = rect_of(box).adjusted(0, 0, -1, -1);
    if (area.width() < 1) continue;
    const Pixel fill = colour_of(box);
    painter.fillRect(area, QColor::fromRgb(fill));
    const QString name = text_of(box.name), value = text_of(box.time);
    const QString both = name + QStringLiteral("  ") + value;
    const QRect inner = area.adjusted(4, 0, -4, 0);
    const bool fits = fontMetrics().horizontalAdvance(both) <= inner.width();
    const QString text =
        fontMetrics().elidedText(fits ? both : name, Qt::ElideRight, inner.width());
    // A name of which less than a word would remain is left out.
    if (!fits && text != name && text.size() < 6) continue;
    painter.setPen(QColor::fromRgb(text_on(fill)));
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
  if (chosen_ >= 0) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(QColor::fromRgb(theme_->selection), 2));
    painter.drawRect(rect_of(boxes_[static_cast<std::size_t>(chosen_)]).adjusted(1, 1, -2, -2));
  }
  paint_focus(painter, *this);
}

int PathPanel::box_under(const QPoint& point) const {
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    if (rect_of(boxes_[i]).contains(point)) return static_cast<int>(i);
  }
  return -1;
}

void PathPanel::choose(int box) {
  chosen_ = box;
  setAccessibleDescription(box >= 0         ? words_of(boxes_[static_cast<std::size_t>(box)])
                           : boxes_.empty() ? tr("no critical path")
                                            : words_of(boxes_.front()));
  update();
}

/// Chooses the box of the level above that contains the chosen box, or the first box of the level
/// below that the chosen box contains.
void PathPanel::choose_level(int by) {
  const FlameBox& now = boxes_[static_cast<std::size_t>(chosen_)];
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const FlameBox& box = boxes_[i];
    const FlameBox &outer = by < 0 ? box : now, &inner = by < 0 ? now : box;
    if (box.level == now.level + by && outer.begin <= inner.begin &&
        inner.begin + inner.time <= outer.begin + outer.time)
      return choose(static_cast<int>(i));
  }
}

/// Shows the longest piece of the box in the timeline, and selects its time range.
void PathPanel::go_to(int box) {
  if (box < 0) return;
  const TimeRange piece = boxes_[static_cast<std::size_t>(box)].longest;
  const Time margin(piece.length().count() / 4);
  view_.select_range(piece);
  view_.show_range({std::max(Time(), piece.from - margin),
                    std::min(view_.view().run_length(), piece.to + margin)});
}

void PathPanel::mouseMoveEvent(QMouseEvent* event) { choose(box_under(event->pos())); }
void PathPanel::leaveEvent(QEvent*) { choose(-1); }

void PathPanel::mouseReleaseEvent(QMouseEvent* event) {
  choose(box_under(event->pos()));
  go_to(chosen_);
}

/// While the panel has the focus, arrow keys move in it, not in the timeline.
bool PathPanel::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    constexpr std::array kKeys{Qt::Key_Left, Qt::Key_Right,  Qt::Key_Up,
                               Qt::Key_Down, Qt::Key_Return, Qt::Key_Enter};
    const bool own = std::find(kKeys.begin(), kKeys.end(), key->key()) != kKeys.end();
    if (own && (key->modifiers() & ~Qt::KeypadModifier) == 0) event->accept();
  }
  return QWidget::event(event);
}

void PathPanel::keyPressEvent(QKeyEvent* event) {
  if (boxes_.empty()) return QWidget::keyPressEvent(event);
  const int last = static_cast<int>(boxes_.size()) - 1;
  const bool none = chosen_ < 0;
  switch (event->key()) {
    case Qt::Key_Left: return choose(none ? 0 : std::max(0, chosen_ - 1));
    case Qt::Key_Right: return choose(none ? 0 : std::min(last, chosen_ + 1));
    case Qt::Key_Up: return none ? choose(0) : choose_level(-1);
    case Qt::Key_Down: return none ? choose(0) : choose_level(1);
    case Qt::Key_Return:
    case Qt::Key_Enter: return go_to(chosen_);
    default: return QWidget::keyPressEvent(event);
  }
}

}  // namespace tutti::gui
