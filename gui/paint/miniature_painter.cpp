#include "gui/paint/miniature_painter.h"

#include <algorithm>
#include <cmath>

#include "gui/paint/row_raster.h"

namespace tutti::gui {

QImage paint_miniature(const Miniature& miniature, const Theme& theme, const QSize& size,
                       qreal scale) {
  const QSize pixels(std::max(1, static_cast<int>(std::lround(size.width() * scale))),
                     std::max(1, static_cast<int>(std::lround(size.height() * scale))));
  QImage picture(pixels, QImage::Format_RGB32);
  picture.setDevicePixelRatio(scale);
  picture.fill(theme.band);
  // The raster needs at least one picosecond per pixel.
  TimeRange range = miniature.range;
  range.to = std::max(range.to, range.from + core::Time(pixels.width()));
  RowRaster raster(range, pixels.width());
  const auto rows = static_cast<int>(miniature.rows.size());
  const int gap = std::max(1, static_cast<int>(std::lround(2 * scale)));
  const std::ptrdiff_t stride = picture.bytesPerLine() / static_cast<qsizetype>(sizeof(Pixel));
  auto* const first = reinterpret_cast<Pixel*>(picture.bits());
  for (int i = 0; i < rows; ++i) {
    const int top = gap + (pixels.height() - gap) * i / rows;
    const int bottom = (pixels.height() - gap) * (i + 1) / rows;
    if (bottom <= top) continue;
    const SpanRow& spans =
        miniature.trace->rows()[miniature.rows[static_cast<std::size_t>(i)]].spans;
    draw_columns(raster.columns_of(spans), theme.spans, first + top * stride, stride, bottom - top);
  }
  return picture;
}

}  // namespace tutti::gui
