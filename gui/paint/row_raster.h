#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gui/model/span_row.h"
#include "gui/model/time_range.h"

namespace tutti::gui {

/// 0xAARRGGBB, as QImage::Format_RGB32 has it.
using Pixel = std::uint32_t;

/// How spans of one kind look: its colour, and as a second cue for eyes that take colours for each other which part of the
/// row's height they fill, in eighths from the top.
struct SpanLook {
  Pixel colour = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 8;
};
/// By SpanKind.
using SpanLooks = std::array<SpanLook, 64>;

/// What a row shows at one pixel of a time axis.
struct Column {
  std::uint8_t kind = 0;
  bool begins = false;       ///< a span of several pixels does, here
  std::uint16_t filled = 0;  ///< of kFull: how much of the time is covered; 0: nothing is there
  static constexpr std::uint16_t kFull = 0xffff;
  bool operator==(const Column&) const = default;
};

/// Where pixel `x` of `width` begins on a time axis that shows `range`. Exact, without overflow.
core::Time time_at(const TimeRange& range, int x, int width);
/// The pixel that `t` is in; below 0 or `width` and above if it is not in the range.
int pixel_at(const TimeRange& range, core::Time t, int width);

/// What rows show at the pixels of one time axis.
class RowRaster {
 public:
  /// REQUIRES: at least a picosecond a pixel.
  RowRaster(const TimeRange& range, int width);

  /// A pixel that one span touches is that span's: full, however short it is, so that none vanishes. One that several touch
  /// has the kind of the longest, so that long ones win, and is filled to the share of the time that they cover. The same
  /// columns are used again for the next row.
  /// Cost: for each pixel the search of where it ends among the spans; not of how many there are.
  const std::vector<Column>& columns_of(const SpanRow& spans);
  /// Those of the last row.
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  /// Pixels from … to - 1 that one span alone touches.
  struct Alone {
    SpanRow::Index span = 0;
    std::size_t from = 0, to = 0;
  };
  /// Of the last row, from left to right, those of more than kEdge pixels.
  [[nodiscard]] const std::vector<Alone>& alone() const { return alone_; }
  /// Spans that are wider show where they begin.
  static constexpr std::size_t kEdge = 3;

 private:
  std::vector<std::int64_t> edges_;     ///< when each pixel begins, and the last one ends
  std::vector<SpanRow::Index> places_;  ///< of the edges, among the spans
  std::vector<Column> columns_;
  std::vector<Alone> alone_;
};

/// Which lines of a row of `height` lines a column fills, and with what.
struct Fill {
  Pixel colour = 0;
  std::int16_t from = 0, to = 0;
};
/// REQUIRES: something is there.
Fill fill_of(const Column& column, const SpanLooks& looks, int height);

/// Draws columns into `height` lines of an image whose lines are `stride` pixels apart; only where something is.
void draw_columns(const std::vector<Column>& columns, const SpanLooks& looks, Pixel* pixels, std::ptrdiff_t stride,
                  int height);

}  // namespace tutti::gui
