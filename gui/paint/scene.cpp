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

std::size_t sticky_group(const Layout& layout, int scroll) {
  const auto& lines = layout.lines();
  if (scroll <= 0) return lines.size();
  const int top = scroll + layout.pinned_height();
  const std::size_t first = layout.line_at(top + Scene::kSticky);
  if (first >= lines.size()) return lines.size();
  for (std::size_t i = first; i-- > 0 && !lines[i].pinned;) {
    if (lines[i].is_group() && lines[i].top < top &&
        lines[first].key.starts_with(lines[i].key + '/'))
      return i;
  }
  return lines.size();
}

int covered_height(const Layout& layout, int scroll) {
  const bool sticky = sticky_group(layout, scroll) < layout.lines().size();
  return layout.pinned_height() + (sticky ? Scene::kSticky : 0);
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
