#pragma once

#include <vector>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"
#include "core/schedule/violation.h"

namespace tutti::core {

struct CheckOptions {
  /// The number of random execution orders to try. Three fixed orders come first: each lane as far
  /// as possible, the same from the last lane to the first, and round robin. One order suffices to
  /// prove freedom from deadlock, because lanes are deterministic and slots bounded. Several orders
  /// also reveal results that depend on the order of arrival.
  int random_orders = 2;
  std::uint64_t seed = 1;
};

/// Checks a schedule by running it with symbols in place of numbers. Reports
/// - lanes that never end, each with the step at which it is blocked and the reason; if lanes wait
///   for each other in a cycle, the lanes of that cycle, in order;
/// - reads of elements that were never written, contributions that are added twice, and
///   contributions that are missing from a result;
/// - sums of elements with different indices, and elements at the wrong place;
/// - reads of another rank's buffer (kSwitchReduce) before a message from that rank has arrived;
/// - races: two lanes of a rank access the same element in no defined order, and at least one of
///   them writes;
/// - messages that are never received, message lengths that differ between the two sides, and
///   ranges outside their buffers.
/// Cost: one symbolic execution of every step per order (symbolic_run.h), independent of buffer
/// lengths. Races are only detected if the product of steps and lanes, over all ranks, is at most
/// 2^25.
std::vector<Violation> check(const Schedule& schedule, const Contract& contract,
                             const CheckOptions& options = {});

}  // namespace tutti::core
