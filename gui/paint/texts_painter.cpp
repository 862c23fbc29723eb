#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/format.h"
#include "gui/comparison/comparison.h"
#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

using core::SpanKind;
using core::Time;

std::string label_of(const Trace& trace, std::size_t row, SpanRow::Index index) {
  const SpanRow& spans = trace.rows()[row].spans;
  const int kind = spans.kind(index);
  if (kind == SpanKind::kPackInFlight) return fmt::format("pack {}", spans.pack(index));
  const auto& layers = trace.sides()[trace.rows()[row].side].run.layers;
  const auto layer = static_cast<std::size_t>(spans.layer(index));
  if (spans.layer(index) >= 0 && layer < layers.size())
    return fmt::format("{} {}", core::span_name(kind), layers[layer]);
  if (spans.pack(index) >= 0)
    return fmt::format("{} · pack {}", core::span_name(kind), spans.pack(index));
  return core::span_name(kind);
}

namespace {

/// Returns the longest of the texts that fits into the box.
std::string fitted(const Difference& difference, const QFontMetrics& metrics, int width) {
  const std::string whole = difference.what + ": " + signed_difference(difference.time);
  const std::string share = signed_share(difference.time);
  for (const std::string& text :
       {whole, difference.what + ' ' + share, share, signed_share(difference.time, 0)}) {
    if (metrics.horizontalAdvance(QString::fromStdString(text)) <= width) return text;
  }
  return "";
}

/// Paints the texts of the lines, line by line.
class TextPainter {
 public:
  TextPainter(QPainter& painter, const Scene& scene, const QRect& lines, ShortTexts& texts)
      : painter_(painter), scene_(scene), lines_(lines), texts_(texts) {}

  void line(const Line& line, int top, const RowTexts& found) {
    top_ = top;
    height_ = line.height;
    switch (line.kind) {
      case Line::Kind::kSpans: return spans(line.rows.front(), found);
      case Line::Kind::kSteps: return steps(scene_.trace.sides()[line.side]);
      case Line::Kind::kError: return errors(scene_.trace.differences()[line.number]);
      case Line::Kind::kPath: return path(scene_.trace.sides()[line.side]);
      default: return;
    }
  }

 private:
  static constexpr int kWhole = 8;  ///< SpanLook counts in eighths of a line's height

  void spans(std::size_t row, const RowTexts& found) {
    const SpanRow& spans = scene_.trace.rows()[row].spans;
    const std::vector<OnPath>& path = scene_.trace.on_path(row);
    for (const SpanRow::Index i : found.wide) {
      const QRect box = box_of(spans.start(i), spans.end(i));
      if (box.isEmpty()) continue;
      std::string label = label_of(scene_.trace, row, i);
      // The colour already identifies the backward pass, so the text shows the layer's name first.
      const std::string kind = core::span_name(spans.kind(i));
      if (label.size() > kind.size() && !has_room(box, label)) {
        const std::string layer =
            spans.layer(i) >= 0 ? label.substr(kind.size() + 1) : std::string();
        label = !layer.empty() && has_room(box, layer) ? layer : kind;
      }
      // If the label does not fit, show only the pack's number, because the row's name already says
      // that its spans are packs.
      if (spans.kind(i) == SpanKind::kPackInFlight && !has_room(box, label))
        label = std::to_string(spans.pack(i));
      // Omit a label that does not fit. Its beginning alone, such as "recei…", would be the same
      // for several kinds.
      if (!has_room(box, label)) continue;
      const bool faint = scene_.path_only && !is_on_path(path, spans, i);
      draw_on_bar(box, spans.kind(i), label, faint);
    }
    for (const RowTexts::Run& run : found.runs) {
      const QRect box = between(run.from, std::min(run.to, lines_.width()));
      const TimeRange range{time_at(scene_.range, run.from, lines_.width()),
                            time_at(scene_.range, run.to, lines_.width())};
      if (has_room(box, core::span_name(run.kind)) && is_mostly(spans, range, run.kind))
        draw_on_bar(box, run.kind, core::span_name(run.kind), scene_.path_only);
    }
  }

  /// Draws the label of a bar. A bar that is lower than the text gets a plate in its colour behind
  /// the text, because the text would otherwise also cover the background, on which it may be
  /// unreadable.
  void draw_on_bar(const QRect& box, int kind, const std::string& label, bool faint) {
    const QRect bar = in_bar(box, kind);
    if (is_low(kind)) {
      constexpr int kMargin = 3;
      QRect plate(0, 0, std::min(bar.width(), texts_.width_of(painter_, label)) + 2 * kMargin,
                  height_ - 2);
      plate.moveCenter(bar.center());
      painter_.fillRect(plate, colour(faint ? scene_.theme.background : colour_of(scene_, kind)));
    }
    draw(bar, label, faint ? scene_.theme.faint_text : text_on(colour_of(scene_, kind)));
  }

  void steps(const Side& side) {
    for (const core::StepRecord& step : side.steps) {
      const QRect box = box_of(step.start, step.end);
      if (box.isEmpty()) continue;
      // Shows the number alone where there is no room for more.
      for (const std::string& text :
           {fmt::format("step {} · {}", step.step, core::show(step.end - step.start)),
            fmt::format("step {}", step.step), std::to_string(step.step)}) {
        if (!has_room(box, text)) continue;
        draw(box, text, scene_.theme.text);
        break;
      }
    }
  }

  void errors(const DifferenceRow& row) {
    for (std::size_t i = 0; i < row.differences.size(); ++i) {
      const Difference& difference = row.differences[i];
      // The next bar may begin before this bar ends, and then covers the rest of this bar.
      const Time covered =
          i + 1 < row.differences.size() ? row.differences[i + 1].at.from : core::kHorizon;
      const QRect box = box_of(difference.at.from, std::min(difference.at.to, covered));
      if (!box.isEmpty())
        draw(box, fitted(difference, painter_.fontMetrics(), box.width()), scene_.theme.text);
    }
  }

  void path(const Side& side) {
    for (const core::PathPiece& piece : side.path) {
      const QRect box = box_of(piece.start, piece.end);
      if (box.isEmpty()) continue;
      const bool pack = piece.kind == SpanKind::kPackInFlight;
      draw(box, pack ? fmt::format("pack {}", piece.pack) : core::span_name(piece.kind),
           text_on(pack ? scene_.theme.path : colour_of(scene_, piece.kind)));
    }
  }

  /// Returns true if bars of this kind fill at most half of the line's height.
  [[nodiscard]] bool is_low(int kind) const {
    const SpanLook& look = scene_.theme.spans[static_cast<std::size_t>(kind)];
    return look.to - look.from <= kWhole / 2;
  }

  /// Returns the rectangle of the time range from `start` to `end` in the current line; empty if it
  /// is too narrow for a text.
  [[nodiscard]] QRect box_of(Time start, Time end) const {
    if (end <= scene_.range.from || start >= scene_.range.to) return {};
    const int from = std::max(0, pixel_at(scene_.range, start, lines_.width()));
    const int to = std::min(lines_.width(), pixel_at(scene_.range, end, lines_.width()));
    return to - from < kNarrowText ? QRect() : between(from, to);
  }

  [[nodiscard]] QRect between(int from, int to) const {
    return {lines_.left() + from + 4, lines_.top() + top_, to - from - 8, height_};
  }

  /// Moves a box to the part of the line's height that spans of this kind fill.
  [[nodiscard]] QRect in_bar(const QRect& box, int kind) const {
    const SpanLook& look = scene_.theme.spans[static_cast<std::size_t>(kind)];
    return box.translated(0, (look.from + look.to - kWhole) * height_ / (2 * kWhole));
  }

  /// Returns true if the text fits into the box.
  [[nodiscard]] bool has_room(const QRect& box, const std::string& text) const {
    return texts_.width_of(painter_, text) <= box.width();
  }

  void draw(const QRect& box, const std::string& text, Pixel pen) {
    texts_.draw(painter_, box, text, colour(pen), Qt::AlignCenter);
  }

  QPainter& painter_;
  const Scene& scene_;
  QRect lines_;
  ShortTexts& texts_;
  int top_ = 0;  ///< y coordinate of the top of the current line
  int height_ = 0;
};

}  // namespace

void paint_texts(QPainter& painter, const Scene& scene, const QRect& lines,
                 const std::vector<RowTexts>& found, ShortTexts& texts) {
  painter.save();
  painter.setClipRect(lines);
  painter.setPen(QPen(colour(scene.theme.faint_text), 1, Qt::DotLine));
  for (const AxisStretch& piece : scene.trace.axis()) {
    const int x = lines.left() + pixel_at(scene.range, piece.from, lines.width());
    if (x > lines.left()) painter.drawLine(x, lines.top(), x, lines.bottom());
  }
  TextPainter line_painter(painter, scene, lines, texts);
  const auto& all = scene.layout.lines();
  const int covered = covered_height(scene.layout, scene.scroll);
  bool clipped = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int top = top_of_line(scene, i), bottom = top + all[i].height;
    const bool is_covered = !all[i].pinned && bottom <= covered;
    if (bottom <= 0 || top >= lines.height() || is_covered) continue;
    // Pinned lines are the first ones.
    if (!all[i].pinned && !std::exchange(clipped, true))
      painter.setClipRect(lines.adjusted(0, covered, 0, 0));
    line_painter.line(all[i], top, found[i]);
  }
  painter.restore();
}

}  // namespace tutti::gui
