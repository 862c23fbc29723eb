#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gui/trace/span_row.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// 0xAARRGGBB, the layout of QImage::Format_RGB32.
using Pixel = std::uint32_t;

/// The appearance of spans of one kind: a colour, and the part of the row's height that the spans
/// fill, in eighths from the top. The height helps colour-blind readers to distinguish kinds.
struct SpanLook {
  Pixel colour = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 8;
  Pixel waiting = 0;  ///< the colour of the time for which a span waits before it works
};
/// The appearance of spans, by SpanKind.
using SpanLooks = std::array<SpanLook, 64>;

/// The content of a row at one pixel of a time axis.
struct Column {
  std::uint8_t kind = 0;
  bool begins = false;  ///< true: a span of at least kEdge pixels begins here
  bool waits = false;   ///< true: the span waits here, for example for a message
  /// The covered fraction of the pixel's time, in units of 1 / kFull; 0: no span.
  std::uint16_t filled = 0;
  static constexpr std::uint16_t kFull = 0xffff;
  bool operator==(const Column&) const = default;
};

/// Returns the time at which pixel `x` of `width` begins, on a time axis that shows `range`. The
/// result is exact, without overflow.
core::Time time_at(const TimeRange& range, int x, int width);
/// Returns the pixel that contains `t`. The result is negative, or at least `width`, if `t` is
/// outside the range.
int pixel_at(const TimeRange& range, core::Time t, int width);

/// Computes the content of rows at each pixel of a time axis.
class RowRaster {
 public:
  /// REQUIRES: the range has at least one picosecond per pixel.
  RowRaster(const TimeRange& range, int width);

  /// Returns the columns of a row. The next call overwrites the columns. A pixel that one span
  /// touches is completely filled, even if the span is shorter than the pixel, so that no span
  /// vanishes. A pixel that several spans touch has the kind of the longest span, and is filled by
  /// the fraction of the time that the spans cover.
  /// Cost: one search among the spans per pixel, nearly independent of the number of spans.
  const std::vector<Column>& columns_of(const SpanRow& spans);
  /// Returns the columns of the last row.
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  /// A range of pixels `from` … `to` - 1 that only one span touches.
  struct Alone {
    SpanRow::Index span = 0;
    std::size_t from = 0, to = 0;
  };
  /// Returns the spans of the last row that have at least kEdge - 1 pixels of their own, from left
  /// to right. (A span that does not begin at the edge of a pixel shares its first pixel with
  /// another span.)
  [[nodiscard]] const std::vector<Alone>& alone() const { return alone_; }
  /// The width in pixels from which a span has a border, and either its own label or no label.
  /// Adjacent spans of one kind then do not look like one span.
  static constexpr std::size_t kEdge = 4;

 private:
  std::vector<std::int64_t> edges_;  ///< the start of each pixel, and the end of the last one
  /// Indexed by edge: the index in the row of the first span that starts at the edge or later.
  std::vector<SpanRow::Index> places_;
  std::vector<Column> columns_;
  std::vector<Alone> alone_;
};

/// The pixel rows `from` … `to` - 1 of a row that a column fills, and the colour of these pixels.
struct Fill {
  Pixel colour = 0;
  std::int16_t from = 0, to = 0;
};
/// Returns the fill of a column in a row of `height` pixels. REQUIRES: the column is not empty.
Fill fill_of(const Column& column, const SpanLooks& looks, int height);

/// Draws columns into `height` pixel rows of an image. `stride`: the distance between pixel rows,
/// in pixels. Empty columns leave the image unchanged.
void draw_columns(const std::vector<Column>& columns, const SpanLooks& looks, Pixel* pixels,
                  std::ptrdiff_t stride, int height);

}  // namespace tutti::gui
