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

std::optional<Found> find_next(const Trace& trace, const Query& query, Time t, std::size_t row) {
  if (query.empty()) return std::nullopt;
  std::optional<Found> next, first;
  Place next_place, first_place;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    if (!query.takes_row(trace.rows()[r])) continue;
    const SpanRow& spans = trace.rows()[r].spans;
    const auto look = [&](SpanRow::Index from, std::optional<Found>& best, Place& best_place) {
      for (SpanRow::Index i = from; i < spans.size(); ++i) {
        const Place place{spans.start(i), r};
        if (best && place >= best_place) return;
        if (!query.takes(spans, i)) continue;
        best = Found{r, i};
        best_place = place;
        return;
      }
    };
    look(spans.first_from(r > row ? t : t + Time(1)), next, next_place);
    if (!next) look(0, first, first_place);
  }
  return next ? next : first;
}

std::optional<Found> find_previous(const Trace& trace, const Query& query, Time t, std::size_t row) {
  if (query.empty()) return std::nullopt;
  std::optional<Found> before, last;
  Place before_place, last_place;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    if (!query.takes_row(trace.rows()[r])) continue;
    const SpanRow& spans = trace.rows()[r].spans;
    const auto look = [&](SpanRow::Index end, std::optional<Found>& best, Place& best_place) {
      for (SpanRow::Index i = end; i-- > 0;) {
        const Place place{spans.start(i), r};
        if (best && place <= best_place) return;
        if (!query.takes(spans, i)) continue;
        best = Found{r, i};
        best_place = place;
        return;
      }
    };
    look(spans.first_from(r < row ? t + Time(1) : t), before, before_place);
    if (!before) look(spans.size(), last, last_place);
  }
  return before ? before : last;
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
