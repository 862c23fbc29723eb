#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "real/coordinator/children.h"
#include "real/join/reception.h"

namespace tutti::real {

class WorkerSet;

/// Options for starting the workers of a run, and for the address and secret by which workers join.
struct Gathering {
  Address listen{"127.0.0.1", 0};  ///< the coordinator's address
  /// The secret of the run. Peers that do not know the secret are rejected.
  std::string secret;
  /// The settings of TLS of the run; null: no TLS.
  std::shared_ptr<const TlsContext> tls{};
  /// Networks in which workers may listen for other workers (--worker-network). A worker may always
  /// listen at the address from which it joins.
  std::vector<Subnet> worker_networks{};
  enum class Spawn {
    kAll,    ///< the coordinator starts every worker as a process
    kFirst,  ///< the coordinator starts only worker 0; all other workers are started elsewhere
    kNone,
  };
  Spawn spawn = Spawn::kAll;
  /// The number of processes that a launcher started together, including this one; 0: there is no
  /// launcher.
  int ranks = 0;
  std::chrono::duration<double> wait{60};  ///< the time limit for all workers to join
  /// Called with the coordinator's address as soon as the coordinator listens there. ERRORS: the
  /// address cannot be announced to the workers.
  std::function<core::Expected<void>(const Address&)> announce;
  /// Called when all workers have joined.
  std::function<void()> met;
  /// True: another run follows at the same address, and workers that were started elsewhere are
  /// asked to join again.
  bool come_again = false;
};

/// Waits until all workers of a run have joined. Workers that this process has started already
/// have numbers. A worker that was started elsewhere gets the number that it requests, or the
/// lowest free number. Unauthenticated peers are rejected, and do not delay the workers. ERRORS: a
/// worker did not join in time, ended, or has a different version of Tutti; the run was cancelled.
core::Expected<void> gather(WorkerSet& worker_set, Children& children, const Gathering& gathering,
                            const Listener& listener, const RunId& run);

/// Informs processes that are about to join that the run is cancelled, with the reason `why`.
/// `others` is the number of these processes. Waits until all of them have connected and been
/// informed, but at most ten seconds.
void refuse_joiners(const Gathering& gathering, std::size_t others, const Listener& listener,
                    const core::Error& why);

}  // namespace tutti::real
