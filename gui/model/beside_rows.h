#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "gui/model/alignment.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// The rows of two traces at the times at which they are shown, and how spans are called here and there.
class BesideRows {
 public:
  /// Nothing if times would go beyond what they can be, or if it was stopped. A side's tracks are numbered as its rows.
  static std::optional<BesideRows> make(const std::array<std::shared_ptr<const Trace>, 2>& sources,
                                        const Alignment& alignment, const core::Numbers& packs,
                                        const std::array<std::string, 2>& names, const std::atomic<bool>& stop);

  [[nodiscard]] const std::vector<Trace::Row>& rows() const { return rows_; }
  /// Where a span is in its own trace.
  [[nodiscard]] SpanId origin(SpanId span) const;
  /// Where a span of a side's own trace is here.
  [[nodiscard]] SpanId place(std::size_t side, SpanId own) const;
  /// The row here of what a side's own track recorded of a pack of a training step.
  [[nodiscard]] core::TrackId track(std::size_t side, std::size_t own_row, std::int32_t step, std::int32_t pack) const;

 private:
  /// Neighbours of a row here that are neighbours there.
  struct Run {
    SpanId own;
    SpanId here;
    SpanRow::Index spans = 0;
  };
  struct Moved;

  bool add_as_they_are(const Trace& source, std::size_t side, std::size_t row, const Delays& delays);
  bool add_by_pack(const Trace& first, const Trace& second, const Delays& delays, const core::Numbers& packs,
                   const std::atomic<bool>& stop);
  bool add_moved(const Trace& source, std::vector<Moved>& moved);
  void add_row(Trace::Row row, std::vector<Run> runs);

  std::vector<Trace::Row> rows_;
  std::array<std::string, 2> names_;
  std::vector<std::vector<Run>> runs_;                        ///< by row here, by here.index
  std::array<std::vector<std::vector<Run>>, 2> runs_of_own_;  ///< by side and row there, by own.index
  std::map<std::tuple<std::size_t, std::int32_t, std::int32_t>, core::TrackId> moved_tracks_;  ///< of the second
};

}  // namespace tutti::gui
