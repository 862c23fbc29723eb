// Query translates words into conditions on a span: the kind, the pack, a range of durations, words
// in the name of the row, and names of layers or gradients. A span matches if it satisfies all
// conditions. A word may have several meanings. The meanings are tried in a fixed order: a number
// after "pack", a duration, a kind, a name. The function nearest() searches all rows together, in
// the order of (start, row). The scan of a row ends as soon as no later span of the row can be
// nearer than the nearest match so far, so most scans are short. If there is no match in the
// direction of the search, the search wraps around: nearest() returns the matching span that is
// closest to the opposite end, which it remembers while it searches. The file naming.cpp determines
// which packs and layers a name refers to. A text that is the whole name of a kind selects only
// that kind ("pack in flight" does not match "exchange in flight").

#include "gui/trace/search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "core/base/number.h"
#include "gui/trace/naming.h"

namespace tutti::gui {

using core::Time;

namespace {

/// Parses a duration with its unit, such as "1.5ms".
std::optional<Time> duration(const std::string& text) {
  struct Unit {
    const char* name;
    double picoseconds;
  };
  constexpr std::array<Unit, 6> kUnits{Unit{"ps", 1},   Unit{"ns", 1e3}, Unit{"us", 1e6},
                                       Unit{"µs", 1e6}, Unit{"ms", 1e9}, Unit{"s", 1e12}};
  double n = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string name(rest, text.data() + text.size());
  const auto unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == name; });
  if (status != std::errc() || unit == kUnits.end() || !(n >= 0 && n * unit->picoseconds < 9e18))
    return std::nullopt;
  return Time(static_cast<std::int64_t>(std::llround(n * unit->picoseconds)));
}

/// Returns the kinds of spans in the trace.
std::bitset<64> kinds_in(const Trace& trace) {
  std::bitset<64> kinds;
  for (const int kind : trace.kinds()) kinds.set(static_cast<std::size_t>(kind) % kinds.size());
  return kinds;
}

/// Returns the kinds of the trace whose whole name is `text`, such as "pack in flight".
std::bitset<64> kinds_called(const std::string& text, const Trace& trace) {
  std::bitset<64> kinds;
  for (const int kind : trace.kinds()) {
    if (lower(core::span_name(kind)) == text)
      kinds.set(static_cast<std::size_t>(kind) % kinds.size());
  }
  return kinds;
}

/// Returns the kinds of spans in whose name a word begins with `word`. If the trace has spans of a
/// kind whose whole name is `word`, only this kind matches ("send" then does not match
/// "receive-send"). A part of a name matches only kinds that the trace contains ("conv" does not
/// match "convert" if nothing is converted).
std::bitset<64> kinds_named(const std::string& word, const Trace& trace) {
  std::bitset<64> whole, parts;
  for (std::size_t kind = 0; kind < whole.size(); ++kind) {
    const std::string name = lower(core::span_name(static_cast<std::int32_t>(kind)));
    whole[kind] = name == word;
    parts[kind] = name.starts_with(word) || name.find(' ' + word) != std::string::npos;
  }
  if (parts.none()) return whole;
  const std::bitset<64> recorded = kinds_in(trace);
  if ((whole & recorded).any()) return whole;
  return (parts & recorded).any() ? parts & recorded : whole;
}

/// The position of a span in the search order.
using Place = std::pair<Time, std::size_t>;

/// Returns the index of the first span in another row that follows `from` in the search order.
SpanRow::Index first_behind(const Trace& trace, const SpanId& from, std::size_t row) {
  const Time t = trace.rows()[from.row].spans.start(from.index);
  // Spans with the same start are ordered by row.
  return trace.rows()[row].spans.first_from(row > from.row ? t : t + Time(1));
}

enum class Way { kForward, kBack };

/// A forward search returns the first matching span at or after `split(row)` over all rows. If no
/// span matches from there on, a forward search returns the first matching span of the trace. A
/// backward search returns the last matching span before `split(row)`, or else the last matching
/// span of the trace.
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
        // The spans of a row are sorted by start, so no later span of this row can be nearer.
        if (best && (forward ? place >= best_place : place <= best_place)) return;
        if (!query.takes(trace.rows()[r], i)) continue;
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

/// Returns the name by which a user would refer to the row.
std::string full_name(const Trace::Row& row) {
  return lower(row.timeline + '/' + row.group + "/w" + std::to_string(row.track.worker) + '/' +
               row.track.device + '/' + row.name);
}

bool is_set(const std::vector<bool>& bits, std::int32_t i) {
  return i >= 0 && static_cast<std::size_t>(i) < bits.size() && bits[i];
}

}  // namespace

Query::Query(const std::string& text, const Trace& trace) {
  if (const std::bitset<64> named = kinds_called(lower(text), trace); named.any()) {
    empty_ = false;
    kinds_ = named;
    return;
  }
  std::istringstream words(lower(text));
  std::bitset<64> kinds;
  bool about_pack = false, about_layer = false;
  for (std::string word; words >> word; empty_ = false) {
    const auto n = core::whole_number<std::int32_t>(word);
    if (about_pack && n) pack_ = n;
    if (about_pack && !n) kinds |= kinds_named("pack", trace);
    const bool known = about_pack && n, layer = about_layer;
    about_pack = about_layer = false;
    if (known) continue;
    if (layer) {
      narrow_down(word, trace, true);
    } else if (word == "pack") {
      about_pack = true;
    } else if (word == "layer") {
      about_layer = true;
    } else if (const auto time = duration(word.substr(1)); word[0] == '>' && time) {
      at_least_ = *time;
    } else if (word[0] == '<' && time) {
      less_than_ = *time;
    } else if (const std::bitset<64> named = kinds_named(word, trace); named.any()) {
      kinds |= named;
    } else {
      narrow_down(word, trace, false);
    }
  }
  // If "pack" or "layer" was not followed by a number, it is the beginning of a name.
  if (about_pack) kinds |= kinds_named("pack", trace);
  if (about_layer) narrow_down("layer", trace, true);
  kinds_ = kinds.any() ? kinds : std::bitset<64>().set();
}

std::string Query::lasting(Time at_least, Time less_than) {
  return fmt::format(">{}us <{}us", static_cast<double>(at_least.count()) / 1e6,
                     static_cast<double>(less_than.count()) / 1e6);
}

void Query::narrow_down(const std::string& word, const Trace& trace, bool layer) {
  const auto has_word = [&](const Trace::Row& row) {
    return full_name(row).find(word) != std::string::npos;
  };
  Naming best = Naming::kNot;
  for (const Side& side : trace.sides()) best = std::max(best, best_naming(side.run, word));
  const bool is_in_rows = std::ranges::any_of(trace.rows(), has_word);
  const bool row_word = !layer && (best == Naming::kNot || is_in_rows);
  if (best == Naming::kNot && (layer || !is_in_rows) && unknown_word_.empty()) unknown_word_ = word;
  if (row_word) return row_words_.push_back(word);
  std::vector<Concerned>& of_sides = named_.emplace_back();
  // A word that is the name of nothing in the trace matches no span.
  for (const Side& side : trace.sides())
    of_sides.push_back(best == Naming::kNot ? Concerned() : concerned(side.run, word, best));
}

bool Query::is_named(const Trace::Row& row, SpanRow::Index i) const {
  return std::ranges::all_of(named_, [&](const std::vector<Concerned>& of_sides) {
    const Concerned& named = of_sides[row.side];
    return is_set(named.packs, row.spans.pack(i)) || is_set(named.layers, row.spans.layer(i));
  });
}

bool Query::takes_row(const Trace::Row& row) const {
  const std::string name = full_name(row);
  return std::all_of(row_words_.begin(), row_words_.end(),
                     [&](const std::string& word) { return name.find(word) != std::string::npos; });
}

std::optional<SpanId> find_next(const Trace& trace, const Query& query, const SpanId& from) {
  return nearest(trace, query, Way::kForward, [&](std::size_t r) {
    return r == from.row ? from.index + 1 : first_behind(trace, from, r);
  });
}

std::optional<SpanId> find_previous(const Trace& trace, const Query& query, const SpanId& from) {
  return nearest(trace, query, Way::kBack, [&](std::size_t r) {
    return r == from.row ? from.index : first_behind(trace, from, r);
  });
}

std::optional<SpanId> find_next(const Trace& trace, const Query& query, Time from) {
  return nearest(trace, query, Way::kForward,
                 [&](std::size_t r) { return trace.rows()[r].spans.first_from(from); });
}

std::optional<SpanId> find_previous(const Trace& trace, const Query& query, Time from) {
  return nearest(trace, query, Way::kBack,
                 [&](std::size_t r) { return trace.rows()[r].spans.first_from(from); });
}

std::int64_t rank_of(const Trace& trace, const Query& query, const SpanId& span) {
  std::int64_t rank = 0;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    if (query.empty() || !query.takes_row(trace.rows()[r])) continue;
    const SpanRow::Index end = r == span.row ? span.index + 1 : first_behind(trace, span, r);
    for (SpanRow::Index i = 0; i < end; ++i) rank += query.takes(trace.rows()[r], i);
  }
  return rank;
}

Durations durations_of(const Trace& trace, const Query& query) {
  std::array<std::int64_t, 65> by_width{};
  Durations all;
  all.shortest = core::kNever;
  for (const Trace::Row& row : trace.rows()) {
    if (query.empty() || !query.takes_row(row)) continue;
    for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
      if (!query.takes(row, i)) continue;
      const Time duration = row.spans.duration(i);
      ++by_width[std::bit_width(static_cast<std::uint64_t>(duration.count()))];
      ++all.spans;
      all.sum += duration;
      all.shortest = std::min(all.shortest, duration);
      all.longest = std::max(all.longest, duration);
    }
  }
  if (all.spans == 0) return {};
  const auto width = [](Time t) { return std::bit_width(static_cast<std::uint64_t>(t.count())); };
  for (auto w = static_cast<int>(width(all.shortest)); w <= static_cast<int>(width(all.longest));
       ++w) {
    const Time from = w == 0 ? Time() : Time(std::int64_t{1} << (w - 1));
    all.bins.push_back({from, Time(std::int64_t{1} << std::min(w, 62)), by_width[w]});
  }
  return all;
}

}  // namespace tutti::gui
