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

/// The rows of a comparison of two traces, with the times at which spans are shown. Maps spans of
/// the comparison to spans of the source traces, and vice versa.
class ComparisonRows {
 public:
  /// Creates the rows. Returns nullopt if a time is not representable, or if `stop` was set. In the
  /// result, row i has track number i.
  static std::optional<ComparisonRows> make(
      const std::array<std::shared_ptr<const Trace>, 2>& sources, const Alignment& alignment,
      const core::Numbers& packs, const std::array<std::string, 2>& names,
      const std::atomic<bool>& stop);

  [[nodiscard]] const std::vector<Trace::Row>& rows() const { return rows_; }
  /// Returns the span of a source trace that the combined span `span` shows.
  [[nodiscard]] SpanId origin(SpanId span) const;
  /// Returns the combined span that shows span `own` of a side's source trace.
  [[nodiscard]] SpanId place(std::size_t side, SpanId own) const;
  /// Returns the track of the combined row that shows the pack's spans in the training step. The
  /// spans come from row `own_row` of a side's source trace.
  [[nodiscard]] core::TrackId track(std::size_t side, std::size_t own_row, std::int32_t step,
                                    std::int32_t pack) const;

 private:
  /// A sequence of spans that are consecutive both in a row of rows() and in their source row.
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
  std::vector<std::vector<Run>> runs_;  ///< indexed by row of rows_, ordered by here.index
  /// The same sequences, indexed by side and source row, and ordered by own.index.
  std::array<std::vector<std::vector<Run>>, 2> runs_of_own_;
  /// The new rows to which spans were moved: for each source row, training step and pack, the track
  /// of the new row that shows the moved spans.
  std::map<std::tuple<std::size_t, std::int32_t, std::int32_t>, core::TrackId> moved_tracks_;
};

}  // namespace tutti::gui
