#include "gui/model/search.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace tutti::gui {

using core::Time;

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<std::int32_t> number(const std::string& text) {
  std::int32_t n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

/// Kinds with a word of their name that begins so; whole names win over parts ("send" is not "receive-send").
std::bitset<64> kinds_named(const std::string& word) {
  std::bitset<64> whole, parts;
  for (std::size_t kind = 0; kind < whole.size(); ++kind) {
    const std::string name = lower(core::span_name(static_cast<std::int32_t>(kind)));
    whole[kind] = name == word;
    parts[kind] = name.starts_with(word) || name.find(' ' + word) != std::string::npos;
  }
  return whole.any() ? whole : parts;
}

/// Where a span stands in the order in which they are gone through.
using Place = std::pair<Time, std::size_t>;

/// The first span of another row that comes behind `from`.
SpanRow::Index first_behind(const Trace& trace, const SpanId& from, std::size_t row) {
  const Time t = trace.rows()[from.row].spans.start(from.index);
  return trace.rows()[row].spans.first_from(row > from.row ? t : t + Time(1));
}

enum class Way { kForward, kBack };

/// Forward: the first of all rows' spans from `split(row)` on; where there is none, the first of all. Back: the last
/// before it; where there is none, the last of all.
template <class Split>
std::optional<SpanId> nearest(const Trace& trace, const Query& query, Way way, Split split) {
  if (query.empty()) return std::nullopt;
  const bool forward = way == Way::kForward;
  std::optional<SpanId> near, around;
  Place near_place, around_place;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    if (!query.takes_row(trace.rows()[r])) continue;
    const SpanRow& spans = trace.rows()[r].spans;
    const auto look = [&](SpanRow::Index edge, std::optional<SpanId>& best, Place& best_place) {
      for (; forward ? edge < spans.size() : edge > 0; edge = forward ? edge + 1 : edge - 1) {
        const SpanRow::Index i = forward ? edge : edge - 1;
        const Place place{spans.start(i), r};
        if (best && (forward ? place >= best_place : place <= best_place)) return;
        if (!query.takes(spans, i)) continue;
        best = SpanId{r, i};
        best_place = place;
        return;
      }
    };
    look(split(r), near, near_place);
    if (!near) look(forward ? 0 : spans.size(), around, around_place);
  }
  return near ? near : around;
}

}  // namespace

Query::Query(const std::string& text) {
  std::istringstream words(lower(text));
  std::bitset<64> kinds;
  bool about_pack = false;
  for (std::string word; words >> word; empty_ = false) {
    const auto n = number(word);
    if (about_pack && n) {
      pack_ = n;
    } else if (word == "pack") {
      about_pack = true;
      continue;
    } else if (const std::bitset<64> named = kinds_named(word); named.any()) {
      kinds |= named;
    } else {
      row_words_.push_back(word);
    }
    about_pack = false;
  }
  kinds_ = kinds.any() ? kinds : std::bitset<64>().set();
}

bool Query::takes_row(const Trace::Row& row) const {
  const std::string name =
      lower(row.group + "/w" + std::to_string(row.track.worker) + '/' + row.track.device + '/' + row.name);
  return std::all_of(row_words_.begin(), row_words_.end(),
                     [&](const std::string& word) { return name.find(word) != std::string::npos; });
}

std::optional<SpanId> find_next(const Trace& trace, const Query& query, const SpanId& from) {
  return nearest(trace, query, Way::kForward,
                 [&](std::size_t r) { return r == from.row ? from.index + 1 : first_behind(trace, from, r); });
}

std::optional<SpanId> find_previous(const Trace& trace, const Query& query, const SpanId& from) {
  return nearest(trace, query, Way::kBack,
                 [&](std::size_t r) { return r == from.row ? from.index : first_behind(trace, from, r); });
}

std::optional<SpanId> find_next(const Trace& trace, const Query& query, Time from) {
  return nearest(trace, query, Way::kForward, [&](std::size_t r) { return trace.rows()[r].spans.first_from(from); });
}

std::optional<SpanId> find_previous(const Trace& trace, const Query& query, Time from) {
  return nearest(trace, query, Way::kBack, [&](std::size_t r) { return trace.rows()[r].spans.first_from(from); });
}

std::int64_t count_found(const Trace& trace, const Query& query) {
  std::int64_t count = 0;
  for (const Trace::Row& row : trace.rows()) {
    if (query.empty() || !query.takes_row(row)) continue;
    for (SpanRow::Index i = 0; i < row.spans.size(); ++i) count += query.takes(row.spans, i);
  }
  return count;
}

}  // namespace tutti::gui
