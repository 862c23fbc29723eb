#pragma once

#include <cstdint>
#include <vector>

#include "gui/paint/row_raster.h"

namespace tutti::gui {

/// The spans of a painted row of the timeline that are wide enough for a text. The spans are
/// collected while the row is drawn, because a separate search for these spans would cost as much
/// as the drawing.
struct RowTexts {
  /// Adjacent short spans of one kind, which look like one span and get one common text.
  struct Run {
    int from = 0, to = 0;  ///< range in logical pixels
    std::uint8_t kind = 0;
    bool operator==(const Run&) const = default;
  };
  std::vector<SpanRow::Index> wide;  ///< spans that may be wide enough for their own text
  std::vector<Run> runs;
};

/// The width in logical pixels below which a span has no text.
constexpr int kNarrowText = 28;

/// Returns the spans that are wide enough for a text, for the row of the last call of
/// raster.columns_of(). `scale`: the number of the raster's pixels per logical pixel.
RowTexts texts_of(const RowRaster& raster, double scale);

/// Returns true if spans of this kind take more than two thirds of the time that spans cover in the
/// range. If a pixel contains several spans, the picture shows only the kind of the longest one, so
/// a common text needs this check. Examines at most 256 spans in the middle of the range.
bool is_mostly(const SpanRow& spans, const TimeRange& range, int kind);

}  // namespace tutti::gui
