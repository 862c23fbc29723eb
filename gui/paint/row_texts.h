#pragma once

#include <cstdint>
#include <vector>

#include "gui/paint/row_raster.h"

namespace tutti::gui {

/// The spans of a drawn row that have room for a text. They are collected while the row is drawn,
/// since looking spans up a second time would cost as much as drawing them.
struct RowTexts {
  /// Many adjacent short spans that look like one span of one kind.
  struct Run {
    int from = 0, to = 0;  ///< range in logical pixels
    std::uint8_t kind = 0;
    bool operator==(const Run&) const = default;
  };
  std::vector<SpanRow::Index> wide;  ///< spans that may have room for a text of their own
  std::vector<Run> runs;
};

/// The width in logical pixels below which spans have no text.
constexpr int kNarrowText = 28;

/// Returns the texts of the row whose columns `raster` computed last. `scale`: its pixels per
/// logical pixel.
RowTexts texts_of(const RowRaster& raster, double scale);

}  // namespace tutti::gui
