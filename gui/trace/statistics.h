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

/// Totals of the spans of one kind in a time range. If a span crosses an edge of the range, only
/// the part inside the range counts, with a proportional part of the span's bytes.
struct KindStatistics {
  int kind = 0;
  std::size_t side = 0;
  std::string device;  ///< the device, such as "w0/gpu1"; empty: all devices
  std::int64_t spans = 0;
  /// The total size in bytes; nullopt: the size was not requested, or the file has changed.
  std::optional<core::Bytes> bytes;
  /// The total time divided by the available time. The available time is the length of the range
  /// times the number of rows that have spans of this kind.
  double busy = 0;
  core::Time sum, p50, p99, longest;
  [[nodiscard]] core::Time mean() const {
    return spans > 0 ? core::Time(sum.count() / spans) : core::Time();
  }
};

struct RangeStatistics {
  /// Entries of the same kind are adjacent, even if they are from different sides or devices. The
  /// kinds are ordered by their total time over all sides and devices, in descending order, so the
  /// order of the kinds does not depend on `by_device`.
  std::vector<KindStatistics> kinds;
  double busy = 0;  ///< the time that spans cover, divided by the length of the range times `rows`
  std::int64_t rows = 0;  ///< number of rows that were counted
};

struct StatisticsOptions {
  bool by_device = false;
  /// True: also sums up bytes, which have to be read from the file. The computation then takes 20
  /// times as long.
  bool bytes = false;
  /// If `cancel` becomes true, the computation stops, and the result may be incomplete.
  const std::atomic<bool>* cancel = nullptr;
};

/// Returns the number of spans of `rows` that are at least partly in the range.
std::int64_t spans_in(const Trace& trace, const std::vector<std::size_t>& rows,
                      const TimeRange& range);

/// Computes the statistics of `rows` in the range. May be called from any thread. Cost: linear in
/// the number of spans in the range.
RangeStatistics statistics_of(const Trace& trace, const std::vector<std::size_t>& rows,
                              const TimeRange& range, const StatisticsOptions& options = {});

}  // namespace tutti::gui
