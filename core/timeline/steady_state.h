#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// Finds the steady state of workers that do not wait for each other, by the method of batch means.
///
/// A round is W steps, where W is the number of workers; the mean time of a round is the step time.
/// After 32 rounds, and then each time that there are half as many again, the first quarter of them
/// is discarded, and the others are eight batches of equal size. The state is steady if the 95 %
/// confidence interval of the batches' mean (Student's t, 7 degrees of freedom) is at most 1 % to
/// each side, and the last four batches differ from the four before by at most 1 %. The rounds of
/// these checks depend on no option, so a run that is asked for more steps finds the same.
/// SOURCE: Law, "Simulation Modeling and Analysis", 5th edition, section 9.5.3 (batch means).
class SteadyStateSearch {
 public:
  static constexpr std::int32_t kFirstCheck = 32;

  /// After `most_rounds` it has its result, steady or not. At least the first check is made.
  SteadyStateSearch(std::int64_t workers, std::int32_t most_rounds);

  /// A worker has ended a step. In the order of time. True if that decides what state() is.
  bool step_ended(Time now);
  /// Nothing while more rounds are needed.
  [[nodiscard]] const std::optional<SteadyState>& state() const { return state_; }

 private:
  void check();

  std::int64_t workers_;
  std::int32_t most_rounds_;
  std::int32_t next_check_ = kFirstCheck;
  std::int64_t steps_ = 0;    ///< number of steps of the round in progress
  std::vector<Time> rounds_;  ///< by round: the time at which it ended
  std::optional<SteadyState> state_;
};

}  // namespace tutti::core
