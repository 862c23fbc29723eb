// The same code paints the window and vector pictures: fill() either writes pixels or passes
// rectangles to a QPainter, and all other functions call fill(). Only spans are painted into an
// image by faster code, which writes whole rows of pixels. Several threads paint, and each takes
// the next line from a shared counter. Each line has its own pixel rows, so threads need no lock
// for the pixels. Only pinned lines overlap other lines, so pinned lines are painted last.
// Rectangles are merged with their left neighbour of the same colour, so that a vector picture does
// not have one rectangle per pixel column. All lines convert between times and pixels with
// pixel_at() and time_at(), so positions agree between lines. The file row_raster.cpp determines
// the content of each pixel.

#include "gui/paint/line_canvas.h"

#include <algorithm>
#include <cmath>

#include "gui/paint/utilisation.h"
#include "gui/traffic/link_load.h"

namespace tutti::gui {

using core::SpanKind;
using core::Time;

namespace {

constexpr int kGap = 2;  ///< gap between rows, in pixels

}  // namespace

LineCanvas::LineCanvas(const Scene& scene, const QSize& size, QPainter& shapes,
                       std::vector<RowTexts>& texts)
    : scene_(scene),
      scale_(1),
      size_(size),
      shapes_(&shapes),
      raster_(scene.range, size.width()),
      texts_(texts) {}

LineCanvas::LineCanvas(const Scene& scene, QImage& image, qreal scale, std::vector<RowTexts>& texts)
    : scene_(scene),
      scale_(scale),
      size_(image.size()),
      pixels_(reinterpret_cast<Pixel*>(image.bits())),
      stride_(image.bytesPerLine() / static_cast<qsizetype>(sizeof(Pixel))),
      raster_(scene.range, image.width()),
      texts_(texts) {}

void LineCanvas::paint(bool pinned, std::atomic<std::size_t>& next) {
  const auto& lines = scene_.layout.lines();
  for (std::size_t i = next++; i < lines.size(); i = next++) {
    if (lines[i].pinned == pinned) line(lines[i], i);
  }
  flush();
}

void LineCanvas::line(const Line& line, std::size_t number) {
  top_ = device(top_of_line(scene_, number));
  const int bottom = device(top_of_line(scene_, number) + line.height);
  if (bottom <= 0 || top_ >= size_.height()) return;
  height_ = bottom - top_;
  fill(0, size_.width(), 0, height_, background_of(scene_, number));
  switch (line.kind) {
    case Line::Kind::kSpans: return spans(line.rows.front(), texts_[number]);
    case Line::Kind::kSteps: return steps(scene_.trace.sides()[line.side]);
    case Line::Kind::kPath: return path(scene_.trace.sides()[line.side]);
    case Line::Kind::kError: return errors(scene_.trace.differences()[line.number]);
    case Line::Kind::kLink: return load(scene_.trace.sides()[line.side].links[line.number]);
    case Line::Kind::kCounter:
      if (scene_.traffic) counter(counters_of(*scene_.traffic, scene_.range)[line.number]);
      return;
    default:
      if (!line.open) utilisation(line);
  }
}

/// Paints a row of spans. If only the critical path is shown, first paints all spans faintly, and
/// then paints the spans of the critical path over them.
void LineCanvas::spans(std::size_t row, RowTexts& texts) {
  const SpanRow& spans = scene_.trace.rows()[row].spans;
  const std::vector<Column>& all = raster_.columns_of(spans);
  texts = texts_of(raster_, scale_);
  if (!scene_.path_only) return columns(all, scene_.theme.spans);
  SpanLooks faint = scene_.theme.spans;
  for (SpanLook& look : faint) {
    look.colour = blend(scene_.theme.background, look.colour, 0.25);
    look.waiting = blend(scene_.theme.background, look.waiting, 0.25);
  }
  columns(all, faint);
  std::vector<Column> lit(all.size());
  const auto width = static_cast<int>(all.size());
  for (const OnPath& part : scene_.trace.on_path(row)) {
    if (part.at.to <= scene_.range.from || part.at.from >= scene_.range.to) continue;
    const auto light = [&](Time from, Time to) {
      const int first = std::max(0, pixel_at(scene_.range, from, width));
      const int last = std::min(width - 1, pixel_at(scene_.range, to - Time(1), width));
      for (auto x = static_cast<std::size_t>(first); x <= static_cast<std::size_t>(last); ++x)
        if (all[x].kind == part.kind) lit[x] = all[x];
    };
    if (part.pack < 0) {
      light(part.at.from, part.at.to);
      continue;
    }
    SpanRow::Index i = spans.first_from(part.at.from);
    if (i > 0 && spans.end(i - 1) > part.at.from) --i;
    for (; i < spans.size() && spans.start(i) < part.at.to; ++i) {
      if (spans.pack(i) == part.pack)
        light(std::max(part.at.from, spans.start(i)), std::min(part.at.to, spans.end(i)));
    }
  }
  columns(lit, scene_.theme.spans);
}

void LineCanvas::columns(const std::vector<Column>& columns, const SpanLooks& looks) {
  const int gap = device(kGap);
  shapes_ ? span_shapes(columns, looks, gap, height_ - 2 * gap)
          : span_pixels(columns, looks, gap, height_ - 2 * gap);
}

void LineCanvas::span_pixels(const std::vector<Column>& columns, const SpanLooks& looks, int top,
                             int height) {
  const int hidden = std::clamp(-(top_ + top), 0, height);
  const int shown = std::clamp(size_.height() - top_ - top - hidden, 0, height - hidden);
  if (shown == 0) return;
  Pixel* const first = pixels_ + (top_ + top + hidden) * stride_;
  if (shown == height) return draw_columns(columns, looks, first, stride_, height);
  // If a line is only partly visible at the window's edge, draw the whole line into a buffer, and
  // copy the visible part.
  std::vector<Pixel> buffer(static_cast<std::size_t>(height) * columns.size());
  const auto line_of_buffer = [&](int y) {
    return buffer.begin() + (hidden + y) * static_cast<std::ptrdiff_t>(columns.size());
  };
  for (int y = 0; y < shown; ++y)
    std::copy_n(first + y * stride_, columns.size(), line_of_buffer(y));
  draw_columns(columns, looks, buffer.data(), std::ssize(columns), height);
  for (int y = 0; y < shown; ++y)
    std::copy_n(line_of_buffer(y), columns.size(), first + y * stride_);
}

/// Paints the same area as draw_columns(), with as few rectangles as possible.
void LineCanvas::span_shapes(const std::vector<Column>& columns, const SpanLooks& looks, int gap,
                             int height) {
  for (std::size_t x = 0; x < columns.size(); ++x) {
    if (columns[x].filled == 0) continue;
    const Fill f = fill_of(columns[x], looks, height);
    const int at = static_cast<int>(x);
    fill(at, at + 1, gap + f.from, gap + f.to, f.colour);
  }
}

void LineCanvas::steps(const Side& side) {
  for (const core::StepRecord& step : side.steps)
    box(step.start, step.end, step.step % 2 ? scene_.theme.line : scene_.theme.group);
}

void LineCanvas::path(const Side& side) {
  for (const core::PathPiece& piece : side.path) {
    box(piece.start, piece.end,
        piece.kind == SpanKind::kPackInFlight ? scene_.theme.path : colour_of(scene_, piece.kind));
  }
}

/// Paints deviations. Bars extend upwards from the bottom if the second timeline takes longer, and
/// downwards from the top if the second timeline takes less time. A deviation of 25 % or more has a
/// bar of the line's full height.
void LineCanvas::errors(const DifferenceRow& row) {
  constexpr double kMax = 0.25, kMin = 0.0005;
  const int room = height_ - 2 * device(kGap);
  for (const Difference& difference : row.differences) {
    box(difference.at.from, difference.at.to, scene_.theme.line);
    const double share = difference.time.share().value_or(difference.time.b > Time() ? kMax : 0);
    const TimeRange& at = difference.at;
    if (std::abs(share) < kMin || at.to <= scene_.range.from || at.from >= scene_.range.to)
      continue;
    const int from = std::max(0, pixel_at(scene_.range, at.from, size_.width()));
    const int to = std::max(from + 1, pixel_at(scene_.range, at.to, size_.width()));
    const double part = std::min(1.0, std::abs(share) / kMax);
    const int size = std::max(device(2), static_cast<int>(std::lround(part * room)));
    const int top = share > 0 ? height_ - device(kGap) - size : device(kGap);
    fill(from, to, top, top + size, share > 0 ? scene_.theme.longer : scene_.theme.shorter);
  }
}

void LineCanvas::load(const core::LinkRecord& link) {
  const int room = height_ - device(kGap);
  for (int x = 0; x < size_.width(); ++x) {
    const Time from = time_at(scene_.range, x, size_.width()),
               to = time_at(scene_.range, x + 1, size_.width());
    const double share = load_of(link, from, to);
    if (share <= 0) continue;
    const int lines = std::max(1, static_cast<int>(std::lround(share * room)));
    fill(x, x + 1, height_ - lines, height_,
         share > kFullLoad ? scene_.theme.full_load : scene_.theme.load);
  }
}

/// Draws the counter's maximum at each pixel, so that no peak is lost. The scale is such that the
/// counter's maximum over the run has the full height of the line.
void LineCanvas::counter(const NamedCounter& counter) {
  const int room = height_ - 2 * device(kGap);
  const Pixel edge = blend(scene_.theme.load, scene_.theme.text, 0.4);
  for (int x = 0; x < size_.width() && counter.peak > 0; ++x) {
    const Time from = time_at(scene_.range, x, size_.width()),
               to = time_at(scene_.range, x + 1, size_.width());
    const std::int64_t most = counter.counter->most(from, to);
    if (most <= 0) continue;
    const double share = static_cast<double>(most) / static_cast<double>(counter.peak);
    const int lines = std::max(1, static_cast<int>(std::lround(share * room)));
    fill(x, x + 1, height_ - lines, height_, scene_.theme.load);
    fill(x, x + 1, height_ - lines, height_ - lines + device(1), edge);
  }
}

/// Paints a collapsed group: the number of its devices that compute, or of its lanes that are busy.
/// If there are two timelines, the first is in the upper half and the second is in the lower half.
void LineCanvas::utilisation(const Line& group) {
  const auto of_second = [&](std::size_t r) { return scene_.trace.rows()[r].side == 1; };
  const bool second = std::any_of(group.rows.begin(), group.rows.end(), of_second);
  const bool both = second && !std::all_of(group.rows.begin(), group.rows.end(), of_second);
  const int middle = height_ / 2;
  if (!both) return utilisation(group, second ? 1 : 0, device(kGap), height_ - device(kGap));
  utilisation(group, 0, device(kGap), middle - device(1));
  utilisation(group, 1, middle + device(1), height_ - device(kGap));
}

void LineCanvas::utilisation(const Line& group, std::size_t side, int top, int bottom) {
  std::vector<double> sums(static_cast<std::size_t>(size_.width()));
  int counted = 0;
  for (const std::size_t r : group.rows) {
    const Trace::Row& row = scene_.trace.rows()[r];
    if (row.side != side ||
        (group.kind != Line::Kind::kLanes && row.track.kind != core::TrackKind::kCompute))
      continue;
    ++counted;
    add_busy_shares(row, scene_.range, raster_, sums);
  }
  for (std::size_t x = 0; x < sums.size() && counted > 0; ++x) {
    const double share = sums[x] / counted;
    if (share <= 0) continue;
    const int lines = std::max(1, static_cast<int>(std::lround(share * (bottom - top))));
    const int at = static_cast<int>(x);
    fill(at, at + 1, bottom - lines, bottom, scene_.theme.load);
  }
}

void LineCanvas::box(Time start, Time end, Pixel filled) {
  const int width = size_.width();
  if (end <= scene_.range.from || start >= scene_.range.to) return;
  const int from = std::max(0, pixel_at(scene_.range, start, width));
  const int to = std::max(from + 1, pixel_at(scene_.range, end, width));
  fill(from, to, device(kGap), height_ - device(kGap), filled);
  if (to - from > 3)
    fill(from, from + 1, device(kGap), height_ - device(kGap), scene_.theme.background);
}

/// Fills the rectangle of pixel columns `from` to `to` - 1 and pixel rows `top` to `bottom` - 1.
/// Pixel row 0 is the top of the current line.
void LineCanvas::fill(int from, int to, int top, int bottom, Pixel filled) {
  if (shapes_) return shape(QRect(from, top_ + top, to - from, bottom - top), filled);
  for (int y = std::max(0, top_ + top); y < std::min(size_.height(), top_ + bottom); ++y)
    std::fill(pixels_ + y * stride_ + from, pixels_ + y * stride_ + std::min(to, size_.width()),
              filled);
}

/// Merges adjacent rectangles of one colour.
void LineCanvas::shape(const QRect& box, Pixel filled) {
  if (shape_colour_ == filled && shape_.top() == box.top() && shape_.height() == box.height() &&
      box.left() == shape_.left() + shape_.width()) {
    shape_.setWidth(shape_.width() + box.width());
    return;
  }
  flush();
  shape_ = box;
  shape_colour_ = filled;
}

void LineCanvas::flush() {
  if (shapes_ && !shape_.isEmpty()) shapes_->fillRect(shape_, colour(shape_colour_));
  shape_ = {};
}

int LineCanvas::device(int logical) const {
  return static_cast<int>(std::lround(logical * scale_));
}

}  // namespace tutti::gui
