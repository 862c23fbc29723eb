#pragma once

#include <QColor>
#include <QPainter>
#include <QRect>
#include <QSize>
#include <optional>

#include "gui/documents/sweep_curves.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// The positions of the parts of a plot, in pixels. The positions depend only on the size, the font
/// and the curves.
class PlotGeometry {
 public:
  PlotGeometry(const SweepCurves& curves, const QSize& size, const QFontMetrics& font);

  [[nodiscard]] QPointF at(double x, double y) const {
    return {area_.left() + x * area_.width(), area_.bottom() - y * area_.height()};
  }
  [[nodiscard]] QPointF at(const CurvePoint& point) const { return at(point.x, point.y); }
  [[nodiscard]] const QRectF& area() const { return area_; }
  [[nodiscard]] const QRect& legend() const { return legend_; }
  /// Returns the rectangles of the legend's entries. The legend has an entry for each line of the
  /// plot, and for the lower bound and the measurements if the plot has them. Entries that do not
  /// fit are omitted.
  [[nodiscard]] const std::vector<QRect>& entries() const { return entries_; }

 private:
  QRectF area_;
  QRect legend_;
  std::vector<QRect> entries_;
};

/// Returns the colour of a curve by its index. (paint_dot() chooses the shape of a curve's dots.)
/// Colours and shapes repeat with different periods, so that few curves have the same combination.
QColor curve_colour(std::size_t curve, const Theme& theme);
void paint_dot(QPainter& painter, const QPointF& at, std::size_t curve, const QColor& colour,
               double radius, bool hollow);

/// Draws the plot into an area of this size, without the selection. Cost: proportional to the
/// number of pixels, for any number of points.
void paint_plot(QPainter& painter, const SweepCurves& curves, const QSize& size,
                const Theme& theme);

}  // namespace tutti::gui
