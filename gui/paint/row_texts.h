#pragma once

#include <cstdint>
#include <vector>

#include "gui/paint/row_raster.h"

namespace tutti::gui {

/// The spans of a drawn row that have room for a text. They are collected while the row is drawn,
/// since looking spans up a second time would cost as much as drawing them.
struct RowTexts {
  /// Many short spans side by side that look like one of one kind.
  struct Run {
    int from = 0, to = 0;  ///< logical pixels
    std::uint8_t kind = 0;
    bool operator==(const Run&) const = default;
  };
  std::vector<SpanRow::Index> wide;  ///< spans that may be wide enough, each for a text of its own
  std::vector<Run> runs;
};

/// Spans narrower than that have no text, in logical pixels.
constexpr int kNarrowText = 28;

/// Of the row whose columns the raster has just made, at `scale` of its pixels a logical one.
RowTexts texts_of(const RowRaster& raster, double scale);

}  // namespace tutti::gui
