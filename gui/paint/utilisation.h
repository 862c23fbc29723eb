#pragma once

#include <vector>

#include "gui/paint/row_raster.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Adds to each pixel's sum the share of the pixel's time for which a row is busy, from 0 to 1. The
/// share is that of the row's own pixel (RowRaster), except that a device that waits for its host
/// is not busy. `raster`: the pixels of `range`.
void add_busy_shares(const Trace::Row& row, const TimeRange& range, RowRaster& raster,
                     std::vector<double>& sums);

}  // namespace tutti::gui
