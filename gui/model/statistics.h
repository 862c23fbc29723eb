#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gui/model/time_range.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// What the spans of one kind in a stretch of time come to. Spans that reach across its edges count with what lies inside.
struct KindStatistics {
  int kind = 0;
  std::size_t side = 0;
  std::int64_t spans = 0;
  core::Time sum, p50, p99, longest;
  [[nodiscard]] core::Time mean() const { return spans > 0 ? core::Time(sum.count() / spans) : core::Time(); }
};

struct RangeStatistics {
  std::vector<KindStatistics> kinds;  ///< that with the largest sum first; of two sides one beside the other
  double busy = 0;                    ///< share of the rows' time that spans cover
  std::int64_t rows = 0;              ///< that were looked at
};

/// Over `rows` of the trace. Cost: linear in the spans in the range.
RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range);

}  // namespace tutti::gui
