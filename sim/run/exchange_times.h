#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::sim {

/// Adds up how long the exchanges of a plan are in flight.
class ExchangeTimes {
 public:
  explicit ExchangeTimes(std::size_t exchanges) : totals_(exchanges) {}

  /// A replica's part of the exchange is over.
  void add(std::int32_t exchange, core::Time took) {
    totals_[static_cast<std::size_t>(exchange)] += static_cast<core::Wide>(took.count());
  }
  /// Adds the times since `before` `times` more times.
  void add_again(const std::vector<core::Wide>& before, std::int64_t times) {
    for (std::size_t e = 0; e < totals_.size(); ++e) totals_[e] += (totals_[e] - before[e]) * times;
  }
  /// By exchange: picoseconds, over all replicas and steps.
  [[nodiscard]] const std::vector<core::Wide>& totals() const { return totals_; }
  /// Returns notes on how long a replica's exchanges take per step, for each exchange of the plan.
  /// REQUIRES: `steps` > 0, of `replicas` each.
  [[nodiscard]] std::vector<std::string> notes(const core::Scenario& scenario, std::int64_t steps,
                                               std::int64_t replicas) const;

 private:
  std::vector<core::Wide> totals_;
};

}  // namespace tutti::sim
