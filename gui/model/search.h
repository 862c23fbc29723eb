#pragma once

#include <bitset>
#include <optional>
#include <string>

#include "gui/model/trace.h"

namespace tutti::gui {

/// What spans are looked for: "pack 3", "receive", "send pack 12"; words that are neither narrow the rows down ("gpu1").
class Query {
 public:
  explicit Query(const std::string& text);

  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] bool takes_row(const Trace::Row& row) const;
  [[nodiscard]] bool takes(const SpanRow& spans, SpanRow::Index i) const {
    return kinds_[static_cast<std::size_t>(spans.kind(i)) % kinds_.size()] && (!pack_ || spans.pack(i) == *pack_);
  }

 private:
  bool empty_ = true;
  std::bitset<64> kinds_;  ///< by SpanKind
  std::optional<std::int32_t> pack_;
  std::vector<std::string> row_words_;
};

/// The first span that fits and comes after `from` in order of time, then of rows; from the beginning again when there is
/// none. Cost: linear in the spans.
std::optional<SpanId> find_next(const Trace& trace, const Query& query, const SpanId& from);
std::optional<SpanId> find_previous(const Trace& trace, const Query& query, const SpanId& from);
/// The same from a moment on (before it).
std::optional<SpanId> find_next(const Trace& trace, const Query& query, core::Time from);
std::optional<SpanId> find_previous(const Trace& trace, const Query& query, core::Time from);
std::int64_t count_found(const Trace& trace, const Query& query);

}  // namespace tutti::gui
