#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "gui/comparison/alignment.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// The rows of two traces at the times at which they are shown, with a mapping of their spans to
/// those of the source traces and back.
class ComparisonRows {
 public:
  /// Returns nullopt if a time would leave the representable range, or if it was stopped. A side's
  /// tracks have the numbers of its rows.
  static std::optional<ComparisonRows> make(
      const std::array<std::shared_ptr<const Trace>, 2>& sources, const Alignment& alignment,
      const core::Numbers& packs, const std::array<std::string, 2>& names,
      const std::atomic<bool>& stop);

  [[nodiscard]] const std::vector<Trace::Row>& rows() const { return rows_; }
  /// Returns the span of the source trace that `span` shows.
  [[nodiscard]] SpanId origin(SpanId span) const;
  /// Returns the span here that shows span `own` of a side's source trace.
  [[nodiscard]] SpanId place(std::size_t side, SpanId own) const;
  /// Returns the row here that shows what row `own_row` of a side recorded of a pack of a training
  /// step.
  [[nodiscard]] core::TrackId track(std::size_t side, std::size_t own_row, std::int32_t step,
                                    std::int32_t pack) const;

 private:
  /// Consecutive spans of a row here that are also consecutive in their source row.
  struct Run {
    SpanId own;
    SpanId here;
    SpanRow::Index spans = 0;
  };
  struct Moved;

  bool add_as_they_are(const Trace& source, std::size_t side, std::size_t row,
                       const Delays& delays);
  bool add_by_pack(const Trace& first, const Trace& second, const Delays& delays,
                   const core::Numbers& packs, const std::atomic<bool>& stop);
  bool add_moved(const Trace& source, std::vector<Moved>& moved);
  void add_row(Trace::Row row, std::vector<Run> runs);

  std::vector<Trace::Row> rows_;
  std::array<std::string, 2> names_;
  std::vector<std::vector<Run>> runs_;  ///< by row of this object, ordered by here.index
  std::array<std::vector<std::vector<Run>>, 2>
      runs_of_own_;  ///< by side and source row, ordered by own.index
  std::map<std::tuple<std::size_t, std::int32_t, std::int32_t>, core::TrackId>
      moved_tracks_;  ///< tracks of the second side that moved
};

}  // namespace tutti::gui
