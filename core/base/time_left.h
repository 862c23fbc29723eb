#pragma once

#include <string>

namespace tutti::core {

/// Describes the progress of a piece of work and the estimated time left.
class TimeLeft {
 public:
  /// Returns "43 %, 12 s left" when `share` of the work (0 … 1) is done, `seconds` after it began.
  /// Calls come in order of time. If the share grows in steps (a run counts training steps), the
  /// time left falls in between them. The time is omitted until it can be estimated, and if the
  /// estimate has turned out too short.
  std::string text(double share, double seconds);

 private:
  double share_ = 0;    ///< the share of the latest call
  double seconds_ = 0;  ///< time of the first report of this share, in seconds
};

}  // namespace tutti::core
