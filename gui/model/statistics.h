#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/time_range.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// What the spans of one kind in a stretch of time come to. Spans that reach across its edges count with what lies inside, bytes
/// by the share of time.
struct KindStatistics {
  int kind = 0;
  std::size_t side = 0;
  std::string device;  ///< "w0/gpu1"; empty: of all
  std::int64_t spans = 0;
  std::optional<core::Bytes> bytes;  ///< nothing: not asked for, or the file has changed
  double busy = 0;                   ///< share of the time of the rows that have such spans
  core::Time sum, p50, p99, longest;
  [[nodiscard]] core::Time mean() const { return spans > 0 ? core::Time(sum.count() / spans) : core::Time(); }
};

struct RangeStatistics {
  /// The kind with the largest sum first; of two sides one beside the other; then by device.
  std::vector<KindStatistics> kinds;
  double busy = 0;        ///< share of the rows' time that spans cover
  std::int64_t rows = 0;  ///< that were looked at
};

struct StatisticsOptions {
  bool by_device = false;
  bool bytes = false;                         ///< has to read the spans from the file: 20 times the cost
  const std::atomic<bool>* cancel = nullptr;  ///< once it is true, what is returned is not all
};

/// Spans of `rows` that lie in the range, at least in part.
std::int64_t spans_in(const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range);

/// Over `rows` of the trace; in any thread. Cost: linear in the spans in the range.
RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows, const TimeRange& range,
                              const StatisticsOptions& options = {});

}  // namespace tutti::gui
