// Maps spans of a comparison to spans of the two source traces, and describes them. The match of a
// span is searched only when it is needed, among the spans of the same pack in the same training
// step. Spans match by lane and schedule step, by layer, or by order if a training step repeats its
// computation.

#include "gui/comparison/comparison_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/step_parts.h"
#include "core/timeline/summary.h"
#include "gui/comparison/comparison.h"
#include "gui/trace/describe.h"

namespace tutti::gui {

using core::Expected;
using core::Pair;
using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;

/// Returns spans with their displayed times. The track number of each span is set to the number of
/// its row.
Expected<std::vector<Span>> ComparisonParts::spans(std::size_t row, SpanRow::Index first,
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
std::vector<SpanId> ComparisonParts::of_pack(std::size_t side, const core::Track& like,
                                             std::int32_t step, std::int32_t pack,
                                             bool any_lane) const {
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
std::vector<SpanId> ComparisonParts::with_index(std::size_t side, const std::vector<SpanId>& own,
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

std::size_t ComparisonParts::lanes_in(const std::vector<SpanId>& own, std::size_t side) const {
  std::set<std::int32_t> lanes;
  for (const SpanId& span : own) lanes.insert(sources_[side]->rows()[span.row].track.lane);
  return lanes.size();
}

std::optional<std::int64_t> ComparisonParts::index_of_layer(std::size_t from,
                                                            std::int64_t index) const {
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
std::vector<SpanId> ComparisonParts::partners(SpanId span) const {
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

Facts ComparisonParts::facts(SpanId span) const {
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
    facts.emplace_back(
        "in " + names_[other],
        fmt::format("{} spans of this pack on this device; the two timelines have different "
                    "numbers of lanes on this device, so only whole packs can be compared",
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

Facts ComparisonParts::facts() const {
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
    facts.emplace_back("basis of these times",
                       compared->basis_a == compared->basis_b
                           ? compared->basis_a
                           : fmt::format("{}: {}; {}: {}", names_[0], compared->basis_a, names_[1],
                                         compared->basis_b));
    for (const std::string& sentence : compared->in_words())
      facts.emplace_back("in words", sentence);
  } else {
    facts.emplace_back("step time", "not known: " + compared.error().message());
  }
  for (const std::string& difference : differences_)
    facts.emplace_back("other difference", difference);
  return facts;
}

}  // namespace tutti::gui
