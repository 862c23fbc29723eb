// Puts the spans of two traces on one time axis, with the delays of alignment.h. Usually a row only
// shifts its spans, step by step, and shares all other data with the source trace. If packs have
// their own delays, packs of the second trace may overlap although they did not overlap in the
// file. The packs of the second trace are therefore assigned to slots again, in the order of their
// starts. A pack gets the slot of the matching pack in the first trace if this slot is free.
// Without a match, the pack keeps its previous slot if that slot is free. If the preferred slot is
// not free, the pack gets the first free slot. The pack's lanes move with the pack. The mapping
// between shown spans and source spans is stored as a list of runs. A run is a sequence of spans
// that are consecutive both in the shown row and in the source row. A lookup is a binary search
// among the runs of one row.

#include "gui/comparison/comparison_rows.h"

#include <algorithm>
#include <set>
#include <string>

namespace tutti::gui {

using core::Time;
using core::Track;
using core::TrackKind;

namespace {

using Device = std::pair<std::int32_t, std::string>;
using PackOfStep = std::pair<std::int32_t, std::int32_t>;

Device device_of(const Trace::Row& row) { return {row.track.worker, row.track.device}; }

/// Returns, for each pack in flight on a device, the slot whose row shows it, by training step and
/// pack. `packs` maps pack numbers to pack numbers of the first timeline.
std::map<PackOfStep, std::int32_t> slots_of_packs(const std::vector<const Trace::Row*>& rows,
                                                  const core::Numbers& packs) {
  std::map<PackOfStep, std::int32_t> slots;
  for (const Trace::Row* const row : rows) {
    if (row->track.kind != TrackKind::kPacks) continue;
    std::size_t stretch = 0;
    for (SpanRow::Index i = 0; i < row->spans.size(); ++i) {
      while (stretch + 1 < row->steps.size() && row->steps[stretch + 1].first <= i) ++stretch;
      const auto number = packs.find(row->spans.pack(i));
      if (number != packs.end())
        slots.try_emplace({row->steps[stretch].second, number->second}, row->track.slot);
    }
  }
  return slots;
}

}  // namespace

/// A sequence of spans of a row that belong to the same pack in the same training step, and are
/// moved together.
struct ComparisonRows::Moved {
  SpanId own;
  SpanRow::Index spans = 0;
  PackOfStep pack;
  Time by;
  Time from, to;  ///< the time range of the spans after they were moved
  std::int32_t slot = 0;
};

void ComparisonRows::add_row(Trace::Row row, std::vector<Run> runs) {
  const std::size_t here = rows_.size();
  row.timeline = names_[row.side];
  row.track.id = static_cast<core::TrackId>(here);
  for (Run& run : runs) {
    run.here.row = here;
    runs_of_own_[row.side][run.own.row].push_back(run);
  }
  rows_.push_back(std::move(row));
  runs_.push_back(std::move(runs));
}

bool ComparisonRows::add_as_they_are(const Trace& source, std::size_t side, std::size_t own,
                                     const Delays& delays) {
  Trace::Row row = source.rows()[own];
  row.side = side;
  SpanRow::Shifts shifts;
  for (const auto& [first, step] : row.steps) {
    const Time by = delays.of_step(step);
    if (shifts.empty() || shifts.back().second != by) shifts.emplace_back(first, by);
  }
  // A row whose spans do not move shares its times with the source row.
  if (shifts.size() > 1 || (shifts.size() == 1 && shifts.front().second != Time())) {
    auto moved = row.spans.moved(shifts);
    if (!moved) return false;
    row.spans = std::move(*moved);
  }
  const SpanRow::Index spans = row.spans.size();
  add_row(std::move(row), {{{own, 0}, {0, 0}, spans}});
  return true;
}

/// Adds the moved packs of a device, with their lanes. Overlapping packs get different slots. If
/// possible, a pack gets the slot that it has in the first timeline, so that matching packs are
/// adjacent.
bool ComparisonRows::add_by_pack(const Trace& first, const Trace& second, const Delays& delays,
                                 const core::Numbers& packs, const std::atomic<bool>& stop) {
  core::Numbers own_packs;
  for (std::size_t p = 0; p < second.run().packs.size(); ++p)
    own_packs[static_cast<std::int32_t>(p)] = static_cast<std::int32_t>(p);
  std::map<Device, std::vector<const Trace::Row*>> others;
  for (const Trace::Row& row : first.rows()) others[device_of(row)].push_back(&row);
  const auto& rows = second.rows();
  for (std::size_t r = 0; r < rows.size();) {
    std::size_t end = r;
    std::vector<const Trace::Row*> of_device;
    std::vector<Moved> moved;
    for (; end < rows.size() && device_of(rows[end]) == device_of(rows[r]); ++end) {
      if (stop) return false;
      of_device.push_back(&rows[end]);
      if (rows[end].track.kind == TrackKind::kCompute) {
        if (!add_as_they_are(second, 1, end, delays)) return false;
        continue;
      }
      const SpanRow& spans = rows[end].spans;
      std::size_t stretch = 0;
      for (SpanRow::Index i = 0; i < spans.size(); ++i) {
        while (stretch + 1 < rows[end].steps.size() && rows[end].steps[stretch + 1].first <= i)
          ++stretch;
        const PackOfStep pack{rows[end].steps[stretch].second, spans.pack(i)};
        if (moved.empty() || moved.back().own.row != end || moved.back().pack != pack) {
          const Time by = delays.of_pack(pack.first, pack.second);
          moved.push_back(
              {{end, i}, 0, pack, by, spans.start(i) + by, Time(), rows[end].track.slot});
        }
        moved.back().to = spans.end(i) + moved.back().by;
        ++moved.back().spans;
      }
    }
    // A pack occupies its slot from its first to its last span on this device.
    std::map<PackOfStep, TimeRange> whole;
    for (const Moved& m : moved) {
      TimeRange& range = whole.try_emplace(m.pack, TimeRange{m.from, m.to}).first->second;
      range = {std::min(range.from, m.from), std::max(range.to, m.to)};
    }
    std::map<PackOfStep, std::int32_t> wanted = slots_of_packs(others[device_of(rows[r])], packs);
    wanted.merge(slots_of_packs(of_device, own_packs));
    std::vector<std::pair<PackOfStep, TimeRange>> order(whole.begin(), whole.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.from < b.second.from; });
    std::vector<Time> free_from;
    std::map<PackOfStep, std::int32_t> slots;
    for (const auto& [pack, range] : order) {
      const auto is_free = [&, from = range.from](std::size_t slot) {
        return slot >= free_from.size() || free_from[slot] <= from;
      };
      const auto wanted_lines = wanted.find(pack);
      std::size_t slot =
          wanted_lines == wanted.end()
              ? 0
              : static_cast<std::size_t>(std::clamp(wanted_lines->second, 0, 1 << 10));
      if (!is_free(slot)) slot = 0;
      while (!is_free(slot)) ++slot;
      if (slot >= free_from.size()) free_from.resize(slot + 1);
      free_from[slot] = range.to;
      slots[pack] = static_cast<std::int32_t>(slot);
    }
    for (Moved& m : moved) m.slot = slots.at(m.pack);
    if (!add_moved(second, moved)) return false;
    r = end;
  }
  return true;
}

/// Adds rows for the spans that do not stay in their source row.
bool ComparisonRows::add_moved(const Trace& source, std::vector<Moved>& moved) {
  const auto place = [&](const Moved& m) {
    const Track& track = source.rows()[m.own.row].track;
    return std::tuple(track.kind, m.slot, track.lane);
  };
  std::stable_sort(moved.begin(), moved.end(), [&](const Moved& a, const Moved& b) {
    return std::pair(place(a), a.from) < std::pair(place(b), b.from);
  });
  for (std::size_t m = 0; m < moved.size();) {
    Trace::Row row{source.rows()[moved[m].own.row].track,
                   source.rows()[moved[m].own.row].group,
                   {},
                   {},
                   1,
                   {},
                   {}};
    row.track.slot = moved[m].slot;
    row.name = name_of_row(row.track);
    std::vector<Run> runs;
    const auto here = place(moved[m]);
    for (; m < moved.size() && place(moved[m]) == here; ++m) {
      const Moved& segment = moved[m];
      const SpanRow& spans = source.rows()[segment.own.row].spans;
      if (segment.from < Time() || segment.to > core::kHorizon) return false;
      runs.push_back({segment.own, {0, row.spans.size()}, segment.spans});
      if (row.steps.empty() || row.steps.back().second != segment.pack.first)
        row.steps.emplace_back(row.spans.size(), segment.pack.first);
      for (SpanRow::Index i = segment.own.index; i < segment.own.index + segment.spans; ++i) {
        core::Span span;
        span.start = spans.start(i) + segment.by;
        span.duration = spans.duration(i);
        span.kind = spans.kind(i);
        span.pack = spans.pack(i);
        row.spans.add(span);
      }
      moved_tracks_[{segment.own.row, segment.pack.first, segment.pack.second}] =
          static_cast<core::TrackId>(rows_.size());
    }
    row.spans.finish();
    add_row(std::move(row), std::move(runs));
  }
  return true;
}

std::optional<ComparisonRows> ComparisonRows::make(
    const std::array<std::shared_ptr<const Trace>, 2>& sources, const Alignment& alignment,
    const core::Numbers& packs, const std::array<std::string, 2>& names,
    const std::atomic<bool>& stop) {
  ComparisonRows made;
  made.names_ = names;
  for (std::size_t side = 0; side < 2; ++side)
    made.runs_of_own_[side].resize(sources[side]->rows().size());
  for (std::size_t r = 0; r < sources[0]->rows().size(); ++r) {
    if (stop || !made.add_as_they_are(*sources[0], 0, r, alignment.delays[0])) return std::nullopt;
  }
  if (!alignment.delays[1].packs.empty()) {
    if (!made.add_by_pack(*sources[0], *sources[1], alignment.delays[1], packs, stop))
      return std::nullopt;
  } else {
    for (std::size_t r = 0; r < sources[1]->rows().size(); ++r) {
      if (stop || !made.add_as_they_are(*sources[1], 1, r, alignment.delays[1]))
        return std::nullopt;
    }
  }
  for (auto& side : made.runs_of_own_) {
    for (auto& runs : side)
      std::sort(runs.begin(), runs.end(),
                [](const Run& a, const Run& b) { return a.own.index < b.own.index; });
  }
  return made;
}

SpanId ComparisonRows::origin(SpanId span) const {
  const auto& runs = runs_[span.row];
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), span.index,
                       [](SpanRow::Index i, const Run& run) { return i < run.here.index; });
  const Run& run = *std::prev(after);
  return {run.own.row, run.own.index + (span.index - run.here.index)};
}

SpanId ComparisonRows::place(std::size_t side, SpanId own) const {
  const auto& runs = runs_of_own_[side][own.row];
  const auto after =
      std::upper_bound(runs.begin(), runs.end(), own.index,
                       [](SpanRow::Index i, const Run& run) { return i < run.own.index; });
  const Run& run = *std::prev(after);
  return {run.here.row, run.here.index + (own.index - run.own.index)};
}

core::TrackId ComparisonRows::track(std::size_t side, std::size_t own_row, std::int32_t step,
                                    std::int32_t pack) const {
  if (side == 1) {
    const auto moved = moved_tracks_.find({own_row, step, pack});
    if (moved != moved_tracks_.end()) return moved->second;
  }
  const auto& runs = runs_of_own_[side][own_row];
  return runs.empty() ? core::kNoTrack : static_cast<core::TrackId>(runs.front().here.row);
}

}  // namespace tutti::gui
