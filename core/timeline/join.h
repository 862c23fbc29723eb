#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/timeline/reader.h"

namespace tutti::core {

/// Maps numbers of packs or training steps in the first timeline to numbers in the second.
using Numbers = std::map<std::int32_t, std::int32_t>;

/// Returns the packs that have the same gradients in both timelines.
Numbers packs_in_common(const RunInfo& a, const RunInfo& b);

/// A span that both timelines recorded.
struct SpanPair {
  TrackId track_a = kNoTrack;  ///< track of the first channel if channels are joined
  TrackId track_b = kNoTrack;
  Span a;  ///< if several spans are joined, from the earliest start to the latest end
  Span b;  ///< with the step and pack numbers of the second timeline
  bool together = false;  ///< true: all channels of a pack on a device are joined as one
};

/// Returns a span's duration without its wait, for which the peer is responsible.
inline Time work_of(const Span& span) { return span.duration - span.wait; }

/// The numbers of lane steps of two timelines that could be joined, and that could not.
struct JoinCounts {
  std::int64_t joined = 0;
  /// Lane steps that only this timeline recorded, or that have another kind in the other timeline.
  std::int64_t only_a = 0;
  std::int64_t only_b = 0;
  /// The number of packs on devices whose channels are joined as one; `max_channels_a` and
  /// `max_channels_b` are the maximum numbers of channels of such a pack.
  std::int64_t together = 0;
  std::int64_t max_channels_a = 0;
  std::int64_t max_channels_b = 0;
};

/// Called for each pair. Returning false stops the join.
using TakePair = std::function<bool(const SpanPair&)>;

/// Joins lane steps by (worker, device, training step, pack, lane, index), for the given training
/// steps and packs. If one timeline has only whole NCCL channels (SpanKind::kChannel), each lane of
/// the other timeline is also joined as a whole. If a pack on a device has different numbers of
/// lanes in the two timelines, lanes do not correspond. All lanes of the pack on this device are
/// then joined as one, from the earliest start to the latest end.
/// ERRORS: a block is damaged; `take` returned false (kRun).
/// Cost: reads every span of a lane once. Memory: the spans of one device.
Expected<JoinCounts> join_lane_steps(const TimelineReader& a, const TimelineReader& b,
                                     const Numbers& steps, const Numbers& packs,
                                     const TakePair& take);

/// Joins the spans of computation, by (worker, device, training step, kind, pack, layer), and of
/// packs in flight.
Expected<void> join_other_spans(const TimelineReader& a, const TimelineReader& b,
                                const Numbers& steps, const Numbers& packs, const TakePair& take);

}  // namespace tutti::core
