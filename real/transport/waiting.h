#pragma once

#include <sched.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "real/transport/transport.h"

namespace tutti::real {

/// The way in which a transport waits.
struct WaitOptions {
  /// The time for which poll() polls before it sleeps, if no other thread wants the core.
  std::chrono::microseconds spin{50};
};

/// The time limit for peers while a transport is set up.
struct Patience {
  Transport::Clock::time_point until;
  /// Called repeatedly while waiting; an error ends the wait. May be empty.
  std::function<core::Expected<void>()> look{};
  std::optional<core::Error> stopped{};  ///< set by look()

  bool lasts() {
    if (look && !stopped) {
      if (auto looked = look(); !looked) stopped = looked.error();
    }
    return !stopped && Transport::Clock::now() < until;
  }
};

/// Calls `look` repeatedly until it returns true, `until` comes, or other threads have used the
/// core. Returns true if `look` did.
///
/// Waking a sleeping thread on an idle core costs some 30 µs, a look next to nothing. But another
/// process that is ready to run may be the very one that is waited for, so the core is yielded
/// between looks. Once others have used it several times without success, sleeping is better: the
/// core is not idle then, so waking up is cheap. (8 ranks on 2 cores, 4 B, shared memory: 22 µs if
/// the first time counts, 10 µs with 10.)
/// REQUIRES: `look` takes less than 1 µs if it returns false.
template <class Look>
bool look_around(Transport::Clock::time_point until, Look look) {
  /// If a look and a yield take longer than this, another thread ran in between.
  constexpr std::chrono::nanoseconds kOthersRan{2000};
  constexpr int kMaxTurns = 10;
  int turns = 0;
  Transport::Clock::time_point now = Transport::Clock::now();
  while (now < until) {
    ::sched_yield();
    if (look()) return true;
    const Transport::Clock::time_point before = std::exchange(now, Transport::Clock::now());
    if (now - before > kOthersRan && ++turns == kMaxTurns) return false;
  }
  return false;
}

}  // namespace tutti::real
