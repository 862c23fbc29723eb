#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/reception.h"

namespace tutti::real {

/// The address of a coordinator, and the secret of its run.
struct Appointment {
  Address coordinator;
  RunSecret secret;  ///< copies share the cache of its key
  /// True: address and secret may belong to an earlier run, so a process that refuses the
  /// connection may belong to another run.
  bool may_be_stale = false;

  bool operator==(const Appointment&) const = default;
};

/// An authenticated connection to the coordinator.
struct CoordinatorFound {
  Connection connection;
  Appointment appointment;
  RunId run{};
  RunSecret secret;     ///< the appointment's secret, which has cached the key for `run`
  std::string version;  ///< the coordinator's protocol(); compatible, but possibly another release
};

/// Connects to the coordinator. Repeats failed attempts until time `until`, since the coordinator
/// may start later than its workers. `where` is called for each attempt, and returns nothing while
/// the address is unknown. If an appointment may be stale, and the process at its address refuses
/// the connection, this appointment is not tried again. `tls`: the settings of TLS; null: none.
/// ERRORS: no coordinator answers; the coordinator has another secret, setting of TLS or version of
/// Tutti; `stop` returns true.
core::Expected<CoordinatorFound> find_coordinator(
    const std::function<std::optional<Appointment>()>& where, std::int32_t worker,
    Reception::Clock::time_point until, const std::function<bool()>& stop,
    const std::shared_ptr<const TlsContext>& tls = nullptr);

/// The parameters for connecting a worker to the other workers of its run.
struct PeerConnectionOptions {
  RunSecret secret;
  RunId run{};
  std::int32_t worker = 0;
  std::vector<Address> peers;  ///< the address of each worker
  Reception::Clock::time_point until;
  /// The file descriptor of the connection to the coordinator. This connection is watched while
  /// peers connect. -1: there is no connection to the coordinator.
  int coordinator = -1;
  int streams = 1;  ///< number of connections to each peer
  std::shared_ptr<const TlsContext> tls{};
};

/// Makes `streams` connections to every other worker. This worker connects to workers with lower
/// numbers, and accepts connections of those with higher numbers. `idle` is called regularly, and
/// whenever the connection to the coordinator has data to read. If `idle` returns an error, this
/// function returns this error. Entry w · streams + i of the result is connection i to worker w;
/// connection i has the same number at both ends. The entries for this worker itself are empty.
/// ERRORS: this process could not reach a worker; a worker did not connect.
core::Expected<std::vector<Connection>> connect_peers(
    const PeerConnectionOptions& meeting, const Listener& listener,
    const std::function<core::Expected<void>()>& idle);

}  // namespace tutti::real
