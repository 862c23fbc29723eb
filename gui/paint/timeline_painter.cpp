#include "gui/paint/timeline_painter.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "gui/paint/line_canvas.h"

namespace tutti::gui {

/// Fills the area below the last line.
static void fill_rest(QImage& image, const Scene& scene, qreal scale) {
  int bottom = 0;
  const auto& lines = scene.layout.lines();
  if (!lines.empty()) bottom = top_of_line(scene, lines.size() - 1) + lines.back().height;
  for (int y = std::max(0, static_cast<int>(std::lround(bottom * scale))); y < image.height();
       ++y) {
    auto* const line = reinterpret_cast<Pixel*>(image.scanLine(y));
    std::fill(line, line + image.width(), scene.theme.background);
  }
}

/// Each thread repeatedly takes and paints the next line, since lines share no pixels. Only pinned
/// lines overlap other lines, which scroll beneath them, so pinned lines are painted last.
PaintedLines paint_lines(const Scene& scene, const QSize& size, qreal scale, QImage before) {
  const auto device = [scale](int logical) {
    return std::max(1, static_cast<int>(std::lround(logical * scale)));
  };
  const QSize pixels(device(size.width()), device(size.height()));
  PaintedLines painted{std::move(before), std::vector<RowTexts>(scene.layout.lines().size())};
  QImage& image = painted.image;
  if (image.size() != pixels || image.format() != QImage::Format_RGB32)
    image = QImage(pixels, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  fill_rest(image, scene, scale);
  std::vector<LineCanvas> canvases;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  for (unsigned core = 0; core < cores; ++core)
    canvases.emplace_back(scene, image, scale, painted.texts);
  for (const bool pinned : {false, true}) {
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> others;
    for (unsigned core = 1; core < cores && !pinned; ++core)
      others.emplace_back([&, core] { canvases[core].paint(pinned, next); });
    canvases.front().paint(pinned, next);
  }
  const int covered = covered_height(scene.layout, scene.scroll);
  const auto row = [&](int y) { return static_cast<int>(std::lround(y * scale)); };
  for (int y = row(scene.layout.pinned_height()); y < std::min(row(covered), image.height()); ++y) {
    auto* const line = reinterpret_cast<Pixel*>(image.scanLine(y));
    std::fill(line, line + image.width(), scene.theme.group);
  }
  return painted;
}

static void paint_names_and_axis(QPainter& painter, const Scene& scene, const QSize& size,
                                 ShortTexts& texts, const QRegion& covered) {
  const QRect lines = lines_rect(size);
  paint_names(painter, scene, QRect(0, lines.top(), Scene::kGutter, lines.height()), texts);
  paint_axis(painter, scene, QRect(0, 0, size.width(), Scene::kAxis), texts, covered);
}

std::vector<RowTexts> paint_line_shapes(QPainter& painter, const Scene& scene, const QSize& size) {
  painter.save();
  painter.fillRect(QRect(QPoint(), size), colour(scene.theme.background));
  painter.setClipRect(QRect(QPoint(), size), Qt::IntersectClip);
  std::vector<RowTexts> texts(scene.layout.lines().size());
  LineCanvas canvas(scene, size, painter, texts);
  for (const bool pinned : {false, true}) {
    std::atomic<std::size_t> next{0};
    canvas.paint(pinned, next);
  }
  const int pinned = scene.layout.pinned_height();
  const int sticky = covered_height(scene.layout, scene.scroll) - pinned;
  if (sticky > 0)
    painter.fillRect(QRect(0, pinned, size.width(), sticky), colour(scene.theme.group));
  painter.restore();
  return texts;
}

void paint_shapes(QPainter& painter, const Scene& scene, const QSize& size,
                  const QRegion& covered) {
  const QRect lines = lines_rect(size);
  painter.save();
  painter.translate(lines.topLeft());
  const std::vector<RowTexts> found = paint_line_shapes(painter, scene, lines.size());
  painter.restore();
  ShortTexts texts;
  paint_texts(painter, scene, lines, found, texts);
  paint_names_and_axis(painter, scene, size, texts, covered);
}

QImage paint_picture(const Scene& scene, const QSize& size, qreal scale, const QRegion& covered) {
  QImage picture(size * scale, QImage::Format_RGB32);
  picture.setDevicePixelRatio(scale);
  picture.fill(scene.theme.background);
  QPainter painter(&picture);
  const QRect lines = lines_rect(size);
  const PaintedLines painted = paint_lines(scene, lines.size(), scale);
  painter.drawImage(lines.topLeft(), painted.image);
  ShortTexts texts;
  paint_texts(painter, scene, lines, painted.texts, texts);
  paint_names_and_axis(painter, scene, size, texts, covered);
  return picture;
}

}  // namespace tutti::gui
