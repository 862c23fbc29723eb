#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// Totals of the spans of one kind in a time range. Spans that cross its edges count with the part
/// inside; their bytes in proportion to time.
struct KindStatistics {
  int kind = 0;
  std::size_t side = 0;
  std::string device;  ///< device, such as "w0/gpu1"; empty: all devices
  std::int64_t spans = 0;
  /// Total size; nullopt: not requested, or the file has changed.
  std::optional<core::Bytes> bytes;
  double busy = 0;  ///< fraction of the time of all rows with such spans
  core::Time sum, p50, p99, longest;
  [[nodiscard]] core::Time mean() const {
    return spans > 0 ? core::Time(sum.count() / spans) : core::Time();
  }
};

struct RangeStatistics {
  /// Ordered by total time, the largest first; kinds of both sides next to each other; then by
  /// device.
  std::vector<KindStatistics> kinds;
  double busy = 0;        ///< fraction of the rows' time that spans cover
  std::int64_t rows = 0;  ///< number of rows that were counted
};

struct StatisticsOptions {
  bool by_device = false;
  /// True: also sum up bytes, which are read from the file at 20 times the cost.
  bool bytes = false;
  const std::atomic<bool>* cancel = nullptr;  ///< if it becomes true, the result may be incomplete
};

/// Returns the number of spans of `rows` that lie at least partly in the range.
std::int64_t spans_in(const Trace& trace, const std::vector<std::size_t>& rows,
                      const TimeRange& range);

/// Computes the statistics of `rows` in the range; callable from any thread. Cost: linear in the
/// spans in the range.
RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows,
                              const TimeRange& range, const StatisticsOptions& options = {});

}  // namespace tutti::gui
