#pragma once

#include "gui/paint/row_raster.h"

namespace tutti::gui {

/// The window's colours, by day and by night. Spans have the eight colours that Okabe and Ito chose so that all kinds of
/// eyes tell them apart; kinds whose colours are near each other also differ in which part of the row they fill.
/// SOURCE: M. Okabe, K. Ito, "Color universal design", 2008, jfly.uni-koeln.de/color
struct Theme {
  Pixel background;
  Pixel band;   ///< behind every other row
  Pixel group;  ///< behind group headers
  Pixel text;
  Pixel faint_text;
  Pixel line;       ///< between rows, ticks
  Pixel selection;  ///< around what is selected; ranges are tinted with it
  Pixel path;       ///< critical path
  Pixel load;       ///< of links, and what a closed group does
  Pixel full_load;
  Pixel longer;    ///< errors: the second of two timelines takes longer,
  Pixel shorter;   ///< or less long
  Pixel sides[2];  ///< beside the names of what is of the one and of the other
  Pixel mark;      ///< notes on the timeline
  Pixel cursor;    ///< the moment that is looked at
  SpanLooks spans;
};

const Theme& light_theme();
const Theme& dark_theme();

/// Text that can be read on `background`: black or white.
Pixel text_on(Pixel background);
/// `share` of `colour` on `background`, 0 … 1.
Pixel blend(Pixel background, Pixel colour, double share);

}  // namespace tutti::gui
