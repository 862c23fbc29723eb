#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "gui/trace/naming.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// A search for spans of a trace by words. Words select kinds and packs of spans ("pack 3",
/// "receive", "send pack 12"). Words can also select durations (">1ms": at least 1 ms; "<20us":
/// less than 20 µs). A word with none of these meanings selects rows by name ("gpu1"). If no row
/// has such a name, the word refers to layers or gradients ("conv1", "fc.weight"). The search then
/// finds the packs that carry these gradients, and the parts of the backward pass that compute
/// these gradients. After "layer", a word always refers to a layer ("layer gpu1").
class Query {
 public:
  /// Parses the words. REQUIRES: the query is used only with rows of the trace for which it was
  /// made.
  Query(const std::string& text, const Trace& trace);

  /// Returns the words that select a range of durations, such as ">1.5us <3us".
  static std::string lasting(core::Time at_least, core::Time less_than);

  [[nodiscard]] bool empty() const { return empty_; }
  /// Returns the first word that has no meaning in the trace, so that no span matches; empty if
  /// every word has a meaning.
  [[nodiscard]] const std::string& unknown_word() const { return unknown_word_; }
  [[nodiscard]] bool takes_row(const Trace::Row& row) const;
  [[nodiscard]] bool takes(const Trace::Row& row, SpanRow::Index i) const {
    const SpanRow& spans = row.spans;
    return kinds_[static_cast<std::size_t>(spans.kind(i)) % kinds_.size()] &&
           (!pack_ || spans.pack(i) == *pack_) && spans.duration(i) >= at_least_ &&
           spans.duration(i) < less_than_ && (named_.empty() || is_named(row, i));
  }

 private:
  void narrow_down(const std::string& word, const Trace& trace, bool layer);
  [[nodiscard]] bool is_named(const Trace::Row& row, SpanRow::Index i) const;

  bool empty_ = true;
  std::bitset<64> kinds_;  ///< indexed by SpanKind
  std::optional<std::int32_t> pack_;
  core::Time at_least_;
  core::Time less_than_ = core::kNever;
  std::vector<std::string> row_words_;
  std::string unknown_word_;
  std::vector<std::vector<Concerned>> named_;  ///< indexed by word of the search term, then by side
};

/// A histogram of the durations of matching spans, with bins of powers of two.
struct Durations {
  struct Bin {
    core::Time from;  ///< inclusive lower bound; 0 for the shortest bin
    core::Time to;    ///< exclusive upper bound
    std::int64_t spans = 0;
    bool operator==(const Bin&) const = default;
  };
  std::vector<Bin> bins;  ///< all bins from the first to the last non-empty bin
  std::int64_t spans = 0;
  core::Time sum, shortest, longest;
};

/// Return the next matching span after `from`, and the previous matching span before `from`. Spans
/// are ordered by time, then by row, and the search wraps around. Cost: linear in the number of
/// spans.
std::optional<SpanId> find_next(const Trace& trace, const Query& query, const SpanId& from);
std::optional<SpanId> find_previous(const Trace& trace, const Query& query, const SpanId& from);
/// Return the first matching span that starts at `from` or later, and the last matching span that
/// starts before `from`. The search wraps around.
std::optional<SpanId> find_next(const Trace& trace, const Query& query, core::Time from);
std::optional<SpanId> find_previous(const Trace& trace, const Query& query, core::Time from);
/// Returns the position of `span` among all matching spans, from 1, in the order of find_next().
/// Cost: linear in the number of spans.
std::int64_t rank_of(const Trace& trace, const Query& query, const SpanId& span);
/// Returns the histogram of all matching spans. Cost: linear in the number of spans.
Durations durations_of(const Trace& trace, const Query& query);

}  // namespace tutti::gui
