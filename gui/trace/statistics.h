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
  std::string device;  ///< "w0/gpu1"; empty: all devices
  std::int64_t spans = 0;
  std::optional<core::Bytes> bytes;  ///< nullopt: not requested, or the file has changed
  double busy = 0;                   ///< fraction of the time of the rows that have such spans
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
  bool bytes = false;  ///< needs to read the spans from the file: 20 times the cost
  const std::atomic<bool>* cancel = nullptr;  ///< once it is true, the result may be incomplete
};

/// Returns the number of spans of `rows` that lie at least partly in the range.
std::int64_t spans_in(const Trace& trace, const std::vector<std::size_t>& rows,
                      const TimeRange& range);

/// Computes the statistics of `rows` in the range; callable from any thread. Cost: linear in the
/// spans in the range.
RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows,
                              const TimeRange& range, const StatisticsOptions& options = {});

}  // namespace tutti::gui
