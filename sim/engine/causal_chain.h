#pragma once

#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/timeline/breakdown.h"

namespace tutti::sim {

/// A summary of the causal chain of events that led to the current state of a lane or a message.
/// For each kind of activity, the summary contains the time that the chain spent on this activity.
/// The critical path is computed forwards in time: a lane that waited for an event copies the
/// causal chain of that event. When a collective ends, the chain of its last rank is therefore the
/// critical path, so no schedule steps need to be stored. The sum of `parts` is always the time
/// since the start of rank `origin`, at which the chain begins.
///
/// Every message carries a causal chain, so the size of this struct determines most of the
/// simulator's memory traffic. Links are therefore 32-bit numbers here; Network checks that 32 bits
/// suffice.
struct CausalChain {
  std::int32_t origin = 0;      ///< the rank whose launch begins the chain
  std::int32_t slowest = -1;    ///< link of the longest single transfer on the chain
  std::int32_t queued_at = -1;  ///< link with the longest single wait on the chain
  core::Time slowest_time;
  core::Time queued_time;
  core::Breakdown parts;

  bool operator==(const CausalChain&) const = default;

  void moved(core::LinkKind kind, core::LinkId link, core::Time duration) {
    parts.wire[static_cast<std::size_t>(kind)] += duration;
    if (duration > slowest_time) {
      slowest_time = duration;
      slowest = static_cast<std::int32_t>(link);
    }
  }
  void queued(core::LinkId link, core::Time duration) {
    parts.queue += duration;
    waited_at(link, duration);
  }
  /// Records a wait at `link` whose time is already included in `parts`.
  void waited_at(core::LinkId link, core::Time duration) {
    if (duration > queued_time) {
      queued_time = duration;
      queued_at = static_cast<std::int32_t>(link);
    }
  }
};
static_assert(sizeof(CausalChain) == 112);

}  // namespace tutti::sim
