#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "real/join/reception.h"

namespace tutti::real {

/// Where a coordinator is said to be, and what its secret is.
struct Appointment {
  Address coordinator;
  std::string secret;
};

/// A connection to the coordinator that has shaken hands.
struct CoordinatorFound {
  Socket socket;
  Appointment appointment;
  RunId run{};
};

/// Connects to the coordinator, again and again until `until`: it may start later than its workers. `where` is asked
/// anew each time, and answers nothing while it does not know.
/// ERRORS: nobody answers there; the secret, or the version of Tutti, is another one; `stop` answers true.
core::Expected<CoordinatorFound> find_coordinator(const std::function<std::optional<Appointment>()>& where,
                                                  std::int32_t worker, Reception::Clock::time_point until,
                                                  const std::function<bool()>& stop);

/// What a worker needs to meet the others of its run.
struct PeerMeeting {
  std::string secret;
  RunId run{};
  std::int32_t worker = 0;
  std::vector<Address> peers;  ///< by worker
  Reception::Clock::time_point until;
  int coordinator = -1;  ///< a file that is looked at meanwhile
  int streams = 1;       ///< connections to each
};

/// Makes `streams` connections to every other worker: this one reaches those below it and is reached by those above it.
/// `idle` is called now and then, and when there is something to read from the coordinator; an error of its ends it.
/// The result is by worker, and of each by number, which is the same at both ends; -1 stands for this one.
/// ERRORS: someone was not to be reached, or never came.
core::Expected<std::vector<int>> meet_peers(const PeerMeeting& meeting, const Listener& listener,
                                            const std::function<core::Expected<void>()>& idle);

}  // namespace tutti::real
