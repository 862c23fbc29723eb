#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gui/trace/span_row.h"
#include "gui/trace/time_range.h"

namespace tutti::gui {

/// A colour as 0xAARRGGBB, the layout of QImage::Format_RGB32.
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

/// The content of one pixel column of a row of spans. The column represents a short time range, in
/// which one or several spans may lie.
struct Column {
  std::uint8_t kind = 0;
  bool begins = false;  ///< true: a span that is at least kEdge pixels wide begins in this column
  bool waits = false;   ///< true: the span is waiting at this time, for example for a message
  /// The fraction of the column's time range that spans cover, in units of 1 / kFull; 0: no span.
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

  /// Returns the content of a row for each pixel column. The next call overwrites the result. If
  /// only one span touches a column, the column is completely filled, so that even the shortest
  /// span is visible. If several spans touch a column, the column has the kind of the longest span,
  /// and is filled in proportion to the time that the spans cover.
  /// Cost: one search among the spans per pixel, nearly independent of the number of spans.
  const std::vector<Column>& columns_of(const SpanRow& spans);
  /// Returns the result of the last call of columns_of().
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  /// A span that is the only span in the pixel columns `from` to `to` - 1.
  struct Alone {
    SpanRow::Index span = 0;
    std::size_t from = 0, to = 0;
  };
  /// Returns, from left to right, the spans that are wide enough for a border, for the row of the
  /// last call of columns_of(). A span with a border is alone in at least kEdge - 1 pixel columns.
  /// (The span may share its first column with the previous span.)
  [[nodiscard]] const std::vector<Alone>& alone() const { return alone_; }
  /// The minimum width in pixels of a span with a border. The border keeps adjacent spans of one
  /// kind from looking like one span. Only spans with a border can have labels of their own.
  static constexpr std::size_t kEdge = 4;

 private:
  std::vector<std::int64_t> edges_;  ///< the start of each pixel, and the end of the last one
  /// Indexed like edges_: the index of the first span that starts at this edge or later.
  std::vector<SpanRow::Index> places_;
  std::vector<Column> columns_;
  std::vector<Alone> alone_;
};

/// A vertical bar in one pixel column: its colour, and its pixel rows `from` to `to` - 1, counted
/// from the top of the row of spans.
struct Fill {
  Pixel colour = 0;
  std::int16_t from = 0, to = 0;
};
/// Returns the bar that represents a column in a row of spans that is `height` pixels high.
/// REQUIRES: the column is not empty.
Fill fill_of(const Column& column, const SpanLooks& looks, int height);

/// Draws columns into `height` pixel rows of an image. `stride`: the distance between pixel rows,
/// in pixels. Empty columns leave the image unchanged.
void draw_columns(const std::vector<Column>& columns, const SpanLooks& looks, Pixel* pixels,
                  std::ptrdiff_t stride, int height);

}  // namespace tutti::gui
