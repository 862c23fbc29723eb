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

/// The picture's pixels and how lines of the layout become lines of it. Or no pixels, but rectangles for a painter of shapes.
class LineCanvas {
 public:
  /// Shapes, at one unit a logical pixel. `texts`: of each line of the layout, what has room for one.
  LineCanvas(const Scene& scene, const QSize& size, QPainter& shapes, std::vector<RowTexts>& texts);
  /// Pixels of an image that others may paint other lines of. REQUIRES: the image stays where it is.
  LineCanvas(const Scene& scene, QImage& image, qreal scale, std::vector<RowTexts>& texts);

  /// Lines that are pinned (that are not), each that `next` gives out.
  void paint(bool pinned, std::atomic<std::size_t>& next);

 private:
  void line(const Line& line, std::size_t number);
  void spans(const SpanRow& row, RowTexts& texts);
  void span_shapes(const std::vector<Column>& columns, const SpanLooks& looks, int gap, int height);
  void span_pixels(const std::vector<Column>& columns, const SpanLooks& looks, int top, int height);
  void steps(const Side& side);
  void path(const Side& side);
  void errors(const DifferenceRow& row);
  void load(const core::LinkRecord& link);
  void counter(const Counter& counter);
  void utilisation(const Line& group);
  /// Of one side, from `top` to `bottom` - 1 of the line.
  void utilisation(const Line& group, std::size_t side, int top, int bottom);

  void box(core::Time start, core::Time end, Pixel filled);
  void fill(int from, int to, int top, int bottom, Pixel filled);
  void shape(const QRect& box, Pixel filled);
  void flush();
  [[nodiscard]] int device(int logical) const;

  const Scene& scene_;
  qreal scale_;
  QSize size_;  ///< in device pixels
  QPainter* shapes_ = nullptr;
  QRect shape_;  ///< the last one, which may yet grow
  Pixel shape_colour_ = 0;
  Pixel* pixels_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  RowRaster raster_;
  std::vector<RowTexts>& texts_;
  int top_ = 0;  ///< of the line at hand
  int height_ = 0;
};

}  // namespace tutti::gui
