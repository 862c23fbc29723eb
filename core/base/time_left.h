#pragma once

#include <string>

namespace tutti::core {

/// Formats the progress of a task and an estimate of the remaining time.
class TimeLeft {
 public:
  /// Returns "43 %, 12 s left", given the completed share of the work (0 … 1) and the seconds since
  /// the work began. Calls must be in order of time. While the share stays the same, the time left
  /// counts down. The time is omitted while too little is done to estimate it, and once the
  /// estimate has run out.
  std::string text(double share, double seconds);

 private:
  double share_ = 0;    ///< share at the latest call
  double seconds_ = 0;  ///< time of the first call with this share, in seconds
};

}  // namespace tutti::core
