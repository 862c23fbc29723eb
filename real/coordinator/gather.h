#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "real/coordinator/children.h"
#include "real/join/reception.h"

namespace tutti::real {

class WorkerSet;

/// The way in which the workers of a run are started and find the coordinator.
struct Gathering {
  Address listen{"127.0.0.1", 0};  ///< the coordinator's address
  /// The secret of the run. Peers that do not hold it are rejected.
  std::string secret;
  enum class Spawn {
    kAll,    ///< the coordinator starts every worker as a process
    kFirst,  ///< the coordinator starts only worker 0; the others are started elsewhere
    kNone,
  };
  Spawn spawn = Spawn::kAll;
  /// The number of processes that a launcher started together, including this one; 0: no launcher
  /// did.
  int ranks = 0;
  std::chrono::duration<double> wait{60};  ///< the time limit for all workers to join
  /// Called with the address once the coordinator listens there. ERRORS: the address cannot be
  /// announced to the workers.
  std::function<core::Expected<void>(const Address&)> announce;
  /// Called when all workers have joined.
  std::function<void()> met;
  /// Another run follows at the same address: workers that were started elsewhere get the order to
  /// join again.
  bool come_again = false;
};

/// Accepts the workers of a run until all have joined. Workers that were started here have their
/// numbers; others get the one they ask for, or the lowest that is free. Unauthenticated peers are
/// rejected and delay nobody.
/// ERRORS: a worker never joined, or ended, or is of another version; the run was cancelled.
core::Expected<void> gather(WorkerSet& worker_set, Children& children, const Gathering& gathering,
                            const Listener& listener, const RunId& run);

/// Reports to the `others` processes that are about to join that there will be no run, and why.
/// Waits for them for at most ten seconds.
void turn_away(const Gathering& gathering, std::size_t others, const Listener& listener,
               const core::Error& why);

}  // namespace tutti::real
