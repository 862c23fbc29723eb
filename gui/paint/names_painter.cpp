#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.h"
#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

namespace {

constexpr int kIndent = 12;
constexpr int kPin = 14;  ///< width in pixels of the symbol of a pinned line
constexpr Qt::Alignment kLeft = Qt::AlignVCenter | Qt::AlignLeft,
                        kRight = Qt::AlignVCenter | Qt::AlignRight;

/// Returns a text with the counter's maximum over the run, such as "peak 12.3 MB".
std::string most_of(const NamedCounter& counter) {
  const std::int64_t peak = counter.peak;
  if (counter.bytes) return "peak " + core::show(core::Bytes(peak));
  return fmt::format("peak {} message{}", peak, peak == 1 ? "" : "s");
}

/// Paints the names of the lines, line by line.
class NamePainter {
 public:
  NamePainter(QPainter& painter, const Scene& scene, ShortTexts& texts)
      : painter_(painter), scene_(scene), texts_(texts) {}

  void line(std::size_t number, const QRect& box) {
    const Line& line = scene_.layout.lines()[number];
    painter_.fillRect(box, colour(background_of(scene_, number)));
    QRect text = box.adjusted(8 + line.depth * kIndent, 0, -6, 0);
    if (line.is_group()) {
      texts_.draw(painter_, text, line.open ? "▾" : "▸", colour(scene_.theme.faint_text), kLeft);
      text.setLeft(text.left() + 14);
    }
    QFont font = painter_.font();
    font.setBold(line.is_group() && line.depth == 0);
    painter_.setFont(font);
    if (line.kind == Line::Kind::kCounter) text = counter(line, text);
    const bool named_above = is_named_above(number);
    int right = box.right();  // of the space for the name
    if (!line.timeline.empty()) {
      text = side(line, named_above ? "" : line.name, box, text);
      right = text.right() + 4;
    }
    if (line.pinned) {
      pin(QRect(text.left(), box.top(), right - 6 - text.left(), box.height()));
      text.setRight(right - kPin);
    }
    // A pinned line is not below the header of its group.
    const bool needs_full_name = line.pinned && !line.full_name.empty();
    if (needs_full_name) text.setLeft(box.left() + 8);
    if (!named_above)
      texts_.draw(
          painter_, text, needs_full_name ? line.full_name : line.name,
          colour(line.kind == Line::Kind::kSpans ? scene_.theme.faint_text : scene_.theme.text),
          kLeft);
  }

  /// Paints the header of the sticky group, with the names of all groups around it.
  void sticky(const QRect& names) {
    const auto& lines = scene_.layout.lines();
    const std::size_t group = sticky_group(scene_.layout, scene_.scroll);
    if (group >= lines.size()) return;
    const QRect box(names.left(), names.top() + scene_.layout.pinned_height(), names.width(),
                    Scene::kSticky);
    painter_.fillRect(box, colour(scene_.theme.group));
    QFont font = painter_.font();
    font.setBold(true);
    painter_.setFont(font);
    const QRect text = box.adjusted(8, 0, -6, 0);
    texts_.draw(painter_, text, "▾", colour(scene_.theme.faint_text), kLeft);
    std::string name = lines[group].key;
    for (std::size_t at = 0; (at = name.find('/', at)) != std::string::npos; at += 5)
      name.replace(at, 1, " ▸ ");
    texts_.draw(painter_, text.adjusted(14, 0, 0, 0), name, colour(scene_.theme.text), kLeft);
    font.setBold(false);
    painter_.setFont(font);
  }

 private:
  /// Paints the symbol of a pinned line at the right end of the space for the line's name.
  void pin(const QRect& space) {
    texts_.draw(painter_, space, "•", colour(scene_.theme.path), kRight);
  }

  /// Paints the maximum of the counter in the lower half of the line. Returns the upper half.
  QRect counter(const Line& line, const QRect& text) {
    texts_.draw(painter_, text.adjusted(0, line.height / 2, 0, -1),
                scene_.traffic ? most_of(counters_of(*scene_.traffic, scene_.range)[line.number])
                               : "not computed yet",
                colour(scene_.theme.faint_text), kLeft);
    return {text.left(), text.top(), text.width(), line.height / 2 + 1};
  }

  /// Paints the name of the line's timeline at the right end of the line. Returns the rectangle
  /// that remains for the line's own name, which is `own_name`.
  QRect side(const Line& line, const std::string& own_name, const QRect& box, const QRect& text) {
    const auto width_of = [&](const std::string& words) {
      return painter_.fontMetrics().horizontalAdvance(QString::fromStdString(words)) + 2;
    };
    const QColor its = colour(scene_.theme.sides[line.side % 2]);
    const std::string& label = scene_.trace.sides()[line.side % 2].label;
    // If there is too little space, the timeline's name is shortened first, since the colour also
    // shows the timeline.
    const int space = text.width() - 10 - width_of(own_name) - (line.pinned ? kPin : 0);
    const int wide = std::clamp(space, std::min(40, width_of(label)), width_of(label));
    // The names of two runs often differ only at their ends.
    const QString name =
        painter_.fontMetrics().elidedText(QString::fromStdString(label), Qt::ElideLeft, wide);
    texts_.draw(painter_, QRect(box.right() - 8 - wide, box.top(), wide, box.height()),
                name.toStdString(), its, kRight);
    painter_.fillRect(QRect(box.right() - 4, box.top(), 4, box.height()), its);
    return text.adjusted(0, 0, -wide - 10, 0);
  }

  /// Returns true if the line above shows the same name for the other timeline.
  [[nodiscard]] bool is_named_above(std::size_t number) const {
    if (number == 0) return false;
    const Line& line = scene_.layout.lines()[number];
    const Line& above = scene_.layout.lines()[number - 1];
    return !line.timeline.empty() && line.side == 1 && above.side == 0 && above.name == line.name &&
           above.depth == line.depth && above.pinned == line.pinned;
  }

  QPainter& painter_;
  const Scene& scene_;
  ShortTexts& texts_;
};

}  // namespace

void paint_names(QPainter& painter, const Scene& scene, const QRect& names, ShortTexts& texts) {
  painter.save();
  painter.setClipRect(names);
  painter.fillRect(names, colour(scene.theme.background));  // the area below the last line
  NamePainter name_painter(painter, scene, texts);
  const auto& all = scene.layout.lines();
  for (const bool pinned : {false, true}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int top = top_of_line(scene, i);
      if (all[i].pinned != pinned || top + all[i].height <= 0 || top >= names.height()) continue;
      name_painter.line(i, QRect(names.left(), names.top() + top, names.width(), all[i].height));
    }
  }
  name_painter.sticky(names);
  painter.setPen(colour(scene.theme.line));
  painter.drawLine(names.topRight(), names.bottomRight());
  painter.restore();
}

}  // namespace tutti::gui
