#pragma once

#include <QImage>
#include <QPainter>
#include <QRect>

#include "gui/model/layout.h"
#include "gui/model/trace.h"
#include "gui/model/traffic.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// What is to be painted of a trace, in the window and in pictures alike. Sizes are in logical pixels.
struct Scene {
  const Trace& trace;
  const Layout& layout;
  const Theme& theme;
  TimeRange range;
  int scroll = 0;                      ///< lines above the window; those that are pinned stay
  bool path_only = false;              ///< all but the critical path is faint
  const Traffic* traffic = nullptr;    ///< for lines of counters
  static constexpr int kGutter = 210;  ///< names, left of the lines
  static constexpr int kAxis = 26;     ///< time, above them
};

/// Where the lines are in an area as large as `area`: right of the names and below the axis.
QRect lines_rect(const QSize& area);
/// Where line `i` is, in the area: pinned lines stay, the others scroll beneath them.
int top_of_line(const Scene& scene, std::size_t i);

/// All that is between the names and the right edge, without texts: spans, groups, loads, at `scale` device pixels a
/// logical one. By scanlines, and so that ten million spans fit into a frame (see row_raster.h).
QImage paint_lines(const Scene& scene, const QSize& size, qreal scale);
/// The same as rectangles, for pictures that are not made of pixels.
void paint_line_shapes(QPainter& painter, const Scene& scene, const QSize& size);
/// What stands in spans that are wide enough, and in links.
void paint_texts(QPainter& painter, const Scene& scene, const QRect& lines);
void paint_names(QPainter& painter, const Scene& scene, const QRect& names);
void paint_axis(QPainter& painter, const Scene& scene, const QRect& axis);
/// All of it, the lines as rectangles (for SVG).
void paint_shapes(QPainter& painter, const Scene& scene, const QSize& size);
/// All of it: a picture as the window would show it.
QImage paint_picture(const Scene& scene, const QSize& size, qreal scale);

/// What stands in a span: "pack 3", "backward conv1".
std::string label_of(const Trace& trace, std::size_t row, SpanRow::Index index);

}  // namespace tutti::gui
