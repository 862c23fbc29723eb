#pragma once

#include <string>

namespace tutti::core {

/// How far a piece of work is and how long it will still take, in words, for whoever waits for it.
class TimeLeft {
 public:
  /// "43 %, 12 s left": `share` of the work (0 … 1) is done, `seconds` after it began; calls come in their order.
  /// Where the share grows by leaps (a run counts steps), what is left falls in between them. No time is told before it can be
  /// known, nor when it has turned out too short.
  std::string text(double share, double seconds);

 private:
  double share_ = 0;    ///< the last one
  double seconds_ = 0;  ///< when it was first heard of
};

}  // namespace tutti::core
