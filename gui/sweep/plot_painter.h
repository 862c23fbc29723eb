#pragma once

#include <QColor>
#include <QPainter>
#include <QRect>
#include <QSize>
#include <optional>

#include "gui/model/sweep_curves.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// Where things of a plot are, in pixels. Depends on the size, the font and the plot alone.
class PlotGeometry {
 public:
  PlotGeometry(const SweepCurves& curves, const QSize& size, const QFontMetrics& font);

  [[nodiscard]] QPointF at(double x, double y) const {
    return {area_.left() + x * area_.width(), area_.bottom() - y * area_.height()};
  }
  [[nodiscard]] QPointF at(const CurvePoint& point) const { return at(point.x, point.y); }
  [[nodiscard]] const QRectF& area() const { return area_; }
  [[nodiscard]] const QRect& legend() const { return legend_; }
  /// Places of the legend's entries: each line, then the bound, then what is measured, as far as there are such; those that have
  /// no room are left out.
  [[nodiscard]] const std::vector<QRect>& entries() const { return entries_; }

 private:
  QRectF area_;
  QRect legend_;
  std::vector<QRect> entries_;
};

/// The curve whose number this is has this colour, and dots of this form; both come again after a while, but not together.
QColor curve_colour(std::size_t curve, const Theme& theme);
void paint_dot(QPainter& painter, const QPointF& at, std::size_t curve, const QColor& colour, double radius,
               bool hollow);

/// Draws the plot over all of `size`, without anything that is selected. Cost: that of its pixels, however many points there are.
void paint_plot(QPainter& painter, const SweepCurves& curves, const QSize& size, const Theme& theme);

}  // namespace tutti::gui
