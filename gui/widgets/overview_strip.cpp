#include "gui/widgets/overview_strip.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/paint/timeline_painter.h"
#include "gui/paint/utilisation.h"

namespace tutti::gui {

using core::Time;

/// The height in pixels if there are two timelines, whose bands are drawn one below the other.
static constexpr int kHeightOfTwo = 64;

OverviewStrip::OverviewStrip(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setFixedHeight(sizeHint().height());
  setAccessibleName(tr("Overview"));
}

void OverviewStrip::show_trace(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  range_ = whole();
  setFixedHeight(trace_ && trace_->sides().size() > 1 ? kHeightOfTwo : sizeHint().height());
  load_is_old_ = true;
  update();
}

void OverviewStrip::set_theme(const Theme& theme) {
  theme_ = &theme;
  load_is_old_ = true;
  update();
}

void OverviewStrip::set_range(const TimeRange& range) {
  range_ = range;
  update();
}

QRect OverviewStrip::strip() const { return rect().adjusted(Scene::kGutter, 4, -4, -4); }

TimeRange OverviewStrip::whole() const {
  return {Time(), trace_ ? std::max(trace_->length(), Time(10'000)) : Time(10'000)};
}

/// Paints the bands of each timeline. The upper band shows the number of devices that compute, and
/// the lower band shows the number of packs in flight. If there are two timelines, bands of the
/// same kind are adjacent.
void OverviewStrip::paint_load() {
  const QRect area = strip();
  const int width = std::max(1, area.width());
  load_ = QImage(width, std::max(2, area.height()), QImage::Format_RGB32);
  load_.fill(theme_->background);
  load_is_old_ = false;
  const std::size_t sides = trace_->sides().size();
  const int height = load_.height() / static_cast<int>(2 * sides);
  int band = 0;
  for (const auto kind : {core::TrackKind::kCompute, core::TrackKind::kPacks}) {
    for (std::size_t side = 0; side < sides; ++side, ++band)
      paint_band(kind, side, QRect(0, band * height, width, height));
  }
}

void OverviewStrip::paint_band(core::TrackKind kind, std::size_t side, const QRect& band) {
  RowRaster raster(whole(), band.width());
  std::vector<double> sums(static_cast<std::size_t>(band.width()));
  for (const Trace::Row& row : trace_->rows()) {
    if (row.track.kind != kind || row.side != side) continue;
    add_busy_shares(row, whole(), raster, sums);
  }
  const double most = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  const int kind_of_colour = kind == core::TrackKind::kCompute ? core::SpanKind::kFirstCompute + 1
                                                               : core::SpanKind::kPackInFlight;
  const QColor colour = QColor::fromRgb(theme_->spans[kind_of_colour].colour);
  QPainter painter(&load_);
  // In the timeline view, the rows of the second timeline also have this background.
  if (side == 1) painter.fillRect(band, QColor::fromRgb(theme_->band));
  for (std::size_t x = 0; x < sums.size() && most > 0; ++x) {
    const int lines = static_cast<int>(std::lround(sums[x] / most * (band.height() - 2)));
    painter.fillRect(static_cast<int>(x), band.bottom() + 1 - lines, 1, lines, colour);
  }
}

void OverviewStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor::fromRgb(theme_->group));
  if (!trace_) return;
  if (load_is_old_) paint_load();
  const QRect area = strip();
  painter.drawImage(area.topLeft(), load_);
  painter.setPen(QColor::fromRgb(theme_->faint_text));
  paint_names(painter);
  const int from = area.left() + std::max(0, pixel_at(whole(), range_.from, area.width()));
  const int to = std::max(from + 3, area.left() + pixel_at(whole(), range_.to, area.width()));
  QColor shade = QColor::fromRgb(theme_->group);
  shade.setAlpha(170);
  painter.fillRect(QRect(area.left(), area.top(), from - area.left(), area.height()), shade);
  painter.fillRect(QRect(to, area.top(), area.right() + 1 - to, area.height()), shade);
  painter.setPen(QPen(QColor::fromRgb(theme_->selection), 1));
  painter.drawRect(QRect(from, area.top(), to - from - 1, area.height() - 1));
}

void OverviewStrip::paint_names(QPainter& painter) const {
  const QRect area = strip();
  const std::size_t sides = trace_->sides().size();
  const QRect half(8, area.top(), Scene::kGutter - 16, area.height() / 2);
  painter.drawText(half, Qt::AlignVCenter | (sides > 1 ? Qt::AlignLeft : Qt::AlignRight),
                   tr("computing"));
  painter.drawText(half.translated(0, half.height()),
                   Qt::AlignVCenter | (sides > 1 ? Qt::AlignLeft : Qt::AlignRight),
                   tr("packs in flight"));
  if (sides == 1) return;
  QFont small = painter.font();
  small.setPixelSize(10);
  painter.setFont(small);
  const int height = area.height() / 4;
  for (int band = 0; band < 4; ++band) {
    const std::size_t side = static_cast<std::size_t>(band) % 2;
    const QRect line(half.left() + 90, area.top() + band * height, half.width() - 90, height);
    const QColor colour = QColor::fromRgb(theme_->sides[side]);
    painter.setPen(colour);
    painter.drawText(
        line, Qt::AlignVCenter | Qt::AlignRight | Qt::TextSingleLine,
        painter.fontMetrics().elidedText(QString::fromStdString(trace_->sides()[side].label),
                                         Qt::ElideLeft, line.width()));
    painter.fillRect(QRect(area.left() - 5, line.top(), 4, height), colour);
  }
}

void OverviewStrip::resizeEvent(QResizeEvent*) { load_is_old_ = true; }

Time OverviewStrip::time_under(int x) const {
  const QRect area = strip();
  return time_at(whole(), std::clamp(x - area.left(), 0, area.width()), area.width());
}

void OverviewStrip::centre_at(int x) {
  if (!trace_) return;
  const Time middle = time_under(x);
  const Time half(range_.length().count() / 2);
  emit range_wanted({middle - half, middle - half + range_.length()});
}

void OverviewStrip::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos().x();
  centre_at(pressed_);
}
void OverviewStrip::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) centre_at(event->pos().x());
}
void OverviewStrip::mouseReleaseEvent(QMouseEvent* event) {
  emit settled();
  constexpr int kClick = 4;
  if (trace_ && std::abs(event->pos().x() - pressed_) < kClick)
    emit moment_wanted(time_under(event->pos().x()));
}

}  // namespace tutti::gui
