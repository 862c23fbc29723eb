#include <algorithm>

#include "core/base/format.h"
#include "gui/paint/timeline_painter.h"

namespace tutti::gui {

using core::Time;

/// Paints the ticks in one section `piece` of the time axis. The labels show the time since the
/// beginning of the section.
static void paint_ticks(QPainter& painter, const Scene& scene, const Ticks& ticks,
                        const TimeRange& piece, const QRect& axis, ShortTexts& texts,
                        const QRegion& covered) {
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
    // Omit a label that would extend into the next section or into an overlay.
    const int wide = painter.fontMetrics().horizontalAdvance(label);
    if (wide > box.width() ||
        covered.intersects(QRect(box.topLeft(), QSize(wide + 4, box.height()))))
      continue;
    texts.draw(painter, box, ticks.label(t), colour(scene.theme.text),
               Qt::AlignVCenter | Qt::AlignLeft);
  }
}

void paint_axis(QPainter& painter, const Scene& scene, const QRect& axis, ShortTexts& texts,
                const QRegion& covered) {
  painter.save();
  painter.fillRect(axis, colour(scene.theme.group));
  const int left = Scene::kGutter;
  const int width = axis.width() - left;
  texts.draw(painter, QRect(axis.left() + 8, axis.top(), left - 16, axis.height()),
             core::show(scene.range.length()) + " shown", colour(scene.theme.faint_text),
             Qt::AlignVCenter | Qt::AlignLeft);
  painter.setClipRect(axis.adjusted(left, 0, 0, 0));
  const Ticks ticks = ticks_of(scene.range, std::max(2, width / 110));
  const std::vector<AxisStretch> whole{{{Time(), core::kHorizon}, ""}};
  for (const AxisStretch& piece : scene.trace.axis().empty() ? whole : scene.trace.axis())
    paint_ticks(painter, scene, ticks, piece,
                QRect(axis.left() + left, axis.top(), width, axis.height()), texts, covered);
  painter.restore();
}

}  // namespace tutti::gui
