#pragma once

#include <QImage>
#include <QPainter>
#include <QRect>
#include <atomic>
#include <vector>

#include "gui/paint/row_raster.h"
#include "gui/paint/row_texts.h"
#include "gui/paint/scene.h"

namespace tutti::gui {

/// Paints the lines of a layout, either into the pixels of an image, or as rectangles by a
/// QPainter.
class LineCanvas {
 public:
  /// Paints rectangles with the painter `shapes`, at one unit per logical pixel. `texts` receives,
  /// for each line of the layout, the spans that are wide enough for a text.
  LineCanvas(const Scene& scene, const QSize& size, QPainter& shapes, std::vector<RowTexts>& texts);
  /// Paints into an image. Other canvases may paint other lines of the image at the same time.
  /// REQUIRES: the image is not moved while this object exists.
  LineCanvas(const Scene& scene, QImage& image, qreal scale, std::vector<RowTexts>& texts);

  /// Paints lines. Takes the indices of lines from `next`, a counter that all threads share.
  /// Depending on `pinned`, paints only pinned lines, or only lines that are not pinned.
  void paint(bool pinned, std::atomic<std::size_t>& next);

 private:
  void line(const Line& line, std::size_t number);
  void spans(std::size_t row, RowTexts& texts);
  /// Paints the spans of the current line. `columns`: the content of each pixel column.
  void columns(const std::vector<Column>& columns, const SpanLooks& looks);
  void span_shapes(const std::vector<Column>& columns, const SpanLooks& looks, int gap, int height);
  void span_pixels(const std::vector<Column>& columns, const SpanLooks& looks, int top, int height);
  void steps(const Side& side);
  void path(const Side& side);
  void errors(const DifferenceRow& row);
  void load(const core::LinkRecord& link);
  void counter(const NamedCounter& counter);
  void utilisation(const Line& group);
  /// Paints the utilisation of one side into the pixel rows `top` to `bottom` - 1 of the line.
  void utilisation(const Line& group, std::size_t side, int top, int bottom);

  void box(core::Time start, core::Time end, Pixel filled);
  void fill(int from, int to, int top, int bottom, Pixel filled);
  void shape(const QRect& box, Pixel filled);
  void flush();
  [[nodiscard]] int device(int logical) const;

  const Scene& scene_;
  qreal scale_;
  QSize size_;  ///< size in device pixels
  QPainter* shapes_ = nullptr;
  QRect shape_;  ///< the last rectangle, which may still be extended
  Pixel shape_colour_ = 0;
  Pixel* pixels_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  RowRaster raster_;
  std::vector<RowTexts>& texts_;
  int top_ = 0;  ///< y coordinate of the top of the current line
  int height_ = 0;
};

}  // namespace tutti::gui
