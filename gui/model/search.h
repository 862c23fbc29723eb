#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/naming.h"
#include "gui/model/trace.h"

namespace tutti::gui {

/// What spans are looked for in a trace: "pack 3", "receive", "send pack 12"; how long they last: ">1ms", "<20us" (at least,
/// less than). Words that are none of that narrow the rows down ("gpu1"), or, where no row has them, name layers or gradients
/// ("conv1", "fc.weight"): then the spans of packs that carry these, and the pieces of the backward pass that make them, are
/// meant. "layer gpu1" is a layer in any case.
class Query {
 public:
  /// REQUIRES: the query is asked about rows of this trace.
  Query(const std::string& text, const Trace& trace);

  /// The words that stand for durations in a stretch: ">1.5us <3us".
  static std::string lasting(core::Time at_least, core::Time less_than);

  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] bool takes_row(const Trace::Row& row) const;
  [[nodiscard]] bool takes(const Trace::Row& row, SpanRow::Index i) const {
    const SpanRow& spans = row.spans;
    return kinds_[static_cast<std::size_t>(spans.kind(i)) % kinds_.size()] && (!pack_ || spans.pack(i) == *pack_) &&
           spans.duration(i) >= at_least_ && spans.duration(i) < less_than_ && (named_.empty() || is_named(row, i));
  }

 private:
  void narrow_down(const std::string& word, const Trace& trace, bool layer);
  [[nodiscard]] bool is_named(const Trace::Row& row, SpanRow::Index i) const;

  bool empty_ = true;
  std::bitset<64> kinds_;  ///< by SpanKind
  std::optional<std::int32_t> pack_;
  core::Time at_least_;
  core::Time less_than_ = core::kNever;
  std::vector<std::string> row_words_;
  std::vector<std::vector<Concerned>> named_;  ///< by word, then by side
};

/// How long the spans are that fit: counts by powers of two.
struct Durations {
  struct Bin {
    core::Time from;  ///< at least; 0 with the shortest
    core::Time to;    ///< less than
    std::int64_t spans = 0;
    bool operator==(const Bin&) const = default;
  };
  std::vector<Bin> bins;  ///< from the first that has spans to the last
  std::int64_t spans = 0;
  core::Time sum, shortest, longest;
};

/// The first span that fits and comes after `from` in order of time, then of rows; from the beginning again when there is
/// none. Cost: linear in the spans.
std::optional<SpanId> find_next(const Trace& trace, const Query& query, const SpanId& from);
std::optional<SpanId> find_previous(const Trace& trace, const Query& query, const SpanId& from);
/// The same from a moment on (before it).
std::optional<SpanId> find_next(const Trace& trace, const Query& query, core::Time from);
std::optional<SpanId> find_previous(const Trace& trace, const Query& query, core::Time from);
/// All that fit. Cost: linear in the spans.
Durations durations_of(const Trace& trace, const Query& query);

}  // namespace tutti::gui
