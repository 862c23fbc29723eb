#pragma once

#include <vector>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"
#include "core/schedule/violation.h"

namespace tutti::core {

struct CheckOptions {
  /// Orders of execution to try besides "every lane as far as it goes": reversed, round robin, and this many random
  /// ones. One order proves freedom from deadlock (lanes are deterministic and slots bounded); several also show
  /// results that depend on who comes first.
  int random_orders = 2;
  std::uint64_t seed = 1;
};

/// Proves a schedule by running it with symbols in place of numbers. Reports
/// - lanes that never end, with the step each stands at and what it waits for; if they wait for each other in a circle,
///   the lanes of that circle, in its order;
/// - reads of what was never written, contributions that arrive twice, results that lack one;
/// - elements that are added to others than their like, or come to the wrong place;
/// - reads of another rank's buffer (kSwitchReduce) before anything was heard from that rank;
/// - two lanes of a rank that touch the same element, at least one of them writing, with nothing that orders them;
/// - messages nobody takes, messages whose length the two sides see differently, ranges outside their buffers.
/// Cost: every step once per order, as SymbolicRun (symbolic_run.h) does it: however long the buffers are.
/// The order between lanes is examined while steps times lanes, over all ranks, is at most 2^25.
std::vector<Violation> check(const Schedule& schedule, const Contract& contract, const CheckOptions& options = {});

}  // namespace tutti::core
