// Spans are matched by a merge join. For each device, the spans of both timelines get keys (with
// the pack and step numbers of the first timeline) and are sorted by key. The sorted lists of the
// two timelines are then traversed in parallel. Only the spans of one device are in memory. The
// keys within a timeline must be unique, and equal keys must mean the same work. Two cases need
// care. First, a computation that repeats within a training step (once per micro-batch) gets a pass
// number after sorting. Second, NCCL numbers its channels arbitrarily. If the two timelines have
// different numbers of channels for a pack, all channels of the pack on a device are merged into
// one span. Packs that occur only in the first timeline stay in its list, because they are counted.
// compare.cpp adds up the results.

#include "core/timeline/join.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/compute_kind.h"

namespace tutti::core {
namespace {

/// Identifies a span on its device. Steps, packs and layers have the numbers of the first timeline.
struct Key {
  std::int32_t step = 0;
  std::int32_t pack = -1;
  std::int32_t lane = -1;
  std::int32_t kind = 0;  ///< kind of a computation; 0 for steps of a lane, so that lane steps have
                          ///< equal keys even if their kinds differ
  std::int64_t index = 0;
  std::int32_t pass = 0;  ///< for a computation: index of its micro-batch, which is the number of
                          ///< earlier spans with the same key
  auto operator<=>(const Key&) const = default;
};

struct Item {
  Key key;
  Span span;
  TrackId track = kNoTrack;
};

/// Spans with unique keys, sorted by key.
using Items = std::vector<Item>;

/// The indices of a training step and of a pack, which identify the transfer of the pack on the
/// current device.
using StepAndPack = std::pair<std::int32_t, std::int32_t>;
StepAndPack step_and_pack(const Key& key) { return {key.step, key.pack}; }

/// The tracks of each device. A device is identified by its worker and its name.
using Devices = std::map<std::pair<std::int32_t, std::string>, std::vector<const Track*>>;

Devices devices_of(const TimelineReader& timeline, bool lanes) {
  Devices devices;
  std::set<TrackId> seen;
  for (const Track& track : timeline.tracks()) {
    if ((track.kind == TrackKind::kLane) == lanes && seen.insert(track.id).second)
      devices[{track.worker, track.device}].push_back(&track);
  }
  return devices;
}

using Blocks = std::map<TrackId, std::vector<const TimelineReader::SpanBlock*>>;

Blocks blocks_of(const TimelineReader& timeline) {
  Blocks blocks;
  for (const TimelineReader::SpanBlock& block : timeline.span_blocks())
    blocks[block.track].push_back(&block);
  return blocks;
}

/// Returns the inverse of the map.
Numbers reversed(const Numbers& numbers) {
  Numbers back;
  for (const auto& [a, b] : numbers) back[b] = a;
  return back;
}

std::optional<std::int32_t> number_of(const Numbers& numbers, std::int32_t own) {
  const auto there = numbers.find(own);
  if (there == numbers.end()) return std::nullopt;
  return there->second;
}

Numbers themselves(const Numbers& numbers) {
  Numbers same;
  for (const auto& [a, b] : numbers) same[a] = a;
  return same;
}

/// One of the two timelines, with tables that map its numbers to the numbers of the first timeline.
struct Side {
  const TimelineReader& timeline;
  Blocks blocks;
  Numbers steps, packs;
  std::optional<Numbers> layers;   ///< nullopt: both timelines have the same layer numbers
  bool keeps_other_packs = false;  ///< true for the first timeline, which keeps the spans of packs
                                   ///< that only this timeline has
};

/// Sets `pass` for computations that occur several times in a training step, once per micro-batch.
void number_passes(Items& items) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    Key before = items[i - 1].key;
    before.pass = 0;
    if (before == items[i].key) items[i].key.pass = items[i - 1].key.pass + 1;
  }
}

/// Sorts the items by key. If a damaged file has several spans with the same key on a lane, only
/// the last of them is kept.
void sort_items(Items& items, bool lanes) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& x, const Item& y) { return x.key < y.key; });
  if (!lanes) return number_passes(items);
  std::reverse(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end(),
                          [](const Item& x, const Item& y) { return x.key == y.key; }),
              items.end());
  std::reverse(items.begin(), items.end());
}

/// Returns the key of a span; nullopt if the other timeline does not have the span's pack or layer.
std::optional<Key> key_of(const Side& side, const Track& track, const Span& span,
                          std::int32_t step) {
  Key key{step, -1, -1, 0, 0};
  if (span.pack >= 0) {
    const auto pack = number_of(side.packs, span.pack);
    if (!pack && !side.keeps_other_packs) return std::nullopt;
    key.pack = pack.value_or(span.pack);
  } else if (track.kind == TrackKind::kLane && !side.keeps_other_packs) {
    return std::nullopt;
  }
  if (track.kind == TrackKind::kLane) {
    key.lane = track.lane;
    key.index = span.index;
  } else {
    key.kind = span.kind;
    if (span.kind == SpanKind::kFirstCompute + static_cast<std::int32_t>(ComputeKind::kBackward)) {
      key.index = span.index;
      if (side.layers) {
        const auto layer = number_of(*side.layers, static_cast<std::int32_t>(span.index));
        if (!layer) return std::nullopt;
        key.index = *layer;
      }
    }
  }
  return key;
}

/// Returns the items of the tracks, for the compared training steps. `others` is increased by the
/// number of spans whose pack or layer does not occur in the other timeline.
Expected<Items> items_of(const Side& side, const std::vector<const Track*>& tracks, bool lanes,
                         std::int64_t& others) {
  Items items;
  for (const Track* const track : tracks) {
    const auto blocks = side.blocks.find(track->id);
    if (blocks == side.blocks.end()) continue;
    for (const TimelineReader::SpanBlock* const block : blocks->second) {
      const Expected<std::vector<Span>> spans = side.timeline.read(*block);
      if (!spans) return tl::make_unexpected(spans.error());
      for (const Span& span : *spans) {
        const auto step = number_of(side.steps, span.step);
        if (!step) continue;
        const auto key = key_of(side, *track, span, *step);
        if (key) {
          items.push_back({*key, span, track->id});
        } else {
          ++others;
        }
      }
    }
  }
  sort_items(items, lanes);
  return items;
}

bool has_channels(const Items& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const Item& i) { return i.span.kind == SpanKind::kChannel; });
}

/// Extends `whole` so that it also covers `span`. The waiting times at the beginnings of both spans
/// are excluded.
void extend(Span& whole, const Span& span) {
  const Time begin = std::min(whole.start + whole.wait, span.start + span.wait);
  const Time end = std::max(whole.start + whole.duration, span.start + span.duration);
  whole.start = begin;
  whole.duration = end - begin;
  whole.wait = Time();
  whole.kind = SpanKind::kChannel;
}

/// Merges all items for whose keys the function `whole` returns the same key. REQUIRES: such items
/// are adjacent.
template <class Whole>
Items united(const Items& items, Whole whole) {
  Items made;
  for (const Item& item : items) {
    const Key key = whole(item.key);
    if (made.empty() || made.back().key != key) made.push_back({key, item.span, item.track});
    extend(made.back().span, item.span);
  }
  return made;
}

/// Merges all spans of a pack on a lane into one span, from the earliest start to the latest end.
Items as_channels(const Items& items) {
  return united(items, [](const Key& key) { return Key{key.step, key.pack, key.lane, 0, 0}; });
}

std::map<StepAndPack, std::int64_t> channels_by_pack(const Items& channels) {
  std::map<StepAndPack, std::int64_t> counts;
  for (const Item& item : channels) ++counts[step_and_pack(item.key)];
  return counts;
}

/// Removes the channels of the packs in `packs` from `channels`. Returns one merged item for each
/// of these packs.
Items take_together(Items& channels, const std::set<StepAndPack>& packs) {
  const auto rest = std::stable_partition(channels.begin(), channels.end(), [&](const Item& i) {
    return !packs.contains(step_and_pack(i.key));
  });
  const Items out(rest, channels.end());
  channels.erase(rest, channels.end());
  return united(out, [](const Key& key) { return Key{key.step, key.pack, 0, 0, 0}; });
}

/// Joins items with equal keys and kinds. Returns false if `take` returned false.
bool join(const Items& a, const Items& b, bool together, const TakePair& take, JoinCounts& counts) {
  std::int64_t joined = 0;
  auto other = b.begin();
  for (const Item& item : a) {
    while (other != b.end() && other->key < item.key) ++other;
    if (other == b.end() || other->key != item.key || other->span.kind != item.span.kind) continue;
    ++joined;
    if (!take({item.track, other->track, item.span, other->span, together})) return false;
  }
  counts.joined += joined;
  counts.only_a += static_cast<std::int64_t>(a.size()) - joined;
  counts.only_b += static_cast<std::int64_t>(b.size()) - joined;
  return true;
}

/// Joins channels by number if both timelines have the same number of channels for a pack.
/// Otherwise all channels of the pack are merged before they are joined, because NCCL's channel
/// numbers are arbitrary.
bool join_channels(Items a, Items b, const TakePair& take, JoinCounts& counts) {
  const std::map<StepAndPack, std::int64_t> counts_a = channels_by_pack(a);
  const std::map<StepAndPack, std::int64_t> counts_b = channels_by_pack(b);
  std::set<StepAndPack> differ;
  for (const auto& [place, count] : counts_a) {
    const auto other = counts_b.find(place);
    if (other == counts_b.end() || other->second == count) continue;
    differ.insert(place);
    counts.max_channels_a = std::max(counts.max_channels_a, count);
    counts.max_channels_b = std::max(counts.max_channels_b, other->second);
  }
  counts.together += static_cast<std::int64_t>(differ.size());
  const Items together_a = take_together(a, differ);
  const Items together_b = take_together(b, differ);
  return join(a, b, false, take, counts) && join(together_a, together_b, true, take, counts);
}

/// Maps the second timeline's layer numbers to the first timeline's layer numbers, by name; nullopt
/// if the numbers are the same.
std::optional<Numbers> layers_of_first(const RunInfo& a, const RunInfo& b) {
  if (a.layers == b.layers) return std::nullopt;
  std::map<std::string, std::int32_t> by_name;
  for (std::size_t i = 0; i < a.layers.size(); ++i)
    by_name.emplace(a.layers[i], static_cast<std::int32_t>(i));
  Numbers numbers;
  for (std::size_t i = 0; i < b.layers.size(); ++i) {
    const auto there = by_name.find(b.layers[i]);
    if (there != by_name.end()) numbers[static_cast<std::int32_t>(i)] = there->second;
  }
  return numbers;
}

/// For each device, calls `take` with the device's items in both timelines. Stops when `take`
/// returns false.
template <class Take>
Expected<JoinCounts> by_device(const TimelineReader& a, const TimelineReader& b,
                               const Numbers& steps, const Numbers& packs, bool lanes, Take take) {
  const Side first{a, blocks_of(a), themselves(steps), themselves(packs), std::nullopt, true};
  const Side second{
      b, blocks_of(b), reversed(steps), reversed(packs), layers_of_first(a.run(), b.run()), false};
  Devices devices_a = devices_of(a, lanes);
  Devices devices_b = devices_of(b, lanes);
  for (const auto& [device, tracks] : devices_b) devices_a.try_emplace(device);
  JoinCounts counts;
  for (const auto& [device, tracks] : devices_a) {
    const auto items_a = items_of(first, tracks, lanes, counts.only_a);
    if (!items_a) return tl::make_unexpected(items_a.error());
    const auto items_b = items_of(second, devices_b[device], lanes, counts.only_b);
    if (!items_b) return tl::make_unexpected(items_b.error());
    if (!take(*items_a, *items_b, counts))
      return tl::make_unexpected(Error::run({ProblemCode::kStopped}, "comparing was stopped"));
  }
  return counts;
}

}  // namespace

Numbers packs_in_common(const RunInfo& a, const RunInfo& b) {
  std::multimap<std::vector<std::string>, std::int32_t> by_gradients;
  for (std::size_t p = 0; p < b.packs.size(); ++p)
    by_gradients.emplace(b.packs[p].gradients, static_cast<std::int32_t>(p));
  Numbers numbers;
  for (std::size_t p = 0; p < a.packs.size(); ++p) {
    const auto other = by_gradients.find(a.packs[p].gradients);
    if (other == by_gradients.end()) continue;
    numbers[static_cast<std::int32_t>(p)] = other->second;
    by_gradients.erase(other);
  }
  return numbers;
}

Expected<JoinCounts> join_lane_steps(const TimelineReader& a, const TimelineReader& b,
                                     const Numbers& steps, const Numbers& packs,
                                     const TakePair& take) {
  return by_device(a, b, steps, packs, true,
                   [&](const Items& items_a, const Items& items_b, JoinCounts& counts) {
                     return has_channels(items_a) || has_channels(items_b)
                                ? join_channels(as_channels(items_a), as_channels(items_b), take,
                                                counts)
                                : join(items_a, items_b, false, take, counts);
                   });
}

Expected<void> join_other_spans(const TimelineReader& a, const TimelineReader& b,
                                const Numbers& steps, const Numbers& packs, const TakePair& take) {
  const auto counts =
      by_device(a, b, steps, packs, false,
                [&](const Items& items_a, const Items& items_b, JoinCounts& joined) {
                  return join(items_a, items_b, false, take, joined);
                });
  if (!counts) return tl::make_unexpected(counts.error());
  return {};
}

}  // namespace tutti::core
