#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/timeline/reader.h"

namespace tutti::core {

/// Numbers of the second timeline by those of the first: of packs, of training steps.
using Numbers = std::map<std::int32_t, std::int32_t>;

/// Packs that hold the same gradients.
Numbers packs_in_common(const RunInfo& a, const RunInfo& b);

/// One thing that both timelines recorded.
struct SpanPair {
  TrackId track_a = kNoTrack;  ///< of the first channel, if they are taken together
  TrackId track_b = kNoTrack;
  Span a;                 ///< from the first moment to the last, if it stands for several
  Span b;                 ///< with the second's own numbers
  bool together = false;  ///< all channels of a pack on a device as one
};

/// Without the wait: that belongs to whoever was late.
inline Time work_of(const Span& span) { return span.duration - span.wait; }

/// What of the lanes of two timelines could be joined.
struct JoinCounts {
  std::int64_t joined = 0;
  /// Lane steps that only one of them recorded, or that are of another kind in the other.
  std::int64_t only_a = 0;
  std::int64_t only_b = 0;
  /// Packs on devices whose channels are compared together, and the most channels that one of them has.
  std::int64_t together = 0;
  std::int64_t most_channels_a = 0;
  std::int64_t most_channels_b = 0;
};

/// Answers whether it wants more.
using TakePair = std::function<bool(const SpanPair&)>;

/// Joins the steps of lanes by (worker, device, training step, pack, lane, index), for the training steps and packs that are told.
/// Where one of the two knows NCCL's channels as a whole only (SpanKind::kChannel), the other's lanes are taken as a whole
/// too. Where the two have not as many lanes for a pack on a device, no lane has its like in the other: all lanes of the
/// pack there are taken together, from the first one's begin to the last one's end.
/// ERRORS: a damaged block; stopped (kRun). Cost: one look at every span of a lane, and memory for those of one device.
Expected<JoinCounts> join_lane_steps(const TimelineReader& a, const TimelineReader& b, const Numbers& steps,
                                     const Numbers& packs, const TakePair& take);

/// The same for what devices compute, joined by (worker, device, training step, kind, pack, layer), and for packs in flight.
Expected<void> join_other_spans(const TimelineReader& a, const TimelineReader& b, const Numbers& steps,
                                const Numbers& packs, const TakePair& take);

}  // namespace tutti::core
