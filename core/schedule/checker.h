#pragma once

#include <vector>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"
#include "core/schedule/violation.h"

namespace tutti::core {

struct CheckOptions {
  /// The number of random execution orders to try, in addition to running each lane as far as
  /// possible, the reverse, and round robin. One order proves freedom from deadlock (lanes are
  /// deterministic and slots bounded); several also reveal results that depend on the order of
  /// arrival.
  int random_orders = 2;
  std::uint64_t seed = 1;
};

/// Checks a schedule by running it with symbols in place of numbers. Reports
/// - lanes that never end, with the step at which each is blocked and what it waits for; if they
///   wait for each other in a cycle, the lanes of that cycle, in order;
/// - reads of elements that were never written, contributions that arrive twice, results that lack
///   one;
/// - sums of elements that do not correspond to each other, and elements at the wrong place;
/// - reads of another rank's buffer (kSwitchReduce) before a message from that rank has arrived;
/// - two lanes of a rank that access the same element, at least one of them writing, without any
///   ordering between them;
/// - messages that are never received, message lengths that differ between the two sides, ranges
///   outside their buffers.
/// Cost: every step once per order, as SymbolicRun (symbolic_run.h) does it, independent of buffer
/// lengths. The order between lanes is examined while steps times lanes, over all ranks, is at most
/// 2^25.
std::vector<Violation> check(const Schedule& schedule, const Contract& contract,
                             const CheckOptions& options = {});

}  // namespace tutti::core
