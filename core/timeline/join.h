#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/timeline/reader.h"

namespace tutti::core {

/// Maps the numbers of packs or training steps in the first timeline to the numbers in the second
/// timeline.
using Numbers = std::map<std::int32_t, std::int32_t>;

/// Returns the packs that have the same gradients in both timelines.
Numbers packs_in_common(const RunInfo& a, const RunInfo& b);

/// A span that both timelines recorded.
struct SpanPair {
  TrackId track_a = kNoTrack;  ///< the track of the span; if channels were merged, the track of the
                               ///< first channel
  TrackId track_b = kNoTrack;
  Span a;  ///< the span in timeline a; if several spans were merged, from the earliest start to the
           ///< latest end
  Span b;  ///< the span in timeline b, with the step and pack numbers of timeline b
  bool together = false;  ///< true if all channels of a pack on a device were merged into one span
};

/// Returns the duration of a span without its waiting time, because the peer causes the waiting
/// time.
inline Time work_of(const Span& span) { return span.duration - span.wait; }

/// The number of lane steps (recorded schedule steps of lanes) that were joined, and the numbers of
/// lane steps that were not joined.
struct JoinCounts {
  std::int64_t joined = 0;
  /// `only_a` counts the lane steps of timeline a without a counterpart of the same kind in
  /// timeline b. `only_b` counts the lane steps of timeline b without a counterpart of the same
  /// kind in timeline a.
  std::int64_t only_a = 0;
  std::int64_t only_b = 0;
  /// The number of (pack, device) pairs whose channels were merged into one span. `max_channels_a`
  /// and `max_channels_b` are the largest numbers of channels that such a pair has in timeline a
  /// and in timeline b.
  std::int64_t together = 0;
  std::int64_t max_channels_a = 0;
  std::int64_t max_channels_b = 0;
};

/// A callback for each pair of spans. The callback returns false to stop the join.
using TakePair = std::function<bool(const SpanPair&)>;

/// Joins lane steps by (worker, device, training step, pack, lane, index), for the given training
/// steps and packs. If a timeline has only one span for each NCCL channel (SpanKind::kChannel),
/// each lane of the other timeline is merged into one span, too. If the two timelines then have
/// different numbers of lanes for a pack on a device, all lanes of this pack are merged into one
/// span, from the earliest start to the latest end.
/// ERRORS: a block is damaged; `take` returned false (kRun). Cost: each span of a lane is read
/// once. Memory: the spans of one device.
Expected<JoinCounts> join_lane_steps(const TimelineReader& a, const TimelineReader& b,
                                     const Numbers& steps, const Numbers& packs,
                                     const TakePair& take);

/// Joins the spans of computation by (worker, device, training step, kind, pack, layer), and also
/// joins the spans of packs in flight.
Expected<void> join_other_spans(const TimelineReader& a, const TimelineReader& b,
                                const Numbers& steps, const Numbers& packs, const TakePair& take);

}  // namespace tutti::core
