#pragma once

#include "gui/paint/row_raster.h"

namespace tutti::gui {

/// The window's colours, with a light and a dark variant. Spans have the eight colours of Okabe and
/// Ito, which are distinguishable for colour-blind readers; kinds with similar colours also differ
/// in the part of the row that they fill.
/// SOURCE: M. Okabe, K. Ito, "Color universal design", 2008, jfly.uni-koeln.de/color
struct Theme {
  Pixel background;
  Pixel band;   ///< behind every other row
  Pixel group;  ///< behind group headers
  Pixel text;
  Pixel faint_text;
  Pixel line;       ///< between rows, ticks
  Pixel selection;  ///< the outline of the selection, and the tint of ranges
  Pixel path;       ///< critical path
  Pixel load;       ///< the load of links, and the utilisation of collapsed groups
  Pixel full_load;
  Pixel longer;    ///< errors: the second timeline takes longer
  Pixel shorter;   ///< errors: the second timeline takes less time
  Pixel sides[2];  ///< markers next to the names of the first and the second timeline
  Pixel mark;      ///< notes on the timeline
  Pixel cursor;    ///< the time cursor
  SpanLooks spans;
};

const Theme& light_theme();
const Theme& dark_theme();

/// Returns the colour of readable text on `background`: black or white.
Pixel text_on(Pixel background);
/// Mixes a `share`, 0 … 1, of `colour` into `background`.
Pixel blend(Pixel background, Pixel colour, double share);

}  // namespace tutti::gui
