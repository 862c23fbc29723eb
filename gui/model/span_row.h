#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::gui {

/// The spans of one row of the window, and what it takes to draw any stretch of them, at any zoom, without looking at
/// each. Two things answer every question that painting asks of a pixel:
///
///   busy(from, to)      how much of that time is covered: running sums of durations, and two searches
///   longest(first, end) whose colour the pixel gets: a pyramid of the longest span of each 16, of each 16 of those, …
///
/// (16 rather than 64: all of ten million spans on 64 rows are drawn in a third of the time, for 2 MB more.)
/// Copies share what they hold. A span takes 21 bytes, and a quarter of one in the pyramid, so ten million take 213 MB. Anything else that is known of a span
/// stays in the file.
class SpanRow {
 public:
  using Index = std::uint32_t;

  void reserve(std::size_t spans);
  /// The next span of the row; of no row that has been copied. One that begins before the last one ended (a damaged file) begins there instead.
  /// REQUIRES: fewer than 2^32 - 1 spans.
  void add(const core::Span& span);
  /// Builds the pyramid. Comes before longest(), after the last add().
  void finish();

  [[nodiscard]] Index size() const { return static_cast<Index>(starts_->size()); }
  [[nodiscard]] core::Time start(Index i) const { return core::Time((*starts_)[i]); }
  [[nodiscard]] core::Time duration(Index i) const { return core::Time(columns_->sums[i + 1] - columns_->sums[i]); }
  [[nodiscard]] core::Time end(Index i) const { return start(i) + duration(i); }
  [[nodiscard]] int kind(Index i) const { return columns_->kinds[i]; }
  /// -1 if it is none's.
  [[nodiscard]] std::int32_t pack(Index i) const { return columns_->packs[i]; }

  /// How much of [from, to) spans cover. Cost: two binary searches.
  [[nodiscard]] core::Time busy(core::Time from, core::Time to) const;
  /// The same where first_from(from) and first_from(to) are known already. Cost: none.
  [[nodiscard]] core::Time busy(core::Time from, core::Time to, Index first, Index end) const;
  /// The first span that starts at `t` or later; size() if none does.
  [[nodiscard]] Index first_from(core::Time t) const { return first_from(t, 0); }
  /// The same, if it is known to be `hint` or a later one. Cost: logarithmic in how much later.
  [[nodiscard]] Index first_from(core::Time t, Index hint) const;
  /// The span that covers `t`; size() if none does.
  [[nodiscard]] Index at(core::Time t) const;
  /// The longest of first … end - 1, the earliest of several. REQUIRES: first < end.
  [[nodiscard]] Index longest(Index first, Index end) const;

  /// From which span on, and by how much all from there to the next are later.
  using Shifts = std::vector<std::pair<Index, core::Time>>;
  /// The row with its spans at other times, which shares all but the times with this one. A span that would begin before the last
  /// one ended begins there. Nothing if a span would end beyond kHorizon or begin before 0.
  [[nodiscard]] std::optional<SpanRow> moved(const Shifts& shifts) const;

  /// Bytes of memory in use.
  [[nodiscard]] std::size_t memory() const;

 private:
  [[nodiscard]] Index longer(Index a, Index b) const { return duration(b) > duration(a) ? b : a; }

  struct Columns {
    std::vector<std::int64_t> sums{0};  ///< sums[i]: of the durations of the spans before i
    std::vector<std::uint8_t> kinds;
    std::vector<std::int32_t> packs;
    std::vector<std::vector<Index>> pyramid;  ///< [0]: the longest of each 16 spans; [1]: of each 16 of those; …
  };

  std::shared_ptr<std::vector<std::int64_t>> starts_ = std::make_shared<std::vector<std::int64_t>>();
  std::shared_ptr<Columns> columns_ = std::make_shared<Columns>();
};

}  // namespace tutti::gui
