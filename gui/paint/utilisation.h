#pragma once

#include <vector>

#include "gui/paint/row_raster.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// For each pixel of `range`, adds to `sums` the fraction of the pixel's time in which the row is
/// busy (0 … 1). A device that waits for its host (Trace::Row::idle) is not busy. For rows without
/// such waits, the share is the fraction of the pixel that a picture of the row fills
/// (Column::filled). `raster`: the pixels of `range`.
void add_busy_shares(const Trace::Row& row, const TimeRange& range, RowRaster& raster,
                     std::vector<double>& sums);

}  // namespace tutti::gui
