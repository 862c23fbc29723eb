#pragma once

#include <QFontMetrics>
#include <QPainter>
#include <QRect>
#include <QRegion>

#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

/// The positions of things on the timeline, for painting over it.
struct Placement {
  const Scene& scene;
  /// Area of the lines in the widget; the axis is above it, and the names are left of it.
  QRect lines;

  [[nodiscard]] int x_of(core::Time t) const {
    return lines.left() + pixel_at(scene.range, t, lines.width());
  }
  /// Returns the line that shows the row, possibly that of a collapsed group or one that is
  /// scrolled out of view; empty if it is hidden.
  [[nodiscard]] QRect line_of(std::size_t row) const;
  /// Returns a span's box; empty if it is outside of the visible range, hidden, or beneath the
  /// pinned lines.
  [[nodiscard]] QRect box_of(SpanId span) const;
};

/// Something that is painted over the lines each time they are shown and is not part of their
/// image, such as arrows and marks.
class Overlay {
 public:
  Overlay() = default;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  virtual ~Overlay() = default;
  /// Paints the overlay. The painter is clipped to the lines and the axis above them.
  virtual void paint(QPainter& painter, const Placement& place) const = 0;
  /// Returns the region of the axis that the overlay covers with this font; labels of the axis are
  /// left out there.
  [[nodiscard]] virtual QRegion on_axis(const Placement&, const QFontMetrics&) const { return {}; }
};

}  // namespace tutti::gui
