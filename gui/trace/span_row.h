#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/timeline/timeline.h"
#include "gui/trace/longest_spans.h"
#include "gui/trace/packed_numbers.h"
#include "gui/trace/sorted_times.h"

namespace tutti::gui {

/// The spans of one row of the timeline view. An index allows drawing any time range at any zoom
/// without visiting each span. Three queries suffice to paint a pixel:
///
///   first_from(t)       the spans that the pixel touches (sorted_times.h)
///   busy(from, to)      the part of the pixel's time that spans cover, by sums of durations
///   longest(first, end) the span whose colour the pixel gets (longest_spans.h)
///
/// Copies share their data. Memory for each span: 17 bytes, 1.6 bytes in the search structures, and
/// the bits of its pack and its waiting time (packed_numbers.h). A wait of one second takes at most
/// 5 bytes. All other data of a span stays in the file.
class SpanRow {
 public:
  using Index = SortedTimes::Index;

  void reserve(std::size_t spans);
  /// Appends a span. If the new span begins before the previous span ends (in a damaged file), the
  /// new span is moved to the end of the previous span. REQUIRES: the row was not copied, and has
  /// fewer than 2^32 - 1 spans.
  void add(const core::Span& span);
  /// Builds the index. Must be called after the last add(), and before any query about more than
  /// one span.
  void finish();

  [[nodiscard]] Index size() const { return starts_->size(); }
  [[nodiscard]] core::Time start(Index i) const { return core::Time((*starts_)[i]); }
  [[nodiscard]] core::Time duration(Index i) const {
    return core::Time(columns_->sums[i + 1] - columns_->sums[i]);
  }
  [[nodiscard]] core::Time end(Index i) const { return start(i) + duration(i); }
  [[nodiscard]] int kind(Index i) const { return columns_->kinds[i]; }
  /// Returns the time for which the span waits before it works, at most its duration.
  [[nodiscard]] core::Time wait(Index i) const { return core::Time(columns_->waits[i]); }
  /// Returns the span's pack; -1 if it has none.
  [[nodiscard]] std::int32_t pack(Index i) const {
    return static_cast<std::int32_t>(std::max<std::int64_t>(-1, columns_->packs[i]));
  }
  /// If the span is a part of the backward pass, returns the index of the layer at which this part
  /// ends; otherwise -1.
  [[nodiscard]] std::int32_t layer(Index i) const {
    return static_cast<std::int32_t>(std::max<std::int64_t>(-1, kFirstLayer - columns_->packs[i]));
  }

  /// Returns the kinds of the row's spans, each with the sum of their durations.
  [[nodiscard]] const std::vector<std::pair<int, core::Time>>& kind_times() const {
    return columns_->kind_times;
  }
  /// Returns true if some span waits for so much of its duration that the wait is visible in a
  /// picture.
  [[nodiscard]] bool has_waits() const { return columns_->has_waits; }

  /// Returns the part of the time [from, to) that spans cover.
  [[nodiscard]] core::Time busy(core::Time from, core::Time to) const;
  /// Does the same as the function above, for a caller that already knows `first` =
  /// first_from(from) and `end` = first_from(to). Cost: constant.
  [[nodiscard]] core::Time busy(core::Time from, core::Time to, Index first, Index end) const;
  /// Returns the first span that starts at `t` or later; size() if there is none.
  [[nodiscard]] Index first_from(core::Time t) const { return starts_->first_from(t.count()); }
  /// Computes first_from() for each of `times` (in ps, ascending), and writes the results to
  /// `places`. One call is faster than separate calls of first_from(). Also prefetches the data
  /// that busy() needs.
  void first_from_each(std::span<const std::int64_t> times, std::span<Index> places) const;
  /// Returns the span that covers `t`; size() if there is none.
  [[nodiscard]] Index at(core::Time t) const;
  /// Returns the index of the longest span among first … end - 1; the earliest if several are
  /// equally long. REQUIRES: first < end.
  [[nodiscard]] Index longest(Index first, Index end) const {
    return longest_entry(first, end).index;
  }
  /// Returns the longest span among first … end - 1, with its duration and kind.
  [[nodiscard]] LongestSpans::Entry longest_entry(Index first, Index end) const;

  /// Delays of a row's spans. The delay of an entry applies to the spans from the entry's index up
  /// to the index of the next entry.
  using Shifts = std::vector<std::pair<Index, core::Time>>;
  /// Returns a copy of the row with its spans delayed. The copy shares all data except times with
  /// this row. If a span's delayed start would lie before the end of the previous span, the span
  /// starts at the end of the previous span. Returns nullopt if a span would begin before 0 or end
  /// after kHorizon.
  [[nodiscard]] std::optional<SpanRow> moved(const Shifts& shifts) const;

  /// Returns the memory in use, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::int64_t kFirstLayer = -2;
  struct Columns {
    /// sums[i] is the sum of the durations of spans 0 … i - 1.
    std::vector<std::int64_t> sums{0};
    std::vector<std::uint8_t> kinds;
    PackedNumbers waits;
    /// The pack of each span; -1: none. Values of kFirstLayer and below encode the layer of a span
    /// that has no pack.
    PackedNumbers packs;
    LongestSpans longest;
    std::vector<std::pair<int, core::Time>> kind_times;  ///< total time of each kind, in the order
                                                         ///< in which the kinds first occur
    bool has_waits = false;
  };

  std::shared_ptr<SortedTimes> starts_ = std::make_shared<SortedTimes>();
  std::shared_ptr<Columns> columns_ = std::make_shared<Columns>();
};

}  // namespace tutti::gui
