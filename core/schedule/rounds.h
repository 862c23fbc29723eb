#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The numbers of messages and elements that a schedule sends, and the longest chain of messages
/// that depend on each other. A reduction in a switch counts as one message.
struct Rounds {
  /// The number of messages in the longest chain in which each message is sent only after the
  /// previous message has arrived. The schedule takes at least `chain` message latencies.
  std::int64_t chain = 0;
  std::int64_t messages = 0;
  std::int64_t most_sent = 0;  ///< the largest number of elements that one rank sends
  std::int64_t all_sent =
      0;  ///< total number of elements that the ranks send; a multicast counts once, and
          ///< a reduction in a switch counts once for each rank of its group
};

/// Executes a schedule without data and counts its messages. The limits on the slots of connections
/// (Schedule::credits) are ignored, because they delay messages but do not lengthen any chain. If
/// the schedule deadlocks, only the messages before the deadlock are counted. Cost: one visit of
/// every step.
Rounds rounds_of(const Schedule& schedule);

}  // namespace tutti::core
