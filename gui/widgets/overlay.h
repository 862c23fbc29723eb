#pragma once

#include <QFontMetrics>
#include <QPainter>
#include <QRect>
#include <QRegion>

#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

/// The positions of rows and spans in the timeline view, for overlays that paint over them.
struct Placement {
  const Scene& scene;
  /// The area of the lines in the widget. The time axis is above this area, and the names are to
  /// the left of it.
  QRect lines;

  [[nodiscard]] int x_of(core::Time t) const {
    return lines.left() + pixel_at(scene.range, t, lines.width());
  }
  /// Returns the rectangle of the line that shows the row; empty if the row is hidden. The line may
  /// be a collapsed group, and may be scrolled out of view.
  [[nodiscard]] QRect line_of(std::size_t row) const;
  /// Returns the box of a span; empty if the span is outside of the visible range, hidden, or
  /// beneath the pinned lines.
  [[nodiscard]] QRect box_of(SpanId span) const;
};

/// Interface for objects that are painted over the lines, such as arrows and marks. Overlays are
/// painted each time the lines are shown, and are not part of the lines' image.
class Overlay {
 public:
  Overlay() = default;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  virtual ~Overlay() = default;
  /// Paints the overlay. The painter is clipped to the lines and the axis above them.
  virtual void paint(QPainter& painter, const Placement& place) const = 0;
  /// Returns the region of the axis that the overlay covers with this font. The axis has no labels
  /// in this region.
  [[nodiscard]] virtual QRegion on_axis(const Placement&, const QFontMetrics&) const { return {}; }
};

}  // namespace tutti::gui
