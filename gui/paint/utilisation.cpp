#include "gui/paint/utilisation.h"

#include <algorithm>

namespace tutti::gui {

using core::Time;

void add_busy_shares(const Trace::Row& row, const TimeRange& range, RowRaster& raster,
                     std::vector<double>& sums) {
  if (!row.idle) {
    const std::vector<Column>& columns = raster.columns_of(row.spans);
    for (std::size_t x = 0; x < sums.size(); ++x)
      sums[x] += static_cast<double>(columns[x].filled) / Column::kFull;
    return;
  }
  const int width = static_cast<int>(sums.size());
  for (int x = 0; x < width; ++x) {
    const Time from = time_at(range, x, width), to = time_at(range, x + 1, width);
    if (from >= to) continue;
    const Time busy = row.spans.busy(from, to) - row.idle->busy(from, to);
    sums[static_cast<std::size_t>(x)] +=
        static_cast<double>(busy.count()) / static_cast<double>((to - from).count());
  }
}

}  // namespace tutti::gui
