#include "core/timeline/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/summary.h"

namespace tutti::core {
namespace {

Time magnitude(Time t) { return t < Time() ? Time() - t : t; }

/// "12.3 ms (4.5 %) more".
std::string more(const Pair& pair) {
  const Time by = pair.difference();
  const std::string share = pair.a > Time()
                                ? fmt::format(" ({:.1f} %)", 100 * std::abs(static_cast<double>(by.count())) /
                                                                 static_cast<double>(pair.a.count()))
                                : "";
  return fmt::format("{}{} {}", show(magnitude(by)), share, by < Time() ? "less" : "more");
}

Expected<Summary> summary_of(const TimelineReader& timeline, const char* which) {
  Summary summary;
  if (auto done = timeline.replay(summary); !done) return tl::make_unexpected(done.error());
  if (summary.steps().empty())
    return tl::make_unexpected(Error::request(fmt::format("no step ended in the {} timeline", which)));
  return summary;
}

/// A lane step of the last training step, whatever its run calls tracks and training steps.
using StepKey = std::tuple<std::int32_t, std::string, std::int32_t, std::int32_t, std::int64_t>;

using Steps = std::map<StepKey, Span>;

Expected<Steps> lane_steps(const TimelineReader& timeline, std::int32_t last_step) {
  std::map<TrackId, const Track*> tracks;
  for (const Track& track : timeline.tracks()) tracks[track.id] = &track;
  Steps steps;
  for (const TimelineReader::SpanBlock& block : timeline.span_blocks()) {
    const auto track = tracks.find(block.track);
    if (track == tracks.end() || track->second->kind != TrackKind::kLane) continue;
    const Expected<std::vector<Span>> spans = timeline.read(block);
    if (!spans) return tl::make_unexpected(spans.error());
    for (const Span& span : *spans) {
      if (span.step != last_step) continue;
      steps[{track->second->worker, track->second->device, span.pack, track->second->lane, span.index}] = span;
    }
  }
  return steps;
}

/// The second's steps under the numbers that the first has for their packs; those of packs that it has not are counted.
Steps by_packs_of_first(const Steps& steps, Comparison& comparison) {
  std::map<std::int32_t, std::int32_t> numbers;
  for (const PackComparison& pack : comparison.packs) numbers[pack.pack_b] = pack.pack;
  Steps renamed;
  for (const auto& [key, span] : steps) {
    const auto& [worker, device, pack, lane, index] = key;
    const auto number = numbers.find(pack);
    if (number == numbers.end()) {
      ++comparison.steps_only_b;
    } else {
      renamed[{worker, device, number->second, lane, index}] = span;
    }
  }
  return renamed;
}

bool has_channels(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const auto& step) { return step.second.kind == SpanKind::kChannel; });
}

/// `whole` from the first moment of both to the last.
void extend(Span& whole, const Span& span) {
  const Time begin = std::min(whole.start + whole.wait, span.start + span.wait);
  const Time end = std::max(whole.start + whole.duration, span.start + span.duration);
  whole.start = begin;
  whole.duration = end - begin;
  whole.wait = Time();
  whole.kind = SpanKind::kChannel;
}

/// What each lane did of each pack, from its first moment to its last.
Steps as_channels(const Steps& steps) {
  Steps channels;
  for (const auto& [key, span] : steps) {
    const auto& [worker, device, pack, lane, index] = key;
    extend(channels.try_emplace({worker, device, pack, lane, 0}, span).first->second, span);
  }
  return channels;
}

/// A pack on a device, and the channels that it has there.
using Place = std::tuple<std::int32_t, std::string, std::int32_t>;

Place place_of(const StepKey& key) { return {std::get<0>(key), std::get<1>(key), std::get<2>(key)}; }

std::map<Place, std::int64_t> channels_by_place(const Steps& channels) {
  std::map<Place, std::int64_t> counts;
  for (const auto& [key, span] : channels) ++counts[place_of(key)];
  return counts;
}

/// Takes the channels of these places out, and answers each place's as one.
Steps take_together(Steps& channels, const std::set<Place>& places) {
  Steps together;
  for (auto entry = channels.begin(); entry != channels.end();) {
    const auto& [key, span] = *entry;
    const Place place = place_of(key);
    if (!places.contains(place)) {
      ++entry;
      continue;
    }
    const auto& [worker, device, pack] = place;
    extend(together.try_emplace({worker, device, pack, 0, 0}, span).first->second, span);
    entry = channels.erase(entry);
  }
  return together;
}

void compare_packs(const Summary& a, const Summary& b, Comparison& comparison) {
  std::map<std::vector<std::string>, PackRecord> by_gradients;
  for (const PackRecord& pack : b.last_packs())
    by_gradients[b.info().packs[static_cast<std::size_t>(pack.pack)].gradients] = pack;
  const Time start_a = a.steps().back().start;
  const Time start_b = b.steps().back().start;
  for (const PackRecord& pack : a.last_packs()) {
    const RunInfo::PackInfo& info = a.info().packs[static_cast<std::size_t>(pack.pack)];
    const auto other = by_gradients.find(info.gradients);
    if (other == by_gradients.end()) {
      ++comparison.packs_only_a;
      continue;
    }
    const PackRecord& match = other->second;
    comparison.packs.push_back({pack.pack,
                                match.pack,
                                info.bytes,
                                info.gradients.empty() ? "" : info.gradients.back(),
                                {pack.ready - start_a, match.ready - start_b},
                                {pack.last_start - start_a, match.last_start - start_b},
                                {pack.end - start_a, match.end - start_b},
                                {pack.end - pack.last_start, match.end - match.last_start}});
    by_gradients.erase(other);
  }
  comparison.packs_only_b = static_cast<std::int64_t>(by_gradients.size());
}

/// Joins the steps of the two by their keys, adds them up by kind, and counts those that only one has.
void join_steps(const Steps& a, const Steps& b, bool together, Comparison& comparison) {
  std::map<std::int32_t, KindComparison> kinds;
  std::int64_t joined = 0;
  for (const auto& [key, span] : a) {
    const auto other = b.find(key);
    if (other == b.end() || other->second.kind != span.kind) continue;
    KindComparison& kind = kinds[span.kind];
    kind.kind = span.kind;
    kind.together = together;
    ++kind.steps;
    // Without the wait: that belongs to whoever was late.
    const Time took_a = span.duration - span.wait;
    const Time took_b = other->second.duration - other->second.wait;
    kind.time.a += took_a;
    kind.time.b += took_b;
    kind.mean_error += magnitude(took_b - took_a);
    ++joined;
  }
  for (auto& [number, kind] : kinds) {
    kind.mean_error = Time(kind.mean_error.count() / kind.steps);
    comparison.kinds.push_back(kind);
  }
  comparison.steps_joined += joined;
  comparison.steps_only_a += static_cast<std::int64_t>(a.size()) - joined;
  comparison.steps_only_b += static_cast<std::int64_t>(b.size()) - joined;
}

/// NCCL numbers its channels as it likes. Where there are as many, one stands for the other; else none does.
void compare_channels(Steps a, Steps b, Comparison& comparison) {
  const std::map<Place, std::int64_t> counts_a = channels_by_place(a);
  const std::map<Place, std::int64_t> counts_b = channels_by_place(b);
  std::set<Place> differ;
  for (const auto& [place, count] : counts_a) {
    const auto other = counts_b.find(place);
    if (other == counts_b.end() || other->second == count) continue;
    differ.insert(place);
    comparison.most_channels_a = std::max(comparison.most_channels_a, count);
    comparison.most_channels_b = std::max(comparison.most_channels_b, other->second);
  }
  comparison.together = static_cast<std::int64_t>(differ.size());
  const Steps together_a = take_together(a, differ);
  const Steps together_b = take_together(b, differ);
  join_steps(a, b, false, comparison);
  join_steps(together_a, together_b, true, comparison);
}

Expected<void> compare_steps(const TimelineReader& a, const TimelineReader& b, const Summary& summary_a,
                             const Summary& summary_b, Comparison& comparison) {
  const auto steps_a = lane_steps(a, summary_a.steps().back().step);
  if (!steps_a) return tl::make_unexpected(steps_a.error());
  const auto all_b = lane_steps(b, summary_b.steps().back().step);
  if (!all_b) return tl::make_unexpected(all_b.error());
  const Steps steps_b = by_packs_of_first(*all_b, comparison);
  if (has_channels(*steps_a) || has_channels(steps_b)) {
    compare_channels(as_channels(*steps_a), as_channels(steps_b), comparison);
  } else {
    join_steps(*steps_a, steps_b, false, comparison);
  }
  return {};
}

}  // namespace

Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b) {
  const auto summary_a = summary_of(a, "first");
  if (!summary_a) return tl::make_unexpected(summary_a.error());
  const auto summary_b = summary_of(b, "second");
  if (!summary_b) return tl::make_unexpected(summary_b.error());
  Comparison comparison;
  comparison.a = summary_a->info();
  comparison.b = summary_b->info();
  const StepRecord& last_a = summary_a->steps().back();
  const StepRecord& last_b = summary_b->steps().back();
  comparison.step_time = {summary_a->step_time(), summary_b->step_time()};
  comparison.forward = {last_a.forward, last_b.forward};
  comparison.backward = {last_a.backward, last_b.backward};
  comparison.other_compute = {last_a.other_compute, last_b.other_compute};
  comparison.communication = {last_a.communication, last_b.communication};
  comparison.exposed = {last_a.exposed, last_b.exposed};
  compare_packs(*summary_a, *summary_b, comparison);
  if (auto done = compare_steps(a, b, *summary_a, *summary_b, comparison); !done)
    return tl::make_unexpected(done.error());
  return comparison;
}

std::vector<std::string> Comparison::in_words() const {
  std::vector<std::string> sentences;
  sentences.push_back(fmt::format("the second's step takes {}", more(step_time)));
  const std::vector<std::pair<const char*, Pair>> parts{{"forward pass", forward},
                                                        {"backward pass", backward},
                                                        {"copies and updates", other_compute},
                                                        {"exposed communication", exposed}};
  const auto largest = std::max_element(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
    return magnitude(x.second.difference()) < magnitude(y.second.difference());
  });
  if (largest->second.difference() != Time())
    sentences.push_back(
        fmt::format("most of that lies in the {}, which takes {}", largest->first, more(largest->second)));
  const auto pack = std::max_element(packs.begin(), packs.end(), [](const auto& x, const auto& y) {
    return magnitude(x.took.difference()) < magnitude(y.took.difference());
  });
  if (pack != packs.end() && pack->took.difference() != Time())
    sentences.push_back(
        fmt::format("of the packs, number {} differs most: in flight {}", pack->pack, more(pack->took)));
  if (packs_only_a + packs_only_b > 0) {
    sentences.push_back(
        fmt::format("{} packs of the first and {} of the second hold other gradients and are not compared",
                    packs_only_a, packs_only_b));
  }
  if (together > 0) {
    sentences.push_back(fmt::format(
        "of {} packs on devices the first has up to {} channels and the second up to {}, not as many: they are "
        "compared together, from the first channel's begin to the last one's end",
        together, most_channels_a, most_channels_b));
  }
  // Where one of them recorded no lanes at all there is nothing to miss.
  if (steps_joined > 0 && steps_only_a + steps_only_b > 0) {
    sentences.push_back(
        fmt::format("{} steps of lanes of the first and {} of the second are in one alone and are not compared",
                    steps_only_a, steps_only_b));
  }
  return sentences;
}

}  // namespace tutti::core
