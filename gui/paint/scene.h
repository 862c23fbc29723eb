#pragma once

#include <QRect>
#include <QSize>

#include "gui/paint/colour.h"
#include "gui/paint/theme.h"
#include "gui/trace/layout.h"
#include "gui/trace/trace.h"
#include "gui/traffic/traffic.h"

namespace tutti::gui {

/// The input for painting a trace, both in the window and in pictures. Sizes are in logical pixels.
struct Scene {
  const Trace& trace;
  const Layout& layout;
  const Theme& theme;
  TimeRange range;
  /// The scroll position: the number of pixels above the visible part of the lines. Pinned lines do
  /// not scroll.
  int scroll = 0;
  bool path_only = false;              ///< true: all spans outside the critical path are faint
  const Traffic* traffic = nullptr;    ///< the values of counter lines; null: none
  static constexpr int kGutter = 190;  ///< width in pixels of the names, left of the lines
  static constexpr int kAxis = 26;     ///< height in pixels of the time axis, above the lines
  static constexpr int kSticky = 22;   ///< height in pixels of the header of a sticky group
};

/// Returns the rectangle in which lines are painted, in an area of this size. The rectangle is to
/// the right of the names and below the time axis.
QRect lines_rect(const QSize& area);
/// Returns the y coordinate of the top of line `i` in the area. Pinned lines do not move. All other
/// lines scroll beneath the pinned lines.
int top_of_line(const Scene& scene, std::size_t i);
/// Returns the index of the group whose header stays below the pinned lines, because the first
/// visible lines are in this group and the header itself is scrolled out of view. Returns
/// lines().size() if there is no such group.
std::size_t sticky_group(const Layout& layout, int scroll);
/// Returns the height of the pinned lines and of the header of the sticky group, beneath which
/// lines scroll.
int covered_height(const Layout& layout, int scroll);
/// Returns the background colour of a line. Two colours alternate from line to line. Lines of a
/// second timeline have different background colours.
Pixel background_of(const Scene& scene, std::size_t line);
/// Returns the colour of spans of a kind.
Pixel colour_of(const Scene& scene, int kind);

}  // namespace tutti::gui
