#pragma once

#include "gui/paint/row_raster.h"

namespace tutti::gui {

/// The colours of the window, in a light and a dark variant. Spans have the eight colours of Okabe
/// and Ito, which colour-blind readers can distinguish. Kinds of spans with similar colours also
/// differ in the part of the row's height that they fill.
/// SOURCE: M. Okabe, K. Ito, "Color universal design", 2008, jfly.uni-koeln.de/color
struct Theme {
  Pixel background;
  Pixel band;   ///< background of every other row
  Pixel group;  ///< background of group headers
  Pixel text;
  Pixel faint_text;
  Pixel line;       ///< lines between rows, and ticks
  Pixel selection;  ///< outline of the selection, and tint of selected ranges
  Pixel path;       ///< the critical path
  Pixel load;       ///< lines that show the load of links or the utilisation of collapsed groups
  Pixel full_load;
  Pixel longer;    ///< deviations: the second timeline takes longer
  Pixel shorter;   ///< deviations: the second timeline takes less time
  Pixel sides[2];  ///< markers next to the names of the two timelines
  Pixel mark;      ///< notes on the timeline
  Pixel cursor;    ///< the time cursor
  SpanLooks spans;
};

const Theme& light_theme();
const Theme& dark_theme();

/// Returns the contrast ratio of two colours, from 1 to 21.
/// SOURCE: Web Content Accessibility Guidelines 2.1, "contrast ratio"
double contrast(Pixel a, Pixel b);
/// Returns the colour of readable text on `background`: black or white.
Pixel text_on(Pixel background);
/// Returns a mixture of two colours. `share` is the fraction of `colour` in the mixture, from 0 to
/// 1.
Pixel blend(Pixel background, Pixel colour, double share);

}  // namespace tutti::gui
