#include "gui/widgets/overview_strip.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

using core::Time;

OverviewStrip::OverviewStrip(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setFixedHeight(sizeHint().height());
  setAccessibleName(tr("Overview"));
}

void OverviewStrip::show_trace(std::shared_ptr<const Trace> trace) {
  trace_ = std::move(trace);
  range_ = whole();
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

/// Two bands: how many devices compute above, how many packs are in flight below.
void OverviewStrip::paint_load() {
  const QRect area = strip();
  const int width = std::max(1, area.width());
  load_ = QImage(width, std::max(2, area.height()), QImage::Format_RGB32);
  load_.fill(theme_->background);
  load_is_old_ = false;
  RowRaster raster(whole(), width);
  QPainter painter(&load_);
  const int half = load_.height() / 2;
  int band = 0;
  for (const auto kind : {core::TrackKind::kCompute, core::TrackKind::kPacks}) {
    std::vector<double> sums(static_cast<std::size_t>(width));
    double most = 0;
    int rows = 0;
    for (const Trace::Row& row : trace_->rows()) {
      if (row.track.kind != kind) continue;
      ++rows;
      const std::vector<Column>& columns = raster.columns_of(row.spans);
      for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += columns[x].filled;
    }
    for (const double sum : sums) most = std::max(most, sum);
    const int kind_of_colour = band == 0 ? core::SpanKind::kFirstCompute + 1 : core::SpanKind::kPackInFlight;
    const QColor colour = QColor::fromRgb(theme_->spans[static_cast<std::size_t>(kind_of_colour)].colour);
    const int bottom = band == 0 ? half : load_.height();
    for (std::size_t x = 0; x < sums.size() && rows > 0 && most > 0; ++x) {
      const int lines = static_cast<int>(std::lround(sums[x] / most * (half - 2)));
      painter.fillRect(static_cast<int>(x), bottom - lines, 1, lines, colour);
    }
    ++band;
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
  const QRect names(8, area.top(), Scene::kGutter - 16, area.height() / 2);
  painter.drawText(names, Qt::AlignVCenter | Qt::AlignRight, tr("computing"));
  painter.drawText(names.translated(0, area.height() / 2), Qt::AlignVCenter | Qt::AlignRight, tr("packs in flight"));
  const int from = area.left() + std::max(0, pixel_at(whole(), range_.from, area.width()));
  const int to = std::max(from + 3, area.left() + pixel_at(whole(), range_.to, area.width()));
  QColor shade = QColor::fromRgb(theme_->group);
  shade.setAlpha(170);
  painter.fillRect(QRect(area.left(), area.top(), from - area.left(), area.height()), shade);
  painter.fillRect(QRect(to, area.top(), area.right() + 1 - to, area.height()), shade);
  painter.setPen(QPen(QColor::fromRgb(theme_->selection), 1));
  painter.drawRect(QRect(from, area.top(), to - from - 1, area.height() - 1));
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
  if (trace_ && std::abs(event->pos().x() - pressed_) < kClick) emit moment_wanted(time_under(event->pos().x()));
}

}  // namespace tutti::gui
