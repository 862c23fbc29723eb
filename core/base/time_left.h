#pragma once

#include <string>

namespace tutti::core {

/// Formats the progress of a task and an estimate of the remaining time.
class TimeLeft {
 public:
  /// Returns "43 %, 12 s left", given the completed share of the work (0 … 1) and the seconds since
  /// the work began. Calls must be in order of time. While `share` does not change, the remaining
  /// time decreases as `seconds` grows. The remaining time is omitted if too little of the work is
  /// done for an estimate, or if the estimated time has passed.
  std::string text(double share, double seconds);

 private:
  double share_ = 0;    ///< completed share of the work in the latest call of text()
  double seconds_ = 0;  ///< `seconds` in the first call with this share
};

}  // namespace tutti::core
