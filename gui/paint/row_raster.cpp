#include "gui/paint/row_raster.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr Pixel kAlpha = 0xff000000;

/// Returns a darker shade of the colour, for the edges between spans.
Pixel darker(Pixel colour) {
  return kAlpha | ((colour >> 1 & 0x7f7f7f) + (colour >> 3 & 0x1f1f1f));
}

std::uint16_t filled_share(Time part, Time whole) {
  const double filled = static_cast<double>(part.count()) / static_cast<double>(whole.count());
  return static_cast<std::uint16_t>(
      std::clamp(filled * Column::kFull, 1.0, static_cast<double>(Column::kFull)));
}

}  // namespace

Time time_at(const TimeRange& range, int x, int width) {
  const std::int64_t length = range.length().count();
  return range.from + Time(length / width * x + length % width * x / width);
}

int pixel_at(const TimeRange& range, Time t, int width) {
  if (t < range.from) return -1;
  if (t >= range.to) return width;
  const double share =
      static_cast<double>((t - range.from).count()) / static_cast<double>(range.length().count());
  int x = std::clamp(static_cast<int>(share * width), 0, width - 1);
  while (x > 0 && time_at(range, x, width) > t) --x;
  while (x + 1 < width && time_at(range, x + 1, width) <= t) ++x;
  return x;
}

RowRaster::RowRaster(const TimeRange& range, int width)
    : places_(static_cast<std::size_t>(width) + 1), columns_(static_cast<std::size_t>(width)) {
  TUTTI_CHECK(range.length() >= Time(width), "{} ps on {} pixels", range.length().count(), width);
  edges_.reserve(places_.size());
  for (int x = 0; x <= width; ++x) edges_.push_back(time_at(range, x, width).count());
}

const std::vector<Column>& RowRaster::columns_of(const SpanRow& spans) {
  spans.first_from_each(edges_, places_);
  alone_.clear();
  for (std::size_t x = 0, next = 0; x < columns_.size(); x = next) {
    next = x + 1;
    const Time begin(edges_[x]), end(edges_[next]);
    const SpanRow::Index first = places_[x], last = places_[next];
    const bool reaches_in = first > 0 && spans.end(first - 1) > begin;
    const SpanRow::Index touching = last - first + (reaches_in ? 1 : 0);
    if (touching == 0) {
      columns_[x] = {};
    } else if (touching == 1) {
      const SpanRow::Index span = reaches_in ? first - 1 : first;
      // Following pixels that only this span touches get the same content.
      const std::int64_t until = spans.end(span).count();
      while (next < columns_.size() && places_[next + 1] == last && edges_[next + 1] <= until)
        ++next;
      const Column column{static_cast<std::uint8_t>(spans.kind(span)), false, false, Column::kFull};
      std::fill(columns_.begin() + x, columns_.begin() + next, column);
      const std::int64_t start = spans.start(span).count();
      // The span may have begun in the previous pixel, which it then shares with another span that
      // ended there.
      const bool begun_before = reaches_in && x > 0 && start >= edges_[x - 1];
      if (next - x + (begun_before ? 1 : 0) < kEdge) continue;
      alone_.push_back({span, x, next});
      columns_[x].begins = !reaches_in || begun_before;
      const std::int64_t works = start + spans.wait(span).count();
      for (std::size_t w = x; w < next && edges_[w + 1] <= works; ++w) columns_[w].waits = true;
    } else {
      const LongestSpans::Entry longest = spans.longest_entry(reaches_in ? first - 1 : first, last);
      columns_[x] = {longest.kind, false, false,
                     filled_share(spans.busy(begin, end, first, last), end - begin)};
    }
  }
  return columns_;
}

Fill fill_of(const Column& column, const SpanLooks& looks, int height) {
  const SpanLook& look = looks[column.kind % looks.size()];
  const int top = height * look.from / 8;
  const int bottom = std::max(top + 1, height * look.to / 8);
  const int lines =
      std::max(1, ((bottom - top) * column.filled + Column::kFull / 2) / Column::kFull);
  const Pixel colour = column.waits ? look.waiting : look.colour;
  return {column.begins ? darker(look.colour) : colour | kAlpha,
          static_cast<std::int16_t>(bottom - lines), static_cast<std::int16_t>(bottom)};
}

void draw_columns(const std::vector<Column>& columns, const SpanLooks& looks, Pixel* pixels,
                  std::ptrdiff_t stride, int height) {
  // First determine which pixel rows are filled in each pixel column. After that, draw row by row,
  // in the order of memory and without branches, so that the compiler can vectorize the loop.
  const std::size_t width = columns.size();
  std::vector<Pixel> colours(width);
  std::vector<std::int32_t> from(width), to(width);
  for (std::size_t x = 0; x < width; ++x) {
    if (columns[x].filled == 0) continue;
    const Fill fill = fill_of(columns[x], looks, height);
    colours[x] = fill.colour;
    from[x] = fill.from;
    to[x] = fill.to;
  }
  for (std::int32_t y = 0; y < height; ++y) {
    Pixel* const line = pixels + y * stride;
    for (std::size_t x = 0; x < width; ++x) {
      const Pixel filled =
          -static_cast<Pixel>(static_cast<int>(y >= from[x]) & static_cast<int>(y < to[x]));
      line[x] = (line[x] & ~filled) | (colours[x] & filled);
    }
  }
}

}  // namespace tutti::gui
