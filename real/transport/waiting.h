#pragma once

#include <sched.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "real/transport/transport.h"

namespace tutti::real {

/// Options for how a transport waits.
struct WaitOptions {
  /// The time for which poll() spins before it sleeps, if no other thread needs the core.
  std::chrono::microseconds spin{50};
};

/// The time limit for waiting for peers while a transport is set up.
struct Patience {
  Transport::Clock::time_point until;
  /// Called repeatedly while waiting. An error ends the wait. May be empty.
  std::function<core::Expected<void>()> look{};
  std::optional<core::Error> stopped{};  ///< the error that `look` returned

  bool lasts() {
    if (look && !stopped) {
      if (auto looked = look(); !looked) stopped = looked.error();
    }
    return !stopped && Transport::Clock::now() < until;
  }
};

/// Calls `look` repeatedly until it returns true, until time `until`, or until other threads have
/// used the core several times. Returns true if `look` returned true.
///
/// Waking a sleeping thread on an idle core takes some 30 µs, and a call of `look` almost nothing,
/// so spinning is better than sleeping. But another process that is ready to run may be the one
/// that this thread waits for, so the thread yields the core between calls. Once other threads have
/// used the core several times without success, sleeping is better: the core is not idle then, so
/// waking up is cheap. (An all-reduce of 4 bytes over shared memory with 8 ranks on 2 cores takes
/// 22 µs if the thread sleeps after the first time, and 10 µs if after the tenth.)
/// REQUIRES: `look` takes less than 1 µs if it returns false.
template <class Look>
bool look_around(Transport::Clock::time_point until, Look look) {
  /// If a yield and a call of `look` take longer than this, another thread ran in between.
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
