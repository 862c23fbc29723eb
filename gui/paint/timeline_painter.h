#pragma once

#include <QImage>
#include <QPainter>
#include <QRect>
#include <QRegion>
#include <string>
#include <vector>

#include "gui/paint/row_texts.h"
#include "gui/paint/scene.h"
#include "gui/paint/short_texts.h"

namespace tutti::gui {

/// All that is between the names and the right edge.
struct PaintedLines {
  QImage image;                 ///< spans, groups, loads; no texts
  std::vector<RowTexts> texts;  ///< of each line of the layout, what has room for one
};

/// At `scale` device pixels a logical one. By scanlines, on all cores, and so that ten million spans fit into a frame (see
/// row_raster.h). `before`: an image that is not needed any more, to be painted into if it is as large: asking the system for
/// megabytes anew costs as much as painting them.
PaintedLines paint_lines(const Scene& scene, const QSize& size, qreal scale, QImage before = {});
/// The same as rectangles, for pictures that are not made of pixels; answers what has room for a text.
std::vector<RowTexts> paint_line_shapes(QPainter& painter, const Scene& scene, const QSize& size);
/// What stands in spans that are wide enough, and in links. `found`: what paint_lines() found room for.
void paint_texts(QPainter& painter, const Scene& scene, const QRect& lines, const std::vector<RowTexts>& found,
                 ShortTexts& texts);
void paint_names(QPainter& painter, const Scene& scene, const QRect& names, ShortTexts& texts);
/// `covered`: where something else will be painted over the axis; a label that would stick out from under it is left out.
void paint_axis(QPainter& painter, const Scene& scene, const QRect& axis, ShortTexts& texts,
                const QRegion& covered = {});
/// All of it, the lines as rectangles (for SVG).
void paint_shapes(QPainter& painter, const Scene& scene, const QSize& size, const QRegion& covered = {});
/// All of it: a picture as the window would show it.
QImage paint_picture(const Scene& scene, const QSize& size, qreal scale, const QRegion& covered = {});

/// What stands in a span: "pack 3", "backward conv1".
std::string label_of(const Trace& trace, std::size_t row, SpanRow::Index index);

}  // namespace tutti::gui
