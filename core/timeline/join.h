#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/timeline/reader.h"

namespace tutti::core {

/// Maps numbers (of packs or training steps) of the first timeline to those of the second.
using Numbers = std::map<std::int32_t, std::int32_t>;

/// Returns the packs that hold the same gradients.
Numbers packs_in_common(const RunInfo& a, const RunInfo& b);

/// A span that both timelines recorded.
struct SpanPair {
  TrackId track_a = kNoTrack;  ///< track of the first channel, if channels are joined
  TrackId track_b = kNoTrack;
  Span a;  ///< if several spans are joined: from the earliest start to the latest end
  Span b;  ///< in the numbers of the second timeline
  bool together = false;  ///< true if all channels of a pack on a device are joined as one
};

/// Returns a span's duration without its wait, which is due to the other side.
inline Time work_of(const Span& span) { return span.duration - span.wait; }

/// The number of lane steps of two timelines that could be joined.
struct JoinCounts {
  std::int64_t joined = 0;
  /// Lane steps that only one of them recorded, or that have another kind in the other.
  std::int64_t only_a = 0;
  std::int64_t only_b = 0;
  /// Packs on devices whose channels are compared as one, and the maximum number of channels of
  /// such a pack.
  std::int64_t together = 0;
  std::int64_t most_channels_a = 0;
  std::int64_t most_channels_b = 0;
};

/// Receives a pair. Returns true to receive more.
using TakePair = std::function<bool(const SpanPair&)>;

/// Joins the steps of lanes by (worker, device, training step, pack, lane, index), for the given
/// training steps and packs. If one of the two has only whole NCCL channels (SpanKind::kChannel),
/// lanes of the other are also taken as a whole. If a pack on a device has different numbers of
/// lanes in the two, lanes do not correspond; all lanes of the pack there are then joined as one,
/// from the earliest start to the latest end.
/// ERRORS: a damaged block; stopped (kRun). Cost: reads every span of a lane once; memory for those
/// of one device.
Expected<JoinCounts> join_lane_steps(const TimelineReader& a, const TimelineReader& b,
                                     const Numbers& steps, const Numbers& packs,
                                     const TakePair& take);

/// Joins computation by (worker, device, training step, kind, pack, layer), and packs in flight.
Expected<void> join_other_spans(const TimelineReader& a, const TimelineReader& b,
                                const Numbers& steps, const Numbers& packs, const TakePair& take);

}  // namespace tutti::core
