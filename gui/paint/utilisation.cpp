#include "gui/paint/utilisation.h"

#include <algorithm>

namespace tutti::gui {

using core::Time;

void add_busy_shares(const Trace::Row& row, const TimeRange& range, RowRaster& raster,
                     std::vector<double>& sums) {
  const std::vector<Column>& columns = raster.columns_of(row.spans);
  const int width = static_cast<int>(sums.size());
  for (int x = 0; x < width; ++x) {
    const auto at = static_cast<std::size_t>(x);
    double share = static_cast<double>(columns[at].filled) / Column::kFull;
    if (row.idle && share > 0) {
      const Time from = time_at(range, x, width), to = time_at(range, x + 1, width);
      share -= static_cast<double>(row.idle->busy(from, to).count()) /
               static_cast<double>(std::max<std::int64_t>(1, (to - from).count()));
    }
    sums[at] += std::max(0.0, share);
  }
}

}  // namespace tutti::gui
