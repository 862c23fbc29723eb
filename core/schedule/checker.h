#pragma once

#include <vector>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"
#include "core/schedule/violation.h"

namespace tutti::core {

struct CheckOptions {
  /// The number of random execution orders to try. Three fixed orders are tried first: each lane as
  /// far as possible, in ascending order of lanes; each lane as far as possible, in descending
  /// order of lanes; and round robin. One order suffices to prove freedom from deadlock, because
  /// lanes are deterministic and connections have a bounded number of slots. Several orders also
  /// reveal results that depend on the order of arrival.
  int random_orders = 2;
  std::uint64_t seed = 1;
};

/// Checks a schedule by running it with symbols in place of numbers.
///
/// Reports lanes that never end, each with the step at which it is blocked and the reason. If lanes
/// wait for each other in a cycle, lists the lanes of the cycle in order. Reports reads of elements
/// that were never written, contributions that are added twice, and contributions that are missing
/// from a result. Reports sums of elements with different indices, and elements at the wrong place.
/// Reports reads of another rank's buffer (kSwitchReduce) before a message from that rank has
/// arrived. Reports races, in which two lanes of a rank access the same element in no defined
/// order, and at least one of them writes. Reports messages that are never received, message
/// lengths that differ between the two sides, and ranges outside their buffers.
///
/// Cost: one symbolic execution of every step per order (symbolic_run.h), independent of buffer
/// lengths. Races are detected only if the number of steps of all ranks times the number of lanes
/// of all ranks is at most 2^25.
std::vector<Violation> check(const Schedule& schedule, const Contract& contract,
                             const CheckOptions& options = {});

}  // namespace tutti::core
