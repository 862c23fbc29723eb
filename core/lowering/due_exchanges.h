#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Determines when exchanges (collectives of replicas during computation, as in tensor parallelism)
/// are due in a forward or backward pass. If an exchange is executed n times per pass, its k-th
/// execution is due when k/n of the pass's computation time has passed (rounded down to a
/// picosecond). If several exchanges are due at the same time, take() returns them in the order of
/// the scenario. Memory: one counter per exchange of the plan.
class DueExchanges {
 public:
  /// REQUIRES: the plan outlives this object.
  explicit DueExchanges(const Plan& plan) : plan_(plan) {}

  [[nodiscard]] bool any() const { return !plan_.exchanges.empty(); }

  /// Begins a forward or backward pass whose computation takes the time `total`.
  void begin_pass(bool backward, Time total) {
    backward_ = backward;
    total_ = total;
    taken_.assign(plan_.exchanges.size(), 0);
  }
  /// Returns the time at which the next exchange is due; nullopt if take() has returned all
  /// exchanges of the pass.
  [[nodiscard]] std::optional<Time> next() const {
    std::optional<Time> first;
    for (std::size_t e = 0; e < taken_.size(); ++e) {
      const auto at = due(e);
      if (at && (!first || *at < *first)) first = at;
    }
    return first;
  }
  /// Removes the next exchange that is due at `now` or earlier, and returns its index; nullopt if
  /// no exchange is due.
  std::optional<int> take(Time now) {
    for (std::size_t e = 0; e < taken_.size(); ++e) {
      const auto at = due(e);
      if (!at || *at > now) continue;
      ++taken_[e];
      return static_cast<int>(e);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Time> due(std::size_t e) const {
    const Exchange& exchange = plan_.exchanges[e].exchange;
    const std::int64_t n = backward_ ? exchange.per_backward : exchange.per_forward;
    if (taken_[e] >= n) return std::nullopt;
    const Wide product = static_cast<Wide>(total_.count()) * static_cast<Wide>(taken_[e] + 1);
    return Time(static_cast<std::int64_t>(product / static_cast<Wide>(n)));
  }

  const Plan& plan_;
  bool backward_ = false;
  Time total_;
  std::vector<std::int64_t>
      taken_;  ///< for each exchange: number of executions that take() has returned in this pass
};

}  // namespace tutti::core
