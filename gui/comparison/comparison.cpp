// Combines two traces into one trace, which the timeline view shows like any other trace. Only the
// times of spans are copied. A row of the combined trace refers to spans of a source trace, and
// Parts maps combined spans to source spans, and vice versa. First, the alignment gives every step
// or pack of a side a delay. Second, the rows are made, and the records of steps, packs, links and
// the critical path are moved by these delays. If the times cannot be aligned as requested, they
// are aligned by start, which always works.
//
// The match of a span is searched only when it is needed, among the spans of the same pack in the
// same training step. Spans match by lane and schedule step, by layer, or by order if a training
// step repeats its computation. Delays are computed in alignment.cpp, rows in comparison_rows.cpp,
// and texts in comparison_words.cpp.

#include "gui/comparison/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/step_parts.h"
#include "core/timeline/summary.h"
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

using Sources = std::array<std::shared_ptr<const Trace>, 2>;

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

std::vector<core::StepComparison> compare_steps(const Sources& sources,
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

/// Gives the combined trace access to the two source traces.
class Parts : public TraceParts {
 public:
  Parts(Sources sources, Alignment alignment, std::shared_ptr<const ComparisonRows> rows,
        core::Numbers packs, std::array<std::string, 2> names, std::vector<std::string> differences)
      : sources_(std::move(sources)),
        alignment_(std::move(alignment)),
        rows_(std::move(rows)),
        packs_(std::move(packs)),
        names_(std::move(names)),
        differences_(std::move(differences)) {}

  [[nodiscard]] Expected<std::vector<Span>> spans(std::size_t row, SpanRow::Index first,
                                                  SpanRow::Index end) const override;
  [[nodiscard]] std::pair<const Trace*, SpanId> origin(SpanId span) const override {
    return {sources_[rows_->rows()[span.row].side].get(), rows_->origin(span)};
  }
  [[nodiscard]] SpanId place(std::size_t side, SpanId own) const override {
    return rows_->place(side, own);
  }
  [[nodiscard]] std::vector<SpanId> partners(SpanId span) const override;
  [[nodiscard]] Facts facts(SpanId span) const override;
  [[nodiscard]] Facts facts() const override;
  [[nodiscard]] const std::shared_ptr<const Trace>& source(std::size_t side) const override {
    return sources_[side];
  }
  [[nodiscard]] Time own(std::size_t side, Time shown) const override {
    return alignment_.delays[side].own(shown);
  }

 private:
  [[nodiscard]] std::vector<SpanId> of_pack(std::size_t side, const core::Track& like,
                                            std::int32_t step, std::int32_t pack,
                                            bool any_lane) const;
  [[nodiscard]] std::vector<SpanId> with_index(std::size_t side, const std::vector<SpanId>& own,
                                               std::optional<std::int64_t> index, int kind) const;
  [[nodiscard]] std::size_t lanes_in(const std::vector<SpanId>& own, std::size_t side) const;
  [[nodiscard]] std::optional<std::int64_t> index_of_layer(std::size_t from,
                                                           std::int64_t index) const;

  Sources sources_;
  Alignment alignment_;
  std::shared_ptr<const ComparisonRows> rows_;
  core::Numbers packs_;
  std::array<std::string, 2> names_;
  std::vector<std::string> differences_;
};

/// Returns spans with their displayed times. The track number of each span is set to the number of
/// its row.
Expected<std::vector<Span>> Parts::spans(std::size_t row, SpanRow::Index first,
                                         SpanRow::Index end) const {
  const Trace::Row& here = rows_->rows()[row];
  const Trace& source = *sources_[here.side];
  std::vector<Span> all;
  while (first < end) {
    // Read several spans in one call if they are also consecutive in their file.
    const SpanId own = rows_->origin({row, first});
    SpanRow::Index count = 1;
    while (first + count < end &&
           rows_->origin({row, first + count}) == SpanId{own.row, own.index + count})
      ++count;
    auto read = source.spans(own.row, own.index, own.index + count);
    if (!read) return tl::make_unexpected(read.error());
    for (SpanRow::Index i = 0; i < count; ++i) {
      Span span = (*read)[i];
      span.start = here.spans.start(first + i);
      const auto peer = source.row_of(span.peer);
      if (span.peer != core::kNoTrack)
        span.peer = peer ? rows_->track(here.side, *peer, span.step, span.pack) : core::kNoTrack;
      all.push_back(span);
    }
    first += count;
  }
  return all;
}

/// Returns the spans of a pack in a training step that are on the track of a side's source trace
/// that corresponds to `like`. The result refers to the source trace. If `any_lane` is true,
/// returns the spans of all lanes of the device.
std::vector<SpanId> Parts::of_pack(std::size_t side, const core::Track& like, std::int32_t step,
                                   std::int32_t pack, bool any_lane) const {
  std::vector<SpanId> found;
  const auto& rows = sources_[side]->rows();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const core::Track& track = rows[r].track;
    if (track.worker != like.worker || track.device != like.device || track.kind != like.kind ||
        (track.lane != like.lane && !any_lane))
      continue;
    for (std::size_t s = 0; s < rows[r].steps.size(); ++s) {
      if (rows[r].steps[s].second != step) continue;
      const SpanRow::Index end =
          s + 1 < rows[r].steps.size() ? rows[r].steps[s + 1].first : rows[r].spans.size();
      for (SpanRow::Index i = rows[r].steps[s].first; i < end; ++i) {
        if (rows[r].spans.pack(i) == pack) found.push_back({r, i});
      }
    }
  }
  return found;
}

/// Selects from the spans `own` the spans of this kind and, if `index` is set, with this index.
std::vector<SpanId> Parts::with_index(std::size_t side, const std::vector<SpanId>& own,
                                      std::optional<std::int64_t> index, int kind) const {
  std::vector<SpanId> found;
  for (std::size_t first = 0; first < own.size();) {
    std::size_t end = first + 1;
    while (end < own.size() && own[end].row == own[first].row &&
           own[end].index == own[end - 1].index + 1)
      ++end;
    const auto spans =
        sources_[side]->spans(own[first].row, own[first].index, own[end - 1].index + 1);
    if (!spans) return {};
    for (std::size_t i = 0; i < spans->size(); ++i) {
      if ((*spans)[i].index == index.value_or((*spans)[i].index) && (*spans)[i].kind == kind)
        found.push_back(own[first + i]);
    }
    first = end;
  }
  return found;
}

std::size_t Parts::lanes_in(const std::vector<SpanId>& own, std::size_t side) const {
  std::set<std::int32_t> lanes;
  for (const SpanId& span : own) lanes.insert(sources_[side]->rows()[span.row].track.lane);
  return lanes.size();
}

std::optional<std::int64_t> Parts::index_of_layer(std::size_t from, std::int64_t index) const {
  const auto& own = sources_[from]->run().layers;
  const auto& others = sources_[1 - from]->run().layers;
  if (own == others) return index;
  if (index < 0 || static_cast<std::size_t>(index) >= own.size()) return std::nullopt;
  const auto there = std::find(others.begin(), others.end(), own[index]);
  if (there == others.end()) return std::nullopt;
  return there - others.begin();
}

/// Returns the spans of the other side that match a span. Spans match if they have equal keys, as
/// in core::join_lane_steps() and core::join_other_spans().
std::vector<SpanId> Parts::partners(SpanId span) const {
  const std::size_t side = rows_->rows()[span.row].side, other = 1 - side;
  const SpanId own = rows_->origin(span);
  const Trace::Row& row = sources_[side]->rows()[own.row];
  const auto whole = sources_[side]->span(own.row, own.index);
  if (!whole) return {};
  std::int32_t pack = -1;
  if (whole->pack >= 0) {
    const auto number = std::find_if(packs_.begin(), packs_.end(), [&](const auto& both) {
      return (side == 0 ? both.first : both.second) == whole->pack;
    });
    if (number == packs_.end()) return {};
    pack = side == 0 ? number->second : number->first;
  }
  std::vector<SpanId> there = of_pack(other, row.track, whole->step, pack, false);
  if (row.track.kind == TrackKind::kCompute) {
    const bool has_layer =
        whole->kind ==
        SpanKind::kFirstCompute + static_cast<std::int32_t>(core::ComputeKind::kBackward);
    const auto index = has_layer ? index_of_layer(side, whole->index) : std::nullopt;
    there =
        has_layer && !index ? std::vector<SpanId>() : with_index(other, there, index, whole->kind);
    // If a step repeats a computation for each micro-batch, the n-th repetition matches the n-th
    // repetition of the other side.
    const std::vector<SpanId> mine =
        with_index(side, of_pack(side, row.track, whole->step, whole->pack, false),
                   has_layer ? std::optional(whole->index) : std::nullopt, whole->kind);
    const auto pass = static_cast<std::size_t>(
        std::find_if(mine.begin(), mine.end(),
                     [&](const SpanId& s) { return s.row == own.row && s.index == own.index; }) -
        mine.begin());
    there = pass < there.size() ? std::vector{there[pass]} : std::vector<SpanId>();
  } else if (row.track.kind == TrackKind::kLane) {
    const auto is_channel = [&](const SpanId& s) {
      return sources_[other]->rows()[s.row].spans.kind(s.index) == SpanKind::kChannel;
    };
    const std::vector<SpanId> all = of_pack(other, row.track, whole->step, pack, true);
    if (whole->kind == SpanKind::kChannel || std::any_of(all.begin(), all.end(), is_channel)) {
      const std::vector<SpanId> mine = of_pack(side, row.track, whole->step, whole->pack, true);
      if (lanes_in(mine, side) != lanes_in(all, other)) there = all;
    } else {
      there = with_index(other, there, whole->index, whole->kind);
      if (there.size() > 1) there.resize(1);  // a corrupt file may have several matching spans
    }
  }
  for (SpanId& s : there) s = rows_->place(other, s);
  return there;
}

Facts Parts::facts(SpanId span) const {
  const std::size_t side = rows_->rows()[span.row].side, other = 1 - side;
  Facts facts{{"timeline", names_[side]}};
  const std::vector<SpanId> there = partners(span);
  if (there.empty()) {
    facts.emplace_back("in " + names_[other], "this span does not exist");
    return facts;
  }
  const SpanId own = rows_->origin(span);
  const auto mine = sources_[side]->span(own.row, own.index);
  if (!mine) return facts;
  if (there.size() > 1) {
    facts.emplace_back("in " + names_[other],
                       fmt::format("{} spans of this pack on this device; the numbers of lanes "
                                   "differ, so only whole packs can be compared",
                                   there.size()));
    return facts;
  }
  const SpanId its = rows_->origin(there.front());
  const auto theirs = sources_[other]->span(its.row, its.index);
  if (!theirs) return facts;
  std::array<Pair, 2> times{Pair{mine->duration, theirs->duration},
                            Pair{core::work_of(*mine), core::work_of(*theirs)}};
  const bool waits = times[0].a != times[1].a || times[0].b != times[1].b;
  for (std::size_t t = 0; t < (waits ? 2 : 1); ++t) {
    if (side == 1) std::swap(times[t].a, times[t].b);
    const std::string what = t == 0 ? "" : ", without waiting";
    facts.emplace_back(names_[0] + what, core::show(times[t].a));
    facts.emplace_back(names_[1] + what, core::show(times[t].b));
    facts.emplace_back("difference" + what, signed_difference(times[t]));
  }
  return facts;
}

Facts Parts::facts() const {
  Facts facts;
  std::array<core::Summary, 2> summaries;
  for (std::size_t s = 0; s < 2; ++s) {
    const core::RunInfo& run = sources_[s]->run();
    summaries[s] = summary_of(*sources_[s]);
    facts.emplace_back(names_[s], fmt::format("{}: {}; {}; {}; {}", run.scenario, run.executor,
                                              run.cluster, run.workload, run.strategy));
  }
  const auto add = [&](const std::string& name, const Pair& time) {
    facts.emplace_back(name, fmt::format("{} → {}   {}", core::show(time.a), core::show(time.b),
                                         signed_difference(time)));
  };
  if (const auto compared = core::compare_runs(summaries[0], summaries[1])) {
    const core::PartsComparison& steady = compared->steady;
    add("step time", steady.time);
    for (const auto& part : core::parts_that_add_up(steady)) add(part.title, part.value);
    facts.emplace_back("these are of",
                       compared->basis_a == compared->basis_b
                           ? compared->basis_a
                           : fmt::format("{}: {}; {}: {}", names_[0], compared->basis_a, names_[1],
                                         compared->basis_b));
    for (const std::string& sentence : compared->in_words())
      facts.emplace_back("in words", sentence);
  } else {
    facts.emplace_back("step time", "not known: " + compared.error().message());
  }
  for (const std::string& difference : differences_) facts.emplace_back("not alike", difference);
  return facts;
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
  auto differences =
      rows_of_differences(comparison.steps, sides, comparison.align, comparison.apart);
  comparison.rows = std::make_shared<const ComparisonRows>(std::move(*rows));
  auto parts = std::make_shared<const Parts>(comparison.sources, *alignment, comparison.rows,
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
