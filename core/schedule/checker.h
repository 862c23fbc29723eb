#pragma once

#include <vector>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"
#include "core/schedule/violation.h"

namespace tutti::core {

struct CheckOptions {
  /// The number of random execution orders to try. Three fixed orders are tried first. In the first
  /// two orders, each lane runs until it is blocked, before the next lane runs. The first order
  /// takes the lanes in ascending order, and the second in descending order. The third order is
  /// round robin. To prove that a schedule cannot deadlock, one order is enough, because lanes are
  /// deterministic and connections have a bounded number of slots. With several orders, the checker
  /// also finds results that depend on the order in which messages arrive.
  int random_orders = 2;
  std::uint64_t seed = 1;
};

/// Checks a schedule by executing it on symbols instead of numbers.
///
/// Reports each lane that never ends, with the step at which it is blocked and the reason. If lanes
/// wait for each other in a cycle, reports only the lanes of this cycle, in order. Reports reads of
/// elements that were never written, contributions that are added twice, and contributions that are
/// missing from a result. Reports sums that combine elements with different indices, and elements
/// that end at a wrong index. Reports steps that read another rank's buffer (kSwitchReduce) before
/// a message from that rank has arrived. Reports races, in which two lanes of a rank access the
/// same element in no defined order, and at least one of them writes. Reports messages that are
/// never received, message lengths that differ between the two sides, and ranges outside their
/// buffers.
///
/// Cost: every step is executed symbolically once per order (symbolic_run.h). The cost does not
/// depend on the lengths of buffers. Races are detected only if (total number of steps) × (total
/// number of lanes) is at most 2^25.
std::vector<Violation> check(const Schedule& schedule, const Contract& contract,
                             const CheckOptions& options = {});

}  // namespace tutti::core
