#include "gui/widgets/legend_strip.h"

#include <QMouseEvent>
#include <QPainter>
#include <QResizeEvent>
#include <algorithm>

#include "gui/paint/colour.h"
#include "gui/paint/text_of.h"

namespace tutti::gui {

namespace {

constexpr int kMargin = 8, kSwatch = 14, kGap = 5, kBetween = 14;

QString name_of(int kind) { return text_of(core::span_name(kind)); }
QString words_of_waits() { return LegendStrip::tr("pale: waits"); }

}  // namespace

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  // Do not use Qt's height-for-width mechanism, with which the window would grow during its layout.
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Maximum);
  setAccessibleName(tr("Legend"));
}

void LegendStrip::show_trace(const std::shared_ptr<const Trace>& trace) {
  kinds_ = trace ? trace->kinds() : std::vector<int>();
  waits_ = trace && trace->has_waits();
  QStringList names;
  for (const int kind : kinds_) names.append(name_of(kind));
  setAccessibleDescription(names.join(QStringLiteral(", ")));
  setToolTip(tr("The colour of each kind of span. Click a kind to search for its spans"));
  updateGeometry();
  update();
}

void LegendStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

int LegendStrip::line_height() const { return fontMetrics().height() + 6; }

QSize LegendStrip::sizeHint() const {
  const std::vector<QRect> boxes = boxes_of(width());
  return {320, boxes.empty() ? line_height() : boxes.back().bottom() + 1};
}

QSize LegendStrip::minimumSizeHint() const { return {0, line_height()}; }

void LegendStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  // Queue the update, because a Qt layout ignores a new size hint while it places its widgets.
  QMetaObject::invokeMethod(
      this, [this] { updateGeometry(); }, Qt::QueuedConnection);
}

std::vector<QRect> LegendStrip::boxes_of(int width) const {
  QStringList texts;
  for (const int kind : kinds_) texts.append(name_of(kind));
  if (waits_ && !kinds_.empty()) texts.append(words_of_waits());
  std::vector<QRect> boxes;
  QPoint at(kMargin, 0);
  for (const QString& text : texts) {
    const int wide = kSwatch + kGap + fontMetrics().horizontalAdvance(text);
    if (at.x() > kMargin && at.x() + wide > width - kMargin)
      at = QPoint(kMargin, at.y() + line_height());
    boxes.emplace_back(at, QSize(wide, line_height()));
    at.rx() += wide + kBetween;
  }
  return boxes;
}

QRect LegendStrip::box_of_waits() const {
  const std::vector<QRect> boxes = boxes_of(width());
  return boxes.size() > kinds_.size() ? boxes.back() : QRect();
}

void LegendStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colour(theme_->background));
  const auto look_of = [&](int kind) -> const SpanLook& {
    return theme_->spans[static_cast<std::size_t>(kind) % theme_->spans.size()];
  };
  const auto entry = [&](const QRect& box, const SpanLook& look, Pixel filled,
                         const QString& text) {
    if (box.bottom() >= height()) return;  // no half lines if there is too little space
    const int top = box.top() + (box.height() - 16) / 2;
    painter.fillRect(box.left(), top + 2 * look.from, kSwatch, 2 * (look.to - look.from),
                     colour(filled));
    painter.setPen(colour(theme_->text));
    painter.drawText(box.adjusted(kSwatch + kGap, 0, 1, 0), Qt::AlignVCenter, text);
  };
  const std::vector<QRect> boxes = boxes_of(width());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const SpanLook& look = look_of(kinds_[i]);
    entry(boxes[i], look, look.colour, name_of(kinds_[i]));
  }
  if (boxes.size() > kinds_.size())
    entry(boxes.back(), {0, 0, 8}, look_of(kinds_.front()).waiting, words_of_waits());
}

void LegendStrip::mouseReleaseEvent(QMouseEvent* event) {
  const std::vector<QRect> boxes = boxes_of(width());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (boxes[i].contains(event->pos())) return emit kind_wanted(name_of(kinds_[i]));
  }
}

}  // namespace tutti::gui
