#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "real/coordinator/children.h"
#include "real/join/reception.h"

namespace tutti::real {

class Crew;

/// How the workers of a run come together.
struct Gathering {
  Address listen{"127.0.0.1", 0};  ///< where the coordinator does
  /// Of the run; who does not hold it is a stranger.
  std::string secret;
  enum class Spawn {
    kAll,    ///< every worker is a process that the coordinator starts
    kFirst,  ///< worker 0 is; the others come from elsewhere
    kNone,
  };
  Spawn spawn = Spawn::kAll;
  /// So many processes were started together by a launcher, this one among them; 0: none was.
  int ranks = 0;
  std::chrono::duration<double> wait{60};  ///< for all to come
  /// Called with the address once the coordinator listens there. ERRORS: the workers cannot be told of it.
  std::function<core::Expected<void>(const Address&)> announce;
  /// Called when all have come.
  std::function<void()> met;
  /// Another run follows at the same place: those who come from elsewhere are told to come again.
  bool come_again = false;
};

/// Meets the workers of a run, each by its number, until all are there. Those who were started here have theirs; others
/// get the one they ask for, or the lowest that is free. Strangers are turned away and cost nobody time.
/// ERRORS: one of them never came, or ended, or is of another version; the run was cancelled.
core::Expected<void> gather(Crew& crew, Children& children, const Gathering& gathering, const Listener& listener,
                            const RunId& run);

/// Tells `others`, so many who are about to join, that there will be no run, and why; waits for them at most ten seconds.
void turn_away(const Gathering& gathering, std::size_t others, const Listener& listener, const core::Error& why);

}  // namespace tutti::real
