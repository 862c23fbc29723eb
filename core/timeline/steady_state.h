#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// Finds the steady state of asynchronous workers, by the method of batch means.
///
/// With W workers, a round ends after every W completed training steps, no matter which workers
/// completed them. The step time is the mean time of a round. The first check for a steady state
/// happens after 32 rounds, further checks happen whenever the number of rounds has grown by half,
/// and the last check happens after the maximum number of rounds. A check discards the first
/// quarter of the rounds, and divides the remaining rounds into eight batches of equal size. The
/// state is steady if the half-width of the 95 % confidence interval of the mean (Student's t, 7
/// degrees of freedom) is at most 1 % of the mean, and the mean of the last four batches differs
/// from the mean of the four batches before by at most 1 %. The rounds at which checks happen do
/// not depend on the number of simulated steps, so a longer run finds the same steady state.
/// SOURCE: Law, "Simulation Modeling and Analysis", 5th edition, section 9.5.3 (batch means).
class SteadyStateSearch {
 public:
  static constexpr std::int32_t kFirstCheck = 32;

  /// The search ends after at most `most_rounds` rounds, even without a steady state, but never
  /// before the first check.
  SteadyStateSearch(std::int64_t workers, std::int32_t most_rounds);

  /// Records that a worker has completed a step. Calls must be in order of time. Returns true if
  /// state() is now known.
  bool step_ended(Time now);
  /// Returns the result; nullopt while more rounds are needed.
  [[nodiscard]] const std::optional<SteadyState>& state() const { return state_; }

 private:
  void check();

  std::int64_t workers_;
  std::int32_t max_rounds_;
  std::int32_t next_check_ = kFirstCheck;
  std::int64_t steps_ = 0;    ///< number of completed steps in the current round
  std::vector<Time> rounds_;  ///< for each round, the time at which it ended
  std::optional<SteadyState> state_;
};

}  // namespace tutti::core
