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
#include "gui/trace/sorted_times.h"

namespace tutti::gui {

/// The spans of one row of the window, indexed so that any time range can be drawn at any zoom
/// without visiting each span. Three queries suffice to paint a pixel:
///
///   first_from(t)       the spans that it touches (sorted_times.h)
///   busy(from, to)      how much of its time they cover: running sums of durations
///   longest(first, end) the span whose colour it gets (longest_spans.h)
///
/// Copies share their data. A span takes 21 bytes, and 1.6 bytes in the search structures, so ten
/// million spans take 226 MB. All other data of a span stays in the file.
class SpanRow {
 public:
  using Index = SortedTimes::Index;

  void reserve(std::size_t spans);
  /// Appends a span. A span that begins before the last one ended (a damaged file) is moved to that
  /// end. REQUIRES: the row has not been copied; fewer than 2^32 - 1 spans.
  void add(const core::Span& span);
  /// To be called after the last add(), before any query about more than one span.
  void finish();

  [[nodiscard]] Index size() const { return starts_->size(); }
  [[nodiscard]] core::Time start(Index i) const { return core::Time((*starts_)[i]); }
  [[nodiscard]] core::Time duration(Index i) const {
    return core::Time(columns_->sums[i + 1] - columns_->sums[i]);
  }
  [[nodiscard]] core::Time end(Index i) const { return start(i) + duration(i); }
  [[nodiscard]] int kind(Index i) const { return columns_->kinds[i]; }
  /// Returns the span's pack; -1 if it has none.
  [[nodiscard]] std::int32_t pack(Index i) const { return std::max(-1, columns_->packs[i]); }
  /// Returns the layer of the run at which a part of the backward pass ends; -1 if the span is not
  /// such a part.
  [[nodiscard]] std::int32_t layer(Index i) const {
    return std::max(-1, kFirstLayer - columns_->packs[i]);
  }

  /// Returns how much of [from, to) spans cover.
  [[nodiscard]] core::Time busy(core::Time from, core::Time to) const;
  /// Does the same if first_from(from) and first_from(to) are known already. Cost: constant.
  [[nodiscard]] core::Time busy(core::Time from, core::Time to, Index first, Index end) const;
  /// Returns the first span that starts at `t` or later; size() if there is none.
  [[nodiscard]] Index first_from(core::Time t) const { return starts_->first_from(t.count()); }
  /// Does the same for many times (picoseconds, ascending), faster than one by one. Also prefetches
  /// the data that busy() needs.
  void first_from_each(std::span<const std::int64_t> times, std::span<Index> places) const;
  /// Returns the span that covers `t`; size() if there is none.
  [[nodiscard]] Index at(core::Time t) const;
  /// Returns the longest span of first … end - 1; the earliest if there are several. REQUIRES:
  /// first < end.
  [[nodiscard]] Index longest(Index first, Index end) const {
    return longest_entry(first, end).index;
  }
  /// Returns the longest span with its duration and kind.
  [[nodiscard]] LongestSpans::Entry longest_entry(Index first, Index end) const;

  /// Delays: each applies to the spans from its index up to the next one's.
  using Shifts = std::vector<std::pair<Index, core::Time>>;
  /// Returns the row with its spans delayed; all but the times is shared with this row. A span that
  /// would begin before the last one ended begins at that end. nullopt if a span would end beyond
  /// kHorizon or begin before 0.
  [[nodiscard]] std::optional<SpanRow> moved(const Shifts& shifts) const;

  /// Returns the bytes of memory in use.
  [[nodiscard]] std::size_t memory() const;

 private:
  static constexpr std::int32_t kFirstLayer = -2;
  struct Columns {
    /// Sums[i] is the sum of the durations of the spans before i.
    std::vector<std::int64_t> sums{0};
    std::vector<std::uint8_t> kinds;
    std::vector<std::int32_t>
        packs;  ///< values from kFirstLayer on downwards encode the layer of spans without a pack
    LongestSpans longest;
  };

  std::shared_ptr<SortedTimes> starts_ = std::make_shared<SortedTimes>();
  std::shared_ptr<Columns> columns_ = std::make_shared<Columns>();
};

}  // namespace tutti::gui
