#include "gui/paint/scene.h"

#include <algorithm>

namespace tutti::gui {

QRect lines_rect(const QSize& area) {
  return {Scene::kGutter, Scene::kAxis, std::max(1, area.width() - Scene::kGutter),
          std::max(1, area.height() - Scene::kAxis)};
}

int top_of_line(const Scene& scene, std::size_t i) {
  const Line& line = scene.layout.lines()[i];
  return line.pinned ? line.top : line.top - scene.scroll;
}

Pixel background_of(const Scene& scene, std::size_t number) {
  const Line& line = scene.layout.lines()[number];
  if (line.is_group()) return scene.theme.group;
  const bool other = line.timeline.empty() ? number % 2 == 1 : line.side == 1;
  return other ? scene.theme.band : scene.theme.background;
}

Pixel colour_of(const Scene& scene, int kind) {
  return scene.theme.spans[static_cast<std::size_t>(kind) % scene.theme.spans.size()].colour;
}

}  // namespace tutti::gui
