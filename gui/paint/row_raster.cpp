#include "gui/paint/row_raster.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr Pixel kAlpha = 0xff000000;

/// A shade darker, for the edges between spans.
Pixel darker(Pixel colour) { return kAlpha | ((colour >> 1 & 0x7f7f7f) + (colour >> 2 & 0x3f3f3f)); }

std::uint16_t share(Time part, Time whole) {
  const double filled = static_cast<double>(part.count()) / static_cast<double>(whole.count());
  return static_cast<std::uint16_t>(std::clamp(filled * Column::kFull, 1.0, static_cast<double>(Column::kFull)));
}

}  // namespace

Time time_at(const TimeRange& range, int x, int width) {
  const std::int64_t length = range.length().count();
  return range.from + Time(length / width * x + length % width * x / width);
}

int pixel_at(const TimeRange& range, Time t, int width) {
  if (t < range.from) return -1;
  if (t >= range.to) return width;
  const double share = static_cast<double>((t - range.from).count()) / static_cast<double>(range.length().count());
  int x = std::clamp(static_cast<int>(share * width), 0, width - 1);
  while (x > 0 && time_at(range, x, width) > t) --x;
  while (x + 1 < width && time_at(range, x + 1, width) <= t) ++x;
  return x;
}

void columns_of(const SpanRow& spans, const TimeRange& range, std::vector<Column>& columns) {
  const int width = static_cast<int>(columns.size());
  TUTTI_CHECK(range.length() >= Time(width), "{} ps on {} pixels", range.length().count(), width);
  std::fill(columns.begin(), columns.end(), Column{});
  Time begin = range.from;
  SpanRow::Index first = spans.first_from(begin);
  for (int x = 0; x < width;) {
    const Time end = time_at(range, x + 1, width);
    const SpanRow::Index last = spans.first_from(end, first);
    const bool reaches_in = first > 0 && spans.end(first - 1) > begin;
    const SpanRow::Index touching = last - first + (reaches_in ? 1 : 0);
    int next = x + 1;
    if (touching == 0) {
      // Nothing before the next span.
      next = last == spans.size() ? width : std::max(next, pixel_at(range, spans.start(last), width));
    } else if (touching == 1) {
      const SpanRow::Index span = reaches_in ? first - 1 : first;
      const Column column{static_cast<std::uint8_t>(spans.kind(span)), false, Column::kFull};
      // The same as far as it reaches alone.
      const Time until = last < spans.size() ? std::min(spans.end(span), spans.start(last)) : spans.end(span);
      next = std::clamp(pixel_at(range, until, width), x + 1, width);
      std::fill(columns.begin() + x, columns.begin() + next, column);
      columns[static_cast<std::size_t>(x)].begins = !reaches_in && next - x > 3;
    } else {
      const SpanRow::Index longest = spans.longest(reaches_in ? first - 1 : first, last);
      columns[static_cast<std::size_t>(x)] = {static_cast<std::uint8_t>(spans.kind(longest)), false,
                                              share(spans.busy(begin, end, first, last), end - begin)};
    }
    x = next;
    begin = time_at(range, x, width);
    first = spans.first_from(begin, last);
  }
}

Fill fill_of(const Column& column, const SpanLooks& looks, int height) {
  const SpanLook& look = looks[column.kind % looks.size()];
  const int top = height * look.from / 8;
  const int bottom = std::max(top + 1, height * look.to / 8);
  const int lines = std::max(1, ((bottom - top) * column.filled + Column::kFull / 2) / Column::kFull);
  return {column.begins ? darker(look.colour) : look.colour | kAlpha, static_cast<std::int16_t>(bottom - lines),
          static_cast<std::int16_t>(bottom)};
}

void draw_columns(const std::vector<Column>& columns, const SpanLooks& looks, Pixel* pixels, std::ptrdiff_t stride,
                  int height) {
  // First which lines each pixel fills, then line by line, as memory lies.
  std::vector<Fill> fills(columns.size());
  for (std::size_t x = 0; x < columns.size(); ++x) {
    if (columns[x].filled > 0) fills[x] = fill_of(columns[x], looks, height);
  }
  for (int y = 0; y < height; ++y) {
    Pixel* const line = pixels + y * stride;
    for (std::size_t x = 0; x < fills.size(); ++x) {
      if (y >= fills[x].from && y < fills[x].to) line[x] = fills[x].colour;
    }
  }
}

}  // namespace tutti::gui
