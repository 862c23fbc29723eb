#pragma once

#include <sched.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "real/transport/transport.h"

namespace tutti::real {

/// What decides how a transport waits.
struct WaitOptions {
  /// How long poll() looks again and again before it sleeps, as long as nobody else wants the core.
  std::chrono::microseconds spin{50};
};

/// How long peers are waited for while a transport is set up.
struct Patience {
  Transport::Clock::time_point until;
  /// Called now and then meanwhile; an error ends the wait. May be empty.
  std::function<core::Expected<void>()> look{};
  std::optional<core::Error> stopped{};  ///< by look()

  bool lasts() {
    if (look && !stopped) {
      if (auto looked = look(); !looked) stopped = looked.error();
    }
    return !stopped && Transport::Clock::now() < until;
  }
};

/// Calls `look` again and again until it is true, `until` comes, or somebody else has wanted the core. True if it was.
///
/// Waking a sleeper on a core that has gone idle costs some 30 µs, a look next to nothing. But where another process is
/// ready to run it may be the very one that is waited for: so the core is offered between looks. Once others have taken
/// it several times and nothing came of it, whoever waits had better sleep; it is woken cheaply then, as the core is not
/// idle. (8 ranks on 2 cores, 4 B, shared memory: 22 µs if the first time counts, 10 µs with 10.)
/// REQUIRES: `look` takes less than 1 µs where it finds nothing.
template <class Look>
bool look_around(Transport::Clock::time_point until, Look look) {
  /// A look and a yield that take longer have let somebody else run in between.
  constexpr std::chrono::nanoseconds kOthersRan{2000};
  constexpr int kMostTurns = 10;
  int turns = 0;
  Transport::Clock::time_point now = Transport::Clock::now();
  while (now < until) {
    ::sched_yield();
    if (look()) return true;
    const Transport::Clock::time_point before = std::exchange(now, Transport::Clock::now());
    if (now - before > kOthersRan && ++turns == kMostTurns) return false;
  }
  return false;
}

}  // namespace tutti::real
