#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/reception.h"

namespace tutti::real {

/// The address of a coordinator and the secret of its run.
struct Appointment {
  Address coordinator;
  std::string secret;
  /// It may be left over from an earlier run: whoever refuses this process there may have nothing
  /// to do with its run.
  bool may_be_stale = false;

  bool operator==(const Appointment&) const = default;
};

/// An authenticated connection to the coordinator.
struct CoordinatorFound {
  Socket socket;
  Appointment appointment;
  RunId run{};
};

/// Connects to the coordinator, repeatedly until `until`, since it may start later than its
/// workers. `where` is called for each attempt, and returns nothing while the address is unknown.
/// An appointment that may be stale is not tried again after a refusal; the next one is.
/// ERRORS: no coordinator answers there; its secret, or its version of Tutti, differs; `stop`
/// returns true.
core::Expected<CoordinatorFound> find_coordinator(
    const std::function<std::optional<Appointment>()>& where, std::int32_t worker,
    Reception::Clock::time_point until, const std::function<bool()>& stop);

/// The parameters for connecting a worker to the other workers of its run.
struct PeerMeeting {
  std::string secret;
  RunId run{};
  std::int32_t worker = 0;
  std::vector<Address> peers;  ///< by worker: its address
  Reception::Clock::time_point until;
  /// File descriptor of the connection to the coordinator, which is watched meanwhile; -1: none.
  int coordinator = -1;
  int streams = 1;  ///< number of connections to each peer
};

/// Makes `streams` connections to every other worker: this one connects to those with lower numbers
/// and accepts those with higher numbers. `idle` is called now and then, and when there is
/// something to read from the coordinator; an error that it returns ends the function. The result
/// lists file descriptors by worker and, within each, by the stream's number, which is the same at
/// both ends; -1 stands for this worker.
/// ERRORS: a worker could not be reached, or did not connect.
core::Expected<std::vector<int>> meet_peers(const PeerMeeting& meeting, const Listener& listener,
                                            const std::function<core::Expected<void>()>& idle);

}  // namespace tutti::real
