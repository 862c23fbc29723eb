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

/// The painted area of the lines, right of the names.
struct PaintedLines {
  QImage image;  ///< the painted spans, groups and loads, without texts
  /// For each line of the layout, the spans that are wide enough for a text.
  std::vector<RowTexts> texts;
};

/// Paints the lines at `scale` device pixels per logical pixel. Even with ten million spans,
/// painting pixel by pixel on all cores takes less than the time of a frame (see row_raster.h).
/// `before`: an image that is no longer needed. If `before` has the size of the new image, its
/// memory is reused, because allocating megabytes takes as long as painting them.
PaintedLines paint_lines(const Scene& scene, const QSize& size, qreal scale, QImage before = {});
/// Paints the lines as rectangles, for vector pictures. Returns the spans that are wide enough for
/// a text.
std::vector<RowTexts> paint_line_shapes(QPainter& painter, const Scene& scene, const QSize& size);
/// Paints the labels of links, and of spans that are wide enough. `found`: the texts that
/// paint_lines() returned.
void paint_texts(QPainter& painter, const Scene& scene, const QRect& lines,
                 const std::vector<RowTexts>& found, ShortTexts& texts);
void paint_names(QPainter& painter, const Scene& scene, const QRect& names, ShortTexts& texts);
/// Paints the time axis. `covered`: the region that other objects will cover. Labels that overlap
/// `covered` are not painted.
void paint_axis(QPainter& painter, const Scene& scene, const QRect& axis, ShortTexts& texts,
                const QRegion& covered = {});
/// Paints the whole timeline, with spans as rectangles (for SVG).
void paint_shapes(QPainter& painter, const Scene& scene, const QSize& size,
                  const QRegion& covered = {});
/// Paints the whole timeline into an image, as the window shows it.
QImage paint_picture(const Scene& scene, const QSize& size, qreal scale,
                     const QRegion& covered = {});

/// Returns the label of a span, such as "pack 3" or "backward conv1".
std::string label_of(const Trace& trace, std::size_t row, SpanRow::Index index);

}  // namespace tutti::gui
