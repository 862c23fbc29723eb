#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The rounds of a schedule: how its messages depend on each other.
struct Rounds {
  /// Messages of the longest chain in which each is sent because of the one before: the number of
  /// latencies that the schedule cannot avoid.
  std::int64_t chain = 0;
  std::int64_t messages = 0;
  std::int64_t most_sent = 0;  ///< the largest number of elements that one rank sends
  std::int64_t all_sent = 0;   ///< number of elements that all ranks send; a multicast counts once
};

/// Follows a schedule without data. Credits are ignored: they make a schedule slower, but no chain
/// of messages longer. A schedule that deadlocks ends where it is stuck. Cost: that of all steps.
Rounds rounds_of(const Schedule& schedule);

}  // namespace tutti::core
