#pragma once

#include <QFontMetrics>
#include <QPainter>
#include <QRect>
#include <QRegion>

#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

/// Where things are on the timeline, for whoever paints over it.
struct Placement {
  const Scene& scene;
  QRect lines;  ///< of the widget; the axis is above, names are left of it

  [[nodiscard]] int x_of(core::Time t) const { return lines.left() + pixel_at(scene.range, t, lines.width()); }
  /// The line that the row is in, also as part of a closed group, and if it is scrolled away; empty if it is hidden.
  [[nodiscard]] QRect line_of(std::size_t row) const;
  /// A span's box; empty if it is beside what is shown, hidden, or beneath the pinned lines.
  [[nodiscard]] QRect box_of(SpanId span) const;
};

/// Something painted over the lines each time they are shown, and not part of their picture: arrows, marks.
class Overlay {
 public:
  Overlay() = default;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  virtual ~Overlay() = default;
  /// The painter is clipped to the lines, and the axis above them.
  virtual void paint(QPainter& painter, const Placement& place) const = 0;
  /// What of the axis it covers, in that font: there the axis has no labels.
  [[nodiscard]] virtual QRegion on_axis(const Placement&, const QFontMetrics&) const { return {}; }
};

}  // namespace tutti::gui
