#pragma once

#include <cstdint>

#include "core/cluster/cluster.h"
#include "core/timeline/breakdown.h"

namespace tutti::sim {

/// The critical path, computed forwards: the time, divided by kind, of the causal chain that led to
/// the present state of a lane or of a message, since the chain's first rank started. A lane that
/// has waited for an event takes over the causal chain of that event. At the end of a collective,
/// the chain of its last rank is therefore the critical path, and no step has to be stored. `parts`
/// always add up to the time since the start of `origin`.
///
/// Every message carries one, so its size is most of what a simulation moves in memory: links are
/// numbers of 32 bits here (Network checks that these suffice).
struct CausalChain {
  std::int32_t origin = 0;      ///< the rank whose launch the chain began with
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
  /// A wait whose time is in `parts` already.
  void waited_at(core::LinkId link, core::Time duration) {
    if (duration > queued_time) {
      queued_time = duration;
      queued_at = static_cast<std::int32_t>(link);
    }
  }
};
static_assert(sizeof(CausalChain) == 112);

}  // namespace tutti::sim
