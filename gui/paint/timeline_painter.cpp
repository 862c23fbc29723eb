#include "gui/paint/timeline_painter.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "core/base/format.h"
#include "gui/model/beside.h"
#include "gui/model/link_load.h"

namespace tutti::gui {

using core::SpanKind;
using core::Time;

namespace {

constexpr int kGap = 2;          ///< between rows
constexpr int kNarrowText = 28;  ///< spans below that have none
constexpr int kIndent = 12;

QColor colour(Pixel pixel) { return QColor::fromRgb(pixel); }

/// Every other line has another one, and of two timelines' lines those of the second.
Pixel background_of(const Scene& scene, std::size_t number) {
  const Line& line = scene.layout.lines()[number];
  if (line.is_group()) return scene.theme.group;
  const bool other = line.timeline.empty() ? number % 2 == 1 : line.side == 1;
  return other ? scene.theme.band : scene.theme.background;
}

/// The picture's pixels and how lines of the layout become lines of it. Or no pixels, but rectangles for a painter of shapes.
class Canvas {
 public:
  /// Shapes, at one unit a logical pixel.
  Canvas(const Scene& scene, const QSize& size, QPainter& shapes)
      : scene_(scene), scale_(1), size_(size), shapes_(&shapes), columns_(static_cast<std::size_t>(size.width())) {}

  /// Pixels of an image that others may paint other lines of. REQUIRES: the image stays where it is.
  Canvas(const Scene& scene, QImage& image, qreal scale)
      : scene_(scene),
        scale_(scale),
        size_(image.size()),
        pixels_(reinterpret_cast<Pixel*>(image.bits())),
        stride_(image.bytesPerLine() / static_cast<qsizetype>(sizeof(Pixel))),
        columns_(static_cast<std::size_t>(image.width())) {}

  /// Lines that are pinned (that are not), each that `next` gives out.
  void paint(bool pinned, std::atomic<std::size_t>& next) {
    const auto& lines = scene_.layout.lines();
    for (std::size_t i = next++; i < lines.size(); i = next++) {
      if (lines[i].pinned == pinned) line(lines[i], i);
    }
    flush();
  }

 private:
  void line(const Line& line, std::size_t number) {
    top_ = device(top_of_line(scene_, number));
    const int bottom = device(top_of_line(scene_, number) + line.height);
    if (bottom <= 0 || top_ >= size_.height()) return;
    height_ = bottom - top_;
    fill(0, size_.width(), 0, height_, background_of(scene_, number));
    switch (line.kind) {
      case Line::Kind::kSpans: return spans(scene_.trace.rows()[line.rows.front()].spans);
      case Line::Kind::kSteps: return steps(scene_.trace.sides()[line.side]);
      case Line::Kind::kPath: return path(scene_.trace.sides()[line.side]);
      case Line::Kind::kError: return errors(scene_.trace.differences()[line.number]);
      case Line::Kind::kLink: return load(scene_.trace.sides()[line.side].links[line.number]);
      case Line::Kind::kCounter:
        if (scene_.traffic) counter(*counters_of(*scene_.traffic)[line.number].counter);
        return;
      default:
        if (!line.open) utilisation(line);
    }
  }

  void spans(const SpanRow& row) {
    columns_of(row, scene_.range, columns_);
    SpanLooks looks = scene_.theme.spans;
    if (scene_.path_only) {
      for (SpanLook& look : looks) look.colour = blend(scene_.theme.background, look.colour, 0.25);
    }
    const int gap = device(kGap);
    if (shapes_) return span_shapes(looks, gap, height_ - 2 * gap);
    clipped(gap, height_ - gap, [&](Pixel* first, int hidden, int height, int shown) {
      if (hidden == 0 && shown == height) return draw_columns(columns_, looks, first, stride_, height);
      // Cut by the window's edge: drawn whole beside it, then copied.
      std::vector<Pixel> beside(static_cast<std::size_t>(height) * columns_.size());
      for (int y = 0; y < shown; ++y) {
        const auto to = beside.begin() + static_cast<std::ptrdiff_t>(hidden + y) * size_.width();
        std::copy_n(first + y * stride_, columns_.size(), to);
      }
      draw_columns(columns_, looks, beside.data(), size_.width(), height);
      for (int y = 0; y < shown; ++y) {
        const auto from = beside.begin() + static_cast<std::ptrdiff_t>(hidden + y) * size_.width();
        std::copy_n(from, columns_.size(), first + y * stride_);
      }
    });
  }

  /// What draw_columns() fills, as few rectangles.
  void span_shapes(const SpanLooks& looks, int gap, int height) {
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      if (columns_[x].filled == 0) continue;
      const Fill f = fill_of(columns_[x], looks, height);
      const int at = static_cast<int>(x);
      fill(at, at + 1, gap + f.from, gap + f.to, f.colour);
    }
  }

  void steps(const Side& side) {
    for (const core::StepRecord& step : side.steps)
      box(step.start, step.end, step.step % 2 ? scene_.theme.line : scene_.theme.group);
  }

  void path(const Side& side) {
    for (const core::PathPiece& piece : side.path) {
      box(piece.start, piece.end,
          piece.kind == SpanKind::kPackInFlight
              ? scene_.theme.path
              : scene_.theme.spans[static_cast<std::size_t>(piece.kind) % scene_.theme.spans.size()].colour);
    }
  }

  /// From below what the second takes longer, from above what it takes less; all of the height from a quarter on.
  void errors(const DifferenceRow& row) {
    constexpr double kMost = 0.25, kLeast = 0.0005;
    const int room = height_ - 2 * device(kGap);
    for (const Difference& difference : row.differences) {
      box(difference.at.from, difference.at.to, scene_.theme.line);
      const double share = difference.time.share().value_or(difference.time.b > Time() ? kMost : 0);
      const TimeRange& at = difference.at;
      if (std::abs(share) < kLeast || at.to <= scene_.range.from || at.from >= scene_.range.to) continue;
      const int from = std::max(0, pixel_at(scene_.range, at.from, size_.width()));
      const int to = std::max(from + 1, pixel_at(scene_.range, at.to, size_.width()));
      const double part = std::min(1.0, std::abs(share) / kMost);
      const int size = std::max(device(2), static_cast<int>(std::lround(part * room)));
      const int top = share > 0 ? height_ - device(kGap) - size : device(kGap);
      fill(from, to, top, top + size, share > 0 ? scene_.theme.longer : scene_.theme.shorter);
    }
  }

  void load(const core::LinkRecord& link) {
    const int room = height_ - device(kGap);
    for (int x = 0; x < size_.width(); ++x) {
      const Time from = time_at(scene_.range, x, size_.width()), to = time_at(scene_.range, x + 1, size_.width());
      const double share = load_of(link, from, to);
      if (share <= 0) continue;
      const int lines = std::max(1, static_cast<int>(std::lround(share * room)));
      fill(x, x + 1, height_ - lines, height_, share > kFullLoad ? scene_.theme.full_load : scene_.theme.load);
    }
  }

  /// The most that it is at each pixel, so that no peak vanishes; the highest of all is the line's height.
  void counter(const Counter& counter) {
    const int room = height_ - 2 * device(kGap);
    const Pixel edge = blend(scene_.theme.load, scene_.theme.text, 0.4);
    for (int x = 0; x < size_.width() && counter.peak() > 0; ++x) {
      const Time from = time_at(scene_.range, x, size_.width()), to = time_at(scene_.range, x + 1, size_.width());
      const std::int64_t most = counter.most(from, to);
      if (most <= 0) continue;
      const double share = static_cast<double>(most) / static_cast<double>(counter.peak());
      const int lines = std::max(1, static_cast<int>(std::lround(share * room)));
      fill(x, x + 1, height_ - lines, height_, scene_.theme.load);
      fill(x, x + 1, height_ - lines, height_ - lines + device(1), edge);
    }
  }

  /// A closed group: how many of its devices compute, of its lanes do something. Of two timelines the first's in the upper half, the
  /// second's in the lower.
  void utilisation(const Line& group) {
    const auto of_second = [&](std::size_t r) { return scene_.trace.rows()[r].side == 1; };
    const bool second = std::any_of(group.rows.begin(), group.rows.end(), of_second);
    const bool both = second && !std::all_of(group.rows.begin(), group.rows.end(), of_second);
    const int middle = height_ / 2;
    if (!both) return utilisation(group, second ? 1 : 0, device(kGap), height_ - device(kGap));
    utilisation(group, 0, device(kGap), middle - device(1));
    utilisation(group, 1, middle + device(1), height_ - device(kGap));
  }

  void utilisation(const Line& group, std::size_t side, int top, int bottom) {
    std::vector<double> sums(columns_.size());
    int counted = 0;
    for (const std::size_t r : group.rows) {
      const Trace::Row& row = scene_.trace.rows()[r];
      if (row.side != side || (group.kind != Line::Kind::kLanes && row.track.kind != core::TrackKind::kCompute))
        continue;
      ++counted;
      columns_of(row.spans, scene_.range, columns_);
      for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += columns_[x].filled;
    }
    for (std::size_t x = 0; x < sums.size() && counted > 0; ++x) {
      const double share = sums[x] / (static_cast<double>(counted) * Column::kFull);
      if (share <= 0) continue;
      const int lines = std::max(1, static_cast<int>(std::lround(share * (bottom - top))));
      const int at = static_cast<int>(x);
      fill(at, at + 1, bottom - lines, bottom, scene_.theme.load);
    }
  }

  void box(Time start, Time end, Pixel filled) {
    const int width = size_.width();
    if (end <= scene_.range.from || start >= scene_.range.to) return;
    const int from = std::max(0, pixel_at(scene_.range, start, width));
    const int to = std::max(from + 1, pixel_at(scene_.range, end, width));
    fill(from, to, device(kGap), height_ - device(kGap), filled);
    if (to - from > 3) fill(from, from + 1, device(kGap), height_ - device(kGap), scene_.theme.background);
  }

  /// Pixels of the line at hand: from … to - 1, lines top … bottom - 1 counted from its top.
  void fill(int from, int to, int top, int bottom, Pixel filled) {
    if (shapes_) return shape(QRect(from, top_ + top, to - from, bottom - top), filled);
    for (int y = std::max(0, top_ + top); y < std::min(size_.height(), top_ + bottom); ++y)
      std::fill(pixels_ + y * stride_ + from, pixels_ + y * stride_ + std::min(to, size_.width()), filled);
  }

  /// Rectangles side by side of one colour are one.
  void shape(const QRect& box, Pixel filled) {
    if (shape_colour_ == filled && shape_.top() == box.top() && shape_.height() == box.height() &&
        box.left() == shape_.left() + shape_.width()) {
      shape_.setWidth(shape_.width() + box.width());
      return;
    }
    flush();
    shape_ = box;
    shape_colour_ = filled;
  }

  void flush() {
    if (shapes_ && !shape_.isEmpty()) shapes_->fillRect(shape_, colour(shape_colour_));
    shape_ = {};
  }

  /// Calls with what is visible of the lines top … bottom - 1 of the line at hand.
  template <class Draw>
  void clipped(int top, int bottom, Draw draw) {
    const int first = top_ + top;
    const int height = bottom - top;
    const int hidden = std::clamp(-first, 0, height);
    const int shown = std::clamp(size_.height() - first - hidden, 0, height - hidden);
    if (shown > 0) draw(pixels_ + (first + hidden) * stride_, hidden, height, shown);
  }

  [[nodiscard]] int device(int logical) const { return static_cast<int>(std::lround(logical * scale_)); }

  const Scene& scene_;
  qreal scale_;
  QSize size_;  ///< in device pixels
  QPainter* shapes_ = nullptr;
  QRect shape_;  ///< the last one, which may yet grow
  Pixel shape_colour_ = 0;
  Pixel* pixels_ = nullptr;
  std::ptrdiff_t stride_ = 0;
  std::vector<Column> columns_;
  int top_ = 0;
  int height_ = 0;
};

void text_in(QPainter& painter, const QRect& box, const std::string& text, const QColor& pen, int flags) {
  painter.setPen(pen);
  const QString whole = QString::fromStdString(text);
  painter.drawText(box, flags | Qt::TextSingleLine,
                   painter.fontMetrics().elidedText(whole, Qt::ElideRight, box.width()));
}

/// The stretch of a line from `start` to `end`, within the lines; empty if it is narrower than a text needs.
QRect text_box(const Scene& scene, const QRect& lines, int top, int height, Time start, Time end) {
  if (end <= scene.range.from || start >= scene.range.to) return {};
  const int from = std::max(0, pixel_at(scene.range, start, lines.width()));
  const int to = std::min(lines.width(), pixel_at(scene.range, end, lines.width()));
  if (to - from < kNarrowText) return {};
  return {lines.left() + from + 4, lines.top() + top, to - from - 8, height};
}

void span_texts(QPainter& painter, const Scene& scene, const QRect& lines, std::size_t row, int top, int height) {
  const SpanRow& spans = scene.trace.rows()[row].spans;
  // Wide spans are few: those that begin at a pixel where one does, found by jumping from pixel to pixel.
  const Time step((scene.range.length().count() / std::max(1, lines.width())) * kNarrowText);
  SpanRow::Index i = spans.first_from(scene.range.from);
  if (i > 0) --i;
  while (i < spans.size() && spans.start(i) < scene.range.to) {
    if (spans.duration(i) >= step) {
      const QRect box = text_box(scene, lines, top, height, spans.start(i), spans.end(i));
      if (!box.isEmpty()) {
        const Pixel under = scene.theme.spans[static_cast<std::size_t>(spans.kind(i)) % 64].colour;
        text_in(painter, box, label_of(scene.trace, row, i),
                scene.path_only ? colour(scene.theme.faint_text) : colour(text_on(under)), Qt::AlignCenter);
      }
      ++i;
    } else {
      // The next that is wide enough lies beyond this stretch, or in it: then its longest is wide enough.
      const SpanRow::Index end = std::max(i + 1, spans.first_from(spans.start(i) + step, i));
      const SpanRow::Index longest = spans.longest(i, end);
      i = spans.duration(longest) >= step ? longest : end;
    }
  }
}

/// The kind that fills most of a stretch of time, if one does and its spans are short; else -1.
int filled_with(const SpanRow& spans, const TimeRange& stretch, Time wide) {
  const SpanRow::Index first = spans.first_from(stretch.from), end = spans.first_from(stretch.to, first);
  if (first == end || 2 * spans.busy(stretch.from, stretch.to, first, end).count() < stretch.length().count())
    return -1;
  const SpanRow::Index longest = spans.longest(first, end);
  return spans.duration(longest) < wide ? spans.kind(longest) : -1;
}

/// Many short spans of one kind side by side have its name together. Looked for in stretches of some pixels, as looking at each
/// pixel would cost as much as drawing it.
void run_texts(QPainter& painter, const Scene& scene, const QRect& lines, std::size_t row, int top, int height) {
  constexpr int kRun = 60, kStretch = 15;
  const SpanRow& spans = scene.trace.rows()[row].spans;
  const Time wide(scene.range.length().count() / lines.width() * kNarrowText);
  const auto kind_at = [&](int x) {
    const int end = std::min(x + kStretch, lines.width());
    if (x >= end) return -1;
    return filled_with(spans, {time_at(scene.range, x, lines.width()), time_at(scene.range, end, lines.width())}, wide);
  };
  int kind = kind_at(0);
  for (int x = 0; x < lines.width();) {
    int end = x + kStretch, next = kind_at(end);
    for (; kind >= 0 && next == kind; next = kind_at(end)) end += kStretch;
    if (kind >= 0 && end - x >= kRun) {
      const Pixel under = scene.theme.spans[static_cast<std::size_t>(kind) % 64].colour;
      const QRect box(lines.left() + x + 4, lines.top() + top, std::min(end, lines.width()) - x - 8, height);
      text_in(painter, box, core::span_name(kind),
              scene.path_only ? colour(scene.theme.faint_text) : colour(text_on(under)), Qt::AlignCenter);
    }
    x = end;
    kind = next;
  }
}

/// "at most 12.3 MB".
std::string most_of(const NamedCounter& counter) {
  const std::int64_t peak = counter.counter->peak();
  if (counter.bytes) return "at most " + core::show(core::Bytes(peak));
  return fmt::format("at most {} message{} waiting", peak, peak == 1 ? "" : "s");
}

}  // namespace

QRect lines_rect(const QSize& area) {
  return {Scene::kGutter, Scene::kAxis, std::max(1, area.width() - Scene::kGutter),
          std::max(1, area.height() - Scene::kAxis)};
}

int top_of_line(const Scene& scene, std::size_t i) {
  const Line& line = scene.layout.lines()[i];
  return line.pinned ? line.top : line.top - scene.scroll;
}

std::string label_of(const Trace& trace, std::size_t row, SpanRow::Index index) {
  const SpanRow& spans = trace.rows()[row].spans;
  const int kind = spans.kind(index);
  if (kind == SpanKind::kPackInFlight) return fmt::format("pack {}", spans.pack(index));
  if (spans.pack(index) >= 0) return fmt::format("{} · pack {}", core::span_name(kind), spans.pack(index));
  return core::span_name(kind);
}

/// Lines share no pixel, so each core takes the next one; those that are pinned come last: the others scroll beneath them.
QImage paint_lines(const Scene& scene, const QSize& size, qreal scale) {
  const auto device = [scale](int logical) { return std::max(1, static_cast<int>(std::lround(logical * scale))); };
  QImage image(device(size.width()), device(size.height()), QImage::Format_RGB32);
  image.fill(scene.theme.background);
  std::vector<Canvas> canvases;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  for (unsigned core = 0; core < cores; ++core) canvases.emplace_back(scene, image, scale);
  for (const bool pinned : {false, true}) {
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> others;
    for (unsigned core = 1; core < cores && !pinned; ++core)
      others.emplace_back([&, core] { canvases[core].paint(pinned, next); });
    canvases.front().paint(pinned, next);
  }
  image.setDevicePixelRatio(scale);
  return image;
}

/// As much as there is room for.
static std::string text_of(const Difference& difference, const QFontMetrics& metrics, int width) {
  const std::string whole = difference.what + ": " + signed_difference(difference.time);
  const std::string share = signed_share(difference.time);
  for (const std::string& text : {whole, difference.what + ' ' + share, share, signed_share(difference.time, 0)}) {
    if (metrics.horizontalAdvance(QString::fromStdString(text)) <= width) return text;
  }
  return "";
}

void paint_texts(QPainter& painter, const Scene& scene, const QRect& lines) {
  painter.save();
  painter.setClipRect(lines);
  painter.setPen(QPen(colour(scene.theme.faint_text), 1, Qt::DotLine));
  for (const AxisStretch& piece : scene.trace.axis()) {
    const int x = lines.left() + pixel_at(scene.range, piece.from, lines.width());
    if (x > lines.left()) painter.drawLine(x, lines.top(), x, lines.bottom());
  }
  const auto& all = scene.layout.lines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Line& line = all[i];
    const int top = top_of_line(scene, i);
    const bool under_pinned = !line.pinned && top + line.height <= scene.layout.pinned_height();
    if (top + line.height <= 0 || top >= lines.height() || under_pinned) continue;
    if (line.kind == Line::Kind::kSpans) {
      span_texts(painter, scene, lines, line.rows.front(), top, line.height);
      run_texts(painter, scene, lines, line.rows.front(), top, line.height);
    }
    if (line.kind == Line::Kind::kSteps) {
      for (const core::StepRecord& step : scene.trace.sides()[line.side].steps) {
        const QRect box = text_box(scene, lines, top, line.height, step.start, step.end);
        if (!box.isEmpty())
          text_in(painter, box, fmt::format("step {} · {}", step.step, core::show(step.end - step.start)),
                  colour(scene.theme.text), Qt::AlignCenter);
      }
    }
    if (line.kind == Line::Kind::kError) {
      for (const Difference& difference : scene.trace.differences()[line.number].differences) {
        const QRect box = text_box(scene, lines, top, line.height, difference.at.from, difference.at.to);
        if (!box.isEmpty())
          text_in(painter, box, text_of(difference, painter.fontMetrics(), box.width()), colour(scene.theme.text),
                  Qt::AlignCenter);
      }
    }
    if (line.kind == Line::Kind::kPath) {
      for (const core::PathPiece& piece : scene.trace.sides()[line.side].path) {
        const QRect box = text_box(scene, lines, top, line.height, piece.start, piece.end);
        if (box.isEmpty()) continue;
        const bool pack = piece.kind == SpanKind::kPackInFlight;
        const Pixel under =
            pack ? scene.theme.path : scene.theme.spans[static_cast<std::size_t>(piece.kind) % 64].colour;
        text_in(painter, box, pack ? fmt::format("pack {}", piece.pack) : core::span_name(piece.kind),
                colour(text_on(under)), Qt::AlignCenter);
      }
    }
  }
  painter.restore();
}

/// Which of two timelines the line is of, at its right; answers what is left of the line for its name.
static QRect paint_side(QPainter& painter, const Scene& scene, const Line& line, const QRect& box, const QRect& text) {
  const auto width_of = [&](const std::string& words) {
    return painter.fontMetrics().horizontalAdvance(QString::fromStdString(words)) + 2;
  };
  // The name first: which of the two it is the colour says, too.
  const int wide = std::clamp(text.width() - 10 - width_of(line.name), std::min(40, width_of(line.timeline)),
                              width_of(line.timeline));
  const QRect right(box.right() - 8 - wide, box.top(), wide, box.height());
  text_in(painter, right, line.timeline, colour(scene.theme.sides[line.side % 2]), Qt::AlignVCenter | Qt::AlignRight);
  painter.fillRect(QRect(box.right() - 4, box.top(), 4, box.height()), colour(scene.theme.sides[line.side % 2]));
  return text.adjusted(0, 0, -wide - 10, 0);
}

void paint_names(QPainter& painter, const Scene& scene, const QRect& names) {
  painter.save();
  painter.setClipRect(names);
  painter.fillRect(names, colour(scene.theme.background));  // below the last line
  const auto& all = scene.layout.lines();
  for (const bool pinned : {false, true}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Line& line = all[i];
      const int top = top_of_line(scene, i);
      if (line.pinned != pinned || top + line.height <= 0 || top >= names.height()) continue;
      const QRect box(names.left(), names.top() + top, names.width(), line.height);
      painter.fillRect(box, colour(background_of(scene, i)));
      const int indent = 8 + line.depth * kIndent;
      QRect text = box.adjusted(indent, 0, -6, 0);
      if (line.is_group()) {
        text_in(painter, text, line.open ? "▾" : "▸", colour(scene.theme.faint_text), Qt::AlignVCenter | Qt::AlignLeft);
        text.setLeft(text.left() + 14);
      }
      if (line.pinned) {
        const bool left = !line.timeline.empty();  // at the right is which of two it is
        text_in(painter, left ? box.adjusted(1, 0, 0, 0) : box.adjusted(0, 0, -6, 0), "•", colour(scene.theme.path),
                Qt::AlignVCenter | (left ? Qt::AlignLeft : Qt::AlignRight));
      }
      QFont font = painter.font();
      font.setBold(line.is_group() && line.depth == 0);
      painter.setFont(font);
      if (line.kind == Line::Kind::kCounter) {
        const QRect lower = text.adjusted(0, line.height / 2, 0, -1);
        text.setBottom(text.top() + line.height / 2);
        text_in(painter, lower,
                scene.traffic ? most_of(counters_of(*scene.traffic)[line.number]) : "not worked out yet",
                colour(scene.theme.faint_text), Qt::AlignVCenter | Qt::AlignLeft);
      }
      if (!line.timeline.empty()) text = paint_side(painter, scene, line, box, text);
      const bool said = i > 0 && line.side == 1 && all[i - 1].side == 0 && all[i - 1].name == line.name &&
                        all[i - 1].depth == line.depth && !line.timeline.empty() && line.pinned == all[i - 1].pinned;
      text_in(painter, text, said ? "" : line.name,
              colour(line.kind == Line::Kind::kSpans ? scene.theme.faint_text : scene.theme.text),
              Qt::AlignVCenter | Qt::AlignLeft);
    }
  }
  painter.setPen(colour(scene.theme.line));
  painter.drawLine(names.topRight(), names.bottomRight());
  painter.restore();
}

/// Those in `piece`, counted from its beginning on.
static void paint_ticks(QPainter& painter, const Scene& scene, const Ticks& ticks, const TimeRange& piece,
                        const QRect& axis) {
  const Time from = std::max(scene.range.from, piece.from), to = std::min(scene.range.to, piece.to);
  if (from >= to) return;
  const Time minor(std::max<std::int64_t>(1, ticks.step.count() / ticks.minor));
  const std::int64_t first = (from - piece.from).count() / ticks.step.count() * ticks.step.count();
  for (Time t(first); piece.from + t < to; t += minor) {
    const int x = pixel_at(scene.range, piece.from + t, axis.width());
    if (x < 0 || x >= axis.width()) continue;
    const bool major = t.count() % ticks.step.count() == 0;
    painter.setPen(colour(major ? scene.theme.faint_text : scene.theme.line));
    const int high = t == Time() && piece.from > Time() ? axis.height() : major ? 8 : 4;
    painter.drawLine(axis.left() + x, axis.bottom() - high, axis.left() + x, axis.bottom());
  }
  const int end = axis.left() + pixel_at(scene.range, piece.to, axis.width());
  for (Time t(first); piece.from + t < to; t += ticks.step) {
    if (piece.from + t < from) continue;
    const int x = axis.left() + pixel_at(scene.range, piece.from + t, axis.width());
    const QRect box(x + 4, axis.top(), std::min(104, end - x - 6), axis.height() - 4);
    const QString label = QString::fromStdString(ticks.label(t));
    // One that the next stretch would cut is worse than none.
    if (painter.fontMetrics().horizontalAdvance(label) > box.width()) continue;
    text_in(painter, box, ticks.label(t), colour(scene.theme.text), Qt::AlignVCenter | Qt::AlignLeft);
  }
}

void paint_axis(QPainter& painter, const Scene& scene, const QRect& axis) {
  painter.save();
  painter.fillRect(axis, colour(scene.theme.group));
  const int left = Scene::kGutter;
  const int width = axis.width() - left;
  text_in(painter, QRect(axis.left() + 8, axis.top(), left - 16, axis.height()),
          core::show(scene.range.length()) + " shown", colour(scene.theme.faint_text),
          Qt::AlignVCenter | Qt::AlignLeft);
  painter.setClipRect(axis.adjusted(left, 0, 0, 0));
  const Ticks ticks = ticks_of(scene.range, std::max(2, width / 110));
  const std::vector<AxisStretch> whole{{{Time(), core::kHorizon}, ""}};
  for (const AxisStretch& piece : scene.trace.axis().empty() ? whole : scene.trace.axis())
    paint_ticks(painter, scene, ticks, piece, QRect(axis.left() + left, axis.top(), width, axis.height()));
  painter.restore();
}

static void paint_names_and_axis(QPainter& painter, const Scene& scene, const QSize& size) {
  const QRect lines = lines_rect(size);
  paint_names(painter, scene, QRect(0, lines.top(), Scene::kGutter, lines.height()));
  paint_axis(painter, scene, QRect(0, 0, size.width(), Scene::kAxis));
}

void paint_line_shapes(QPainter& painter, const Scene& scene, const QSize& size) {
  painter.save();
  painter.fillRect(QRect(QPoint(), size), colour(scene.theme.background));
  painter.setClipRect(QRect(QPoint(), size), Qt::IntersectClip);
  Canvas canvas(scene, size, painter);
  for (const bool pinned : {false, true}) {
    std::atomic<std::size_t> next{0};
    canvas.paint(pinned, next);
  }
  painter.restore();
}

void paint_shapes(QPainter& painter, const Scene& scene, const QSize& size) {
  const QRect lines = lines_rect(size);
  painter.save();
  painter.translate(lines.topLeft());
  paint_line_shapes(painter, scene, lines.size());
  painter.restore();
  paint_texts(painter, scene, lines);
  paint_names_and_axis(painter, scene, size);
}

QImage paint_picture(const Scene& scene, const QSize& size, qreal scale) {
  QImage picture(size * scale, QImage::Format_RGB32);
  picture.setDevicePixelRatio(scale);
  picture.fill(scene.theme.background);
  QPainter painter(&picture);
  const QRect lines = lines_rect(size);
  painter.drawImage(lines.topLeft(), paint_lines(scene, lines.size(), scale));
  paint_texts(painter, scene, lines);
  paint_names_and_axis(painter, scene, size);
  return picture;
}

}  // namespace tutti::gui
