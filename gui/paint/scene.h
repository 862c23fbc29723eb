#pragma once

#include <QRect>
#include <QSize>

#include "gui/model/layout.h"
#include "gui/model/trace.h"
#include "gui/model/traffic.h"
#include "gui/paint/colour.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// What is to be painted of a trace, in the window and in pictures alike. Sizes are in logical pixels.
struct Scene {
  const Trace& trace;
  const Layout& layout;
  const Theme& theme;
  TimeRange range;
  int scroll = 0;                      ///< lines above the window; those that are pinned stay
  bool path_only = false;              ///< all but the critical path is faint
  const Traffic* traffic = nullptr;    ///< for lines of counters
  static constexpr int kGutter = 210;  ///< names, left of the lines
  static constexpr int kAxis = 26;     ///< time, above them
};

/// Where the lines are in an area as large as `area`: right of the names and below the axis.
QRect lines_rect(const QSize& area);
/// Where line `i` is, in the area: pinned lines stay, the others scroll beneath them.
int top_of_line(const Scene& scene, std::size_t i);
/// Every other line has another one, and of two timelines' lines those of the second.
Pixel background_of(const Scene& scene, std::size_t line);
/// The colour of spans of that kind.
Pixel colour_of(const Scene& scene, int kind);

}  // namespace tutti::gui
