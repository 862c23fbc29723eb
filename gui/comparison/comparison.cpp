// Combines two traces into one trace, which the timeline view shows like any other trace. Only the
// times of spans are copied. A row of the combined trace refers to spans of a source trace, and
// ComparisonParts maps combined spans to source spans, and vice versa. First, the alignment gives
// every step or pack of a side a delay. Second, the rows are made, and the records of steps, packs,
// links and the critical path are moved by these delays. If the times cannot be aligned as
// requested, they are aligned by start, which always works.
//
// Delays are computed in alignment.cpp, rows in comparison_rows.cpp, matches of spans in
// comparison_parts.cpp, and texts in comparison_words.cpp.

#include "gui/comparison/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/step_parts.h"
#include "core/timeline/summary.h"
#include "gui/comparison/comparison_parts.h"
#include "gui/comparison/comparison_rows.h"
#include "gui/comparison/comparison_words.h"
#include "gui/trace/describe.h"

namespace tutti::gui {

using core::Expected;
using core::Pair;
using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;

namespace {

/// Returns `t` + `by`, limited to valid times, since times of a corrupt file may overflow.
Time moved_by(Time t, Time by) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(t.count(), by.count(), &sum))
    sum = by < Time() ? 0 : core::kHorizon.count();
  return std::clamp(Time(sum), Time(), core::kHorizon);
}

/// Returns a copy of the link's record with its loads moved to the displayed times. If this would
/// need too many bins of the file's width, uses wider bins.
core::LinkRecord moved(const core::LinkRecord& link, const Delays& delays) {
  constexpr std::int64_t kMaxBins = 1 << 20;
  core::LinkRecord made = link;
  const std::int64_t width = link.bin_width.count();
  if (delays.by_time.empty() || link.bins.empty() || width <= 0) return made;
  const auto begin_of = [&](std::size_t bin) {
    const Time own(static_cast<std::int64_t>(bin) * width);
    return moved_by(own, delays.at(own)).count();
  };
  std::int64_t wide = width;
  const std::int64_t last = begin_of(link.bins.size() - 1);
  while (last / wide + 2 > kMaxBins) wide *= 2;
  made.bin_width = Time(wide);
  made.bins.assign(static_cast<std::size_t>(last / wide + 2), 0);
  for (std::size_t bin = 0; bin < link.bins.size(); ++bin) {
    const std::int64_t begin = begin_of(bin);
    const auto to = std::min(static_cast<std::size_t>(begin / wide), made.bins.size() - 2);
    const std::int64_t over = std::max<std::int64_t>(0, begin % wide + width - wide);
    const auto next =
        static_cast<std::int64_t>(static_cast<double>(link.bins[bin]) * static_cast<double>(over) /
                                  static_cast<double>(width));
    made.bins[to] += link.bins[bin] - next;
    made.bins[to + 1] += next;
  }
  return made;
}

Side moved(const Trace& source, const Delays& delays, const std::string& name) {
  Side side = source.sides().front();
  side.name = name;
  for (core::StepRecord& step : side.steps) {
    const Time by = delays.of_step(step.step);
    step.start = moved_by(step.start, by);
    step.end = moved_by(step.end, by);
  }
  for (core::PackRecord& pack : side.packs) {
    const Time by = delays.of_pack(pack.step, pack.pack);
    for (Time* const t : {&pack.ready, &pack.first_start, &pack.last_start, &pack.end})
      *t = moved_by(*t, by);
  }
  for (core::PathPiece& piece : side.path) {
    const Time by = delays.at(piece.start);
    piece.start = moved_by(piece.start, by);
    piece.end = moved_by(piece.end, by);
  }
  for (core::LinkRecord& link : side.links) link = moved(link, delays);
  return side;
}

std::map<std::int32_t, std::vector<core::PackRecord>> packs_by_step(const Trace& trace) {
  std::map<std::int32_t, std::vector<core::PackRecord>> steps;
  for (const core::PackRecord& pack : trace.packs()) steps[pack.step].push_back(pack);
  return steps;
}

std::vector<core::StepComparison> compare_steps(const ComparedTraces& sources,
                                                const core::Numbers& packs) {
  auto packs_a = packs_by_step(*sources[0]), packs_b = packs_by_step(*sources[1]);
  std::map<std::int32_t, core::StepRecord> others;
  for (const core::StepRecord& step : sources[1]->steps()) others.try_emplace(step.step, step);
  std::vector<core::StepComparison> steps;
  for (const core::StepRecord& step : sources[0]->steps()) {
    const auto other = others.find(step.step);
    if (other == others.end()) continue;
    steps.push_back(core::compare_step(step, other->second, packs_a[step.step], packs_b[step.step],
                                       sources[0]->run(), packs));
    others.erase(other);
  }
  return steps;
}

/// Distributes the differences over as few rows as possible, but at most four, so that differences
/// in a row do not overlap. If four rows are not enough, differences in the last row overlap.
std::vector<DifferenceRow> in_rows(const std::string& name, std::vector<Difference> all) {
  constexpr std::size_t kMaxRows = 4;
  std::stable_sort(all.begin(), all.end(),
                   [](const Difference& a, const Difference& b) { return a.at.from < b.at.from; });
  std::vector<DifferenceRow> rows;
  for (Difference& difference : all) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const DifferenceRow& r) {
      return r.differences.back().at.to <= difference.at.from;
    });
    if (row == rows.end() && rows.size() < kMaxRows)
      row = rows.insert(rows.end(),
                        {rows.empty() ? name : fmt::format("{}, {}", name, rows.size() + 1), {}});
    if (row == rows.end()) row = std::prev(rows.end());
    row->differences.push_back(std::move(difference));
  }
  return rows;
}

std::vector<DifferenceRow> rows_of_differences(const std::vector<core::StepComparison>& steps,
                                               const std::vector<Side>& sides, Align align,
                                               const std::string& apart) {
  // If steps are aligned, a difference is shown from the earlier start to the later end of the two
  // activities. If steps are not aligned, a difference is shown at the range of the activity in the
  // first timeline.
  const auto where = [align](const TimeRange& a, const TimeRange& b) {
    return align == Align::kStart ? a : TimeRange{std::min(a.from, b.from), std::max(a.to, b.to)};
  };
  std::array<std::map<std::int32_t, TimeRange>, 2> of_step;
  std::array<std::map<std::pair<std::int32_t, std::int32_t>, TimeRange>, 2> of_pack;
  for (std::size_t s = 0; s < 2; ++s) {
    for (const core::StepRecord& step : sides[s].steps)
      of_step[s].try_emplace(step.step, TimeRange{step.start, step.end});
    for (const core::PackRecord& pack : sides[s].packs)
      of_pack[s].try_emplace({pack.step, pack.pack}, TimeRange{pack.last_start, pack.end});
  }
  std::vector<Difference> by_step, by_pack;
  for (const core::StepComparison& step : steps) {
    by_step.push_back({where(of_step[0].at(step.step), of_step[1].at(step.step_b)), step.time,
                       fmt::format("step {}", step.step)});
    for (const core::PackComparison& pack : step.packs) {
      by_pack.push_back(
          {where(of_pack[0].at({step.step, pack.pack}), of_pack[1].at({step.step_b, pack.pack_b})),
           pack.took, fmt::format("pack {}", pack.pack)});
    }
  }
  std::vector<DifferenceRow> rows = in_rows(apart + " of steps", std::move(by_step));
  for (DifferenceRow& row : in_rows(apart + " of packs", std::move(by_pack)))
    rows.push_back(std::move(row));
  return rows;
}

}  // namespace

std::string signed_share(const Pair& time, int digits) {
  const auto share = time.share();
  if (!share) return "";
  const std::string number = fmt::format("{:.{}f}", 100 * std::abs(*share), digits);
  const bool is_nothing = number.find_first_not_of("0.") == std::string::npos;
  return fmt::format("{}{} %", is_nothing ? "" : *share < 0 ? "−" : "+", number);
}

std::string signed_difference(const Pair& time) {
  const Time by = time.difference();
  const std::string share = signed_share(time);
  return fmt::format("{}{}{}", by < Time() ? "−" : "+", core::show(by < Time() ? Time() - by : by),
                     share.empty() ? "" : " (" + share + ")");
}

Comparison compare_traces(std::shared_ptr<const Trace> first, std::shared_ptr<const Trace> second,
                          Align wanted, const std::array<std::string, 2>& files,
                          const std::atomic<bool>& stop) {
  Comparison comparison;
  comparison.sources = {std::move(first), std::move(second)};
  const Trace &a = *comparison.sources[0], &b = *comparison.sources[1];
  const std::array<std::string, 2> names = names_of(a.run(), b.run(), files);
  comparison.packs = core::packs_in_common(a.run(), b.run());
  comparison.apart = is_prediction(a.run(), b.run()) ? "error" : "difference";
  comparison.align = wanted;
  auto alignment = align(a, b, wanted, comparison.packs, stop);
  std::optional<ComparisonRows> rows;
  if (alignment)
    rows = ComparisonRows::make(comparison.sources, *alignment, comparison.packs, names, stop);
  if (!rows) {
    comparison.align = Align::kStart;
    alignment = Alignment();
    // An alignment by start has no delays, so it cannot fail.
    rows = ComparisonRows::make(comparison.sources, *alignment, comparison.packs, names, stop);
  }
  if (stop || !rows) return {};
  comparison.steps = compare_steps(comparison.sources, comparison.packs);
  comparison.differences = what_differs(a, b, names, comparison.packs);
  if (comparison.align != wanted)
    comparison.differences.insert(
        comparison.differences.begin(),
        fmt::format("the timelines are aligned by start, because they cannot be aligned by {}: {}",
                    to_string(wanted),
                    steps_in_common(a, b).empty()
                        ? "no training step is in both timelines"
                        : "the times of the two timelines differ too much"));
  std::vector<Side> sides;
  for (std::size_t s = 0; s < 2; ++s)
    sides.push_back(moved(*comparison.sources[s], alignment->delays[s], names[s]));
  for (std::size_t s = 0; s < 2; ++s) sides[s].label = label_of(names[s], names[1 - s]);
  auto differences =
      rows_of_differences(comparison.steps, sides, comparison.align, comparison.apart);
  comparison.rows = std::make_shared<const ComparisonRows>(std::move(*rows));
  auto parts =
      std::make_shared<const ComparisonParts>(comparison.sources, *alignment, comparison.rows,
                                              comparison.packs, names, comparison.differences);
  comparison.trace =
      std::make_shared<const Trace>(std::move(sides), comparison.rows->rows(), alignment->axis,
                                    std::move(differences), std::move(parts));
  comparison.alignment = std::move(*alignment);
  return comparison;
}

std::optional<SpanId> Comparison::find(std::size_t side, core::TrackId track, Time start) const {
  const auto row = sources[side]->row_of(track);
  if (!row) return std::nullopt;
  const SpanRow& spans = sources[side]->rows()[*row].spans;
  SpanRow::Index i = spans.first_from(start);
  if (i == spans.size() || spans.start(i) != start) i = spans.at(start);
  if (i == spans.size()) return std::nullopt;
  return rows->place(side, {*row, i});
}

std::optional<SpanId> Comparison::find_pack(std::int32_t step, std::int32_t pack) const {
  std::optional<SpanId> last;
  Time end;
  for (std::size_t r = 0; r < trace->rows().size(); ++r) {
    const Trace::Row& row = trace->rows()[r];
    if (row.side != 0 || row.track.kind != TrackKind::kPacks) continue;
    for (std::size_t s = 0; s < row.steps.size(); ++s) {
      if (row.steps[s].second != step) continue;
      const SpanRow::Index behind =
          s + 1 < row.steps.size() ? row.steps[s + 1].first : row.spans.size();
      for (SpanRow::Index i = row.steps[s].first; i < behind; ++i) {
        if (row.spans.pack(i) != pack || (last && row.spans.end(i) <= end)) continue;
        last = SpanId{r, i};
        end = row.spans.end(i);
      }
    }
  }
  return last;
}

std::optional<TimeRange> Comparison::find_step(std::int32_t step) const {
  std::optional<TimeRange> range;
  for (const Side& side : trace->sides()) {
    for (const core::StepRecord& record : side.steps) {
      if (record.step != step) continue;
      if (!range) range = TimeRange{record.start, record.end};
      if (align == Align::kStart) return range;
      range = TimeRange{std::min(range->from, record.start), std::max(range->to, record.end)};
    }
  }
  return range;
}

}  // namespace tutti::gui
