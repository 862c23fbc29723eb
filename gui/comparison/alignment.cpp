#include "gui/comparison/alignment.h"

#include <algorithm>
#include <set>

namespace tutti::gui {

using core::Time;

namespace {

/// Timelines with times beyond this limit are not aligned, so that sums of times from a corrupt
/// file cannot overflow.
constexpr Time kMaxTime(core::kHorizon.count() / 8);

/// For each training step of a timeline, its time range. If the file has no record of a step, the
/// range is from the step's first to its last span.
using StepTimes = std::map<std::int32_t, TimeRange>;

using Stop = std::atomic<bool>;

/// Calls `take` with the spans of one training step at a time, row by row. Returns early if `stop`
/// is set.
template <class Take>
void for_each_stretch(const Trace& trace, const Stop& stop, Take take) {
  for (const Trace::Row& row : trace.rows()) {
    for (std::size_t s = 0; s < row.steps.size(); ++s) {
      if (stop) return;
      const SpanRow::Index end =
          s + 1 < row.steps.size() ? row.steps[s + 1].first : row.spans.size();
      take(row, row.steps[s].second, row.steps[s].first, end);
    }
  }
}

StepTimes times_of_steps(const Trace& trace, const Stop& stop) {
  StepTimes times;
  for (const core::StepRecord& step : trace.steps())
    times.try_emplace(step.step, TimeRange{step.start, std::max(step.start, step.end)});
  StepTimes others;  // steps that have not ended
  for_each_stretch(
      trace, stop,
      [&](const Trace::Row& row, std::int32_t step, SpanRow::Index first, SpanRow::Index end) {
        if (times.contains(step)) return;
        const TimeRange range{row.spans.start(first), row.spans.end(end - 1)};
        TimeRange& whole = others.try_emplace(step, range).first->second;
        whole = {std::min(whole.from, range.from), std::max(whole.to, range.to)};
      });
  times.merge(others);
  return times;
}

using PackOfStep = std::pair<std::int32_t, std::int32_t>;
using PackBegins = std::map<PackOfStep, Time>;

/// Returns, for each pack, the time from which it is in flight on all devices. If the file has no
/// record of the pack, this is the latest start of the pack's spans.
PackBegins begins_of_packs(const Trace& trace, const Stop& stop) {
  PackBegins begins;
  for (const core::PackRecord& pack : trace.packs())
    begins.try_emplace({pack.step, pack.pack}, pack.last_start);
  PackBegins others;
  for_each_stretch(
      trace, stop,
      [&](const Trace::Row& row, std::int32_t step, SpanRow::Index first, SpanRow::Index end) {
        if (row.track.kind != core::TrackKind::kPacks) return;
        for (SpanRow::Index i = first; i < end; ++i) {
          const PackOfStep pack{step, row.spans.pack(i)};
          if (begins.contains(pack)) continue;
          Time& last = others.try_emplace(pack, row.spans.start(i)).first->second;
          last = std::max(last, row.spans.start(i));
        }
      });
  begins.merge(others);
  return begins;
}

/// Returns, for each step, the time from the beginning of the step to the latest end of a pack's
/// span. The spans of packs are taken at the positions to which the alignment moves them.
StepTimes reach_of_packs(const Trace& trace, const StepTimes& steps, const PackBegins& moves,
                         const Stop& stop) {
  StepTimes reach;
  for_each_stretch(
      trace, stop,
      [&](const Trace::Row& row, std::int32_t step, SpanRow::Index first, SpanRow::Index end) {
        if (row.track.kind == core::TrackKind::kCompute || !steps.contains(step)) return;
        TimeRange& whole = reach[step];
        for (SpanRow::Index i = first; i < end; ++i) {
          const auto move = moves.find({step, row.spans.pack(i)});
          if (move == moves.end()) continue;
          const Time by = move->second - steps.at(step).from;
          whole = {std::min(whole.from, row.spans.start(i) + by),
                   std::max(whole.to, row.spans.end(i) + by)};
        }
      });
  return reach;
}

/// Returns the delay of each pack of the second timeline relative to its step. With this delay, a
/// pack begins as long after the beginning of its step as in the first timeline.
PackBegins moves_of_packs(const Trace& first, const Trace& second,
                          const std::array<StepTimes, 2>& times, const core::Numbers& packs,
                          const Stop& stop) {
  PackBegins moves;
  const PackBegins begins = begins_of_packs(first, stop), own = begins_of_packs(second, stop);
  for (const auto& [key, begin] : begins) {
    const auto number = packs.find(key.second);
    if (number == packs.end()) continue;
    const auto other = own.find({key.first, number->second});
    const auto step = times[0].find(key.first), other_step = times[1].find(key.first);
    if (other == own.end() || step == times[0].end() || other_step == times[1].end()) continue;
    if (std::max(begin, other->second) > kMaxTime) continue;
    moves[other->first] = (begin - step->second.from) - (other->second - other_step->second.from);
  }
  return moves;
}

/// Returns, for each training step, the time of the shared axis at which the step begins. A step
/// begins after the end of all earlier steps, which `reach` specifies. The distance from one step
/// to the next is at least as long as in each timeline's file. Returns nullopt if a time is not
/// representable.
std::optional<std::map<std::int32_t, Time>> begins_on_axis(const std::array<StepTimes, 2>& times,
                                                           const StepTimes& reach) {
  std::set<std::int32_t> steps;
  for (const StepTimes& side : times) {
    for (const auto& [step, range] : side) steps.insert(step);
  }
  const auto reach_of = [&](std::int32_t step) {
    const auto there = reach.find(step);
    return there == reach.end() ? TimeRange{} : there->second;
  };
  std::map<std::int32_t, Time> begins;
  std::array<std::optional<std::pair<Time, Time>>, 2>
      last;        // per side: the begin of its last step, on the axis and in its own time
  Time free_from;  // the time from which the previous step no longer occupies the axis
  for (const std::int32_t step : steps) {
    Time begin = free_from;
    for (std::size_t s = 0; s < 2; ++s) {
      const auto own = times[s].find(step);
      if (own == times[s].end() || !last[s]) continue;
      begin = std::max(begin, last[s]->first + (own->second.from - last[s]->second));
    }
    begin -= reach_of(step).from;
    free_from = begin + reach_of(step).to;
    for (std::size_t s = 0; s < 2; ++s) {
      const auto own = times[s].find(step);
      if (own == times[s].end()) continue;
      last[s] = {begin, own->second.from};
      free_from = std::max(free_from, begin + own->second.length());
    }
    if (begin < Time() || begin > core::kHorizon || free_from < Time() ||
        free_from > core::kHorizon)
      return std::nullopt;
    begins[step] = begin;
  }
  return begins;
}

bool is_valid(const std::array<StepTimes, 2>& times) {
  return std::all_of(times.begin(), times.end(), [&](const StepTimes& side) {
    return std::all_of(side.begin(), side.end(),
                       [&](const auto& step) { return step.second.to <= kMaxTime; });
  });
}

/// Returns how long before time 0 of the axis a device would begin, because some devices begin a
/// training step before the step's recorded beginning.
Time lead_of(const std::array<const Trace*, 2>& traces, const std::array<StepTimes, 2>& times,
             const std::map<std::int32_t, Time>& begins, const Stop& stop) {
  Time lead;
  for (std::size_t s = 0; s < 2; ++s) {
    for_each_stretch(
        *traces[s], stop,
        [&](const Trace::Row& row, std::int32_t step, SpanRow::Index first, SpanRow::Index) {
          lead = std::max(lead, times[s].at(step).from - begins.at(step) - row.spans.start(first));
        });
  }
  return lead;
}

}  // namespace

std::optional<Align> parse_align(const std::string& word) {
  for (const Align align : {Align::kStart, Align::kStep, Align::kPack}) {
    if (word == to_string(align)) return align;
  }
  return std::nullopt;
}

std::string to_string(Align align) {
  return align == Align::kStart ? "start" : align == Align::kStep ? "step" : "pack";
}

Time Delays::of_step(std::int32_t step) const {
  const auto there = steps.find(step);
  return there == steps.end() ? Time() : there->second;
}

Time Delays::of_pack(std::int32_t step, std::int32_t pack) const {
  const auto there = packs.find({step, pack});
  return of_step(step) + (there == packs.end() ? Time() : there->second);
}

Time Delays::at(Time own) const {
  const auto after = by_time.upper_bound(own);
  return after == by_time.begin() ? (by_time.empty() ? Time() : after->second)
                                  : std::prev(after)->second;
}

Time Delays::own(Time shown) const {
  Time next = core::kNever;
  for (auto piece = by_time.rbegin(); piece != by_time.rend(); ++piece) {
    if (piece->first + piece->second <= shown || std::next(piece) == by_time.rend())
      return std::clamp(shown - piece->second, Time(), next);
    next = piece->first;
  }
  return shown;
}

core::Numbers steps_in_common(const Trace& first, const Trace& second) {
  const StepTimes a = times_of_steps(first, kNeverStop), b = times_of_steps(second, kNeverStop);
  core::Numbers steps;
  for (const auto& [step, range] : a) {
    if (b.contains(step)) steps[step] = step;
  }
  return steps;
}

std::optional<Alignment> align(const Trace& first, const Trace& second, Align align,
                               const core::Numbers& packs, const Stop& stop) {
  Alignment alignment;
  if (align == Align::kStart) return alignment;
  const std::array<StepTimes, 2> times{times_of_steps(first, stop), times_of_steps(second, stop)};
  if (stop || steps_in_common(first, second).empty() || !is_valid(times)) return std::nullopt;
  PackBegins moves;
  StepTimes reach;
  if (align == Align::kPack) {
    if (first.length() > kMaxTime || second.length() > kMaxTime) return std::nullopt;
    moves = moves_of_packs(first, second, times, packs, stop);
    reach = reach_of_packs(second, times[1], moves, stop);
  }
  const auto begins = begins_on_axis(times, reach);
  if (stop || !begins) return std::nullopt;
  const Time lead = lead_of({&first, &second}, times, *begins, stop);
  for (std::size_t s = 0; s < 2; ++s) {
    for (const auto& [step, range] : times[s]) {
      const Time by = begins->at(step) - range.from + lead;
      alignment.delays[s].steps[step] = by;
      alignment.delays[s].by_time[range.from] = by;
    }
  }
  alignment.delays[1].packs = std::move(moves);
  for (auto step = begins->begin(); step != begins->end(); ++step) {
    const auto next = std::next(step);
    alignment.axis.push_back(
        {{step->second + lead, next == begins->end() ? core::kHorizon : next->second + lead},
         "step " + std::to_string(step->first)});
  }
  return alignment;
}

}  // namespace tutti::gui
