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

/// The maximum time for which a transport waits for peers during its set-up.
struct SetupDeadline {
  Transport::Clock::time_point until;
  /// Called repeatedly while the transport waits for peers. If `look` returns an error, the wait
  /// ends. May be empty.
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
/// Waking a sleeping thread on an idle core takes about 30 µs, and a call of `look` takes almost no
/// time, so spinning is faster than sleeping. Another process for which this thread waits may be
/// ready to run, so this thread yields the core between calls. If `look` still returns false after
/// other threads have used the core several times, the thread sleeps, because waking up is cheap on
/// a core that is not idle. (On 2 cores, an all-reduce of 4 bytes over shared memory with 8 ranks
/// takes 22 µs if a thread sleeps as soon as other threads have used its core once, and 10 µs if
/// the thread sleeps only after they have used its core ten times.) REQUIRES: `look` takes less
/// than 1 µs if it returns false.
template <class Look>
bool poll_until(Transport::Clock::time_point until, Look look) {
  /// If a yield and a call of `look` together take longer than this time, another thread has used
  /// the core.
  constexpr std::chrono::nanoseconds kPreempted{2000};
  constexpr int kMaxPreemptions = 10;
  int turns = 0;
  Transport::Clock::time_point now = Transport::Clock::now();
  while (now < until) {
    ::sched_yield();
    if (look()) return true;
    const Transport::Clock::time_point before = std::exchange(now, Transport::Clock::now());
    if (now - before > kPreempted && ++turns == kMaxPreemptions) return false;
  }
  return false;
}

}  // namespace tutti::real
