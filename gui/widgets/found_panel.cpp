#include "gui/widgets/found_panel.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/format.h"
#include "gui/paint/focus.h"
#include "gui/paint/text_of.h"

namespace tutti::gui {

namespace {

constexpr int kFoundMargin = 8, kText = 18, kWidestBar = 140;

}  // namespace

FoundPanel::FoundPanel(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(160, 100);
  setAccessibleName(tr("Durations of the matching spans"));
}

void FoundPanel::show_durations(const Durations& durations) {
  durations_ = durations;
  choose(-1);
}

void FoundPanel::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

QRect FoundPanel::bar(std::size_t i) const {
  const auto count = static_cast<int>(durations_.bins.size());
  const int each = std::min(kWidestBar, (width() - 2 * kFoundMargin) / std::max(1, count));
  const int room = height() - 3 * kText;
  std::int64_t most = 1;
  for (const Durations::Bin& bin : durations_.bins) most = std::max(most, bin.spans);
  const std::int64_t spans = durations_.bins[i].spans;
  const double share =
      spans == 0 ? 0
                 : std::log1p(static_cast<double>(spans)) / std::log1p(static_cast<double>(most));
  const int tall = spans == 0 ? 0 : std::max(2, static_cast<int>(std::lround(share * room)));
  return {kFoundMargin + static_cast<int>(i) * each, 2 * kText + room - tall, std::max(1, each - 1),
          tall};
}

int FoundPanel::bin_under(const QPoint& point) const {
  for (std::size_t i = 0; i < durations_.bins.size(); ++i) {
    const QRect box = bar(i);
    if (point.x() >= box.left() && point.x() <= box.right() + 1 && point.y() >= kText)
      return static_cast<int>(i);
  }
  return -1;
}

void FoundPanel::choose(int bin) {
  chosen_ = bin;
  if (bin >= 0) {
    const Durations::Bin& one = durations_.bins[bin];
    setAccessibleDescription(tr("%1 spans have durations from %2 to %3")
                                 .arg(one.spans)
                                 .arg(text_of(one.from), text_of(one.to)));
  }
  update();
}

void FoundPanel::narrow() {
  if (chosen_ < 0) return;
  const Durations::Bin bin = durations_.bins[chosen_];
  emit narrowed(bin.from, bin.to);
}

void FoundPanel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor::fromRgb(theme_->background));
  painter.setPen(QColor::fromRgb(theme_->text));
  const QRect top(kFoundMargin, 0, width() - 2 * kFoundMargin, kText);
  if (durations_.spans == 0) {
    painter.drawText(rect(), Qt::AlignCenter,
                     tr("search for spans (Ctrl+F):\ntheir durations are shown here"));
    paint_focus(painter, *this);
    return;
  }
  painter.drawText(top, Qt::AlignVCenter,
                   tr("%1 spans, %2 in all").arg(durations_.spans).arg(text_of(durations_.sum)));
  for (std::size_t i = 0; i < durations_.bins.size(); ++i)
    painter.fillRect(
        bar(i), QColor::fromRgb(static_cast<int>(i) == chosen_ ? theme_->full_load : theme_->load));
  painter.setPen(QColor::fromRgb(theme_->faint_text));
  // The labels are at the ends of the bars, which may be narrower than the panel.
  constexpr int kRoomForLabels = 150;
  const int bars = bar(durations_.bins.size() - 1).right() + 1 - kFoundMargin;
  const QRect bottom(kFoundMargin, height() - kText,
                     std::clamp(bars, std::min(kRoomForLabels, top.width()), top.width()), kText);
  painter.drawText(bottom, Qt::AlignLeft | Qt::AlignVCenter, text_of(durations_.shortest));
  painter.drawText(bottom, Qt::AlignRight | Qt::AlignVCenter, text_of(durations_.longest));
  if (chosen_ >= 0) {
    const Durations::Bin& bin = durations_.bins[chosen_];
    painter.drawText(top.translated(0, kText - 2), Qt::AlignVCenter,
                     tr("%1 from %2 to %3").arg(bin.spans).arg(text_of(bin.from), text_of(bin.to)));
  }
  paint_focus(painter, *this);
}

void FoundPanel::mouseMoveEvent(QMouseEvent* event) { choose(bin_under(event->pos())); }
void FoundPanel::leaveEvent(QEvent*) { choose(-1); }

void FoundPanel::mouseReleaseEvent(QMouseEvent* event) {
  choose(bin_under(event->pos()));
  narrow();
}

/// While the panel has the focus, arrow keys move in it, not in the timeline.
bool FoundPanel::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    constexpr std::array kKeys{Qt::Key_Left, Qt::Key_Right, Qt::Key_Return, Qt::Key_Enter};
    const bool own = std::find(kKeys.begin(), kKeys.end(), key->key()) != kKeys.end();
    if (own && (key->modifiers() & ~Qt::KeypadModifier) == 0) event->accept();
  }
  return QWidget::event(event);
}

void FoundPanel::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(durations_.bins.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left: return choose(std::clamp(chosen_ - 1, std::min(0, last), last));
    case Qt::Key_Right: return choose(std::min(chosen_ + 1, last));
    case Qt::Key_Return:
    case Qt::Key_Enter: return narrow();
    default: return QWidget::keyPressEvent(event);
  }
}

}  // namespace tutti::gui
