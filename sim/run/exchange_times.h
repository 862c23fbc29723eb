#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Adds up the time that each exchange of a plan takes. An exchange is a collective during
/// computation, as in tensor parallelism.
class ExchangeTimes {
 public:
  explicit ExchangeTimes(std::size_t exchanges) : totals_(exchanges) {}

  /// Adds the time that one execution of the exchange took on a replica.
  void add(std::int32_t exchange, core::Time took) {
    totals_[exchange] += static_cast<core::Wide>(took.count());
  }
  /// Adds the durations that were recorded since the totals were `before`, multiplied by
  /// `repetitions`.
  void add_again(const std::vector<core::Wide>& before, std::int64_t repetitions) {
    for (std::size_t e = 0; e < totals_.size(); ++e)
      totals_[e] += (totals_[e] - before[e]) * repetitions;
  }
  /// Returns the total time of each exchange over all replicas and steps, in picoseconds.
  [[nodiscard]] const std::vector<core::Wide>& totals() const { return totals_; }
  /// Returns a note for each exchange of the plan, with the time that the exchange takes per
  /// replica and training step. REQUIRES: `replicas` replicas have run `steps` > 0 steps.
  [[nodiscard]] std::vector<std::string> notes(const core::Scenario& scenario, std::int64_t steps,
                                               std::int64_t replicas) const;

 private:
  std::vector<core::Wide> totals_;
};

}  // namespace tutti::sim
