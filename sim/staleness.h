#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/units.h"

namespace tutti::sim {

/// Of workers that do not wait for each other: how old what they compute with is, and how fast they are together.
///
/// A variable has a version, which every update raises. A gradient's staleness is how many updates of its variable came between the
/// read that its worker computed it with and its own update: 0 where nobody else was there.
class Staleness {
 public:
  Staleness() = default;
  Staleness(std::int64_t workers, std::size_t variables)
      : versions_(variables),
        read_(static_cast<std::size_t>(workers), std::vector<std::int64_t>(variables)),
        steps_(static_cast<std::size_t>(workers)) {}

  [[nodiscard]] bool any() const { return !read_.empty(); }

  /// The worker reads the variable as it is now.
  void read(std::int64_t worker, int variable) { of(worker, variable) = versions_[static_cast<std::size_t>(variable)]; }
  /// The gradient that the worker has computed is applied.
  void applied(std::int64_t worker, int variable) {
    std::int64_t& version = versions_[static_cast<std::size_t>(variable)];
    const std::int64_t behind = version++ - of(worker, variable);
    most_ = std::max(most_, behind);
    sum_ += behind;
    ++updates_;
  }
  /// The worker has ended a step of which the run has `of`. What comes after the first worker is through does not count: its
  /// share of the servers and links is free then.
  void step_ended(std::int64_t worker, std::int32_t step, std::int32_t of, core::Time now) {
    if (through_) return;
    steps_[static_cast<std::size_t>(worker)] = step + 1;
    until_ = now;
    through_ = step + 1 == of;
  }

  [[nodiscard]] std::int64_t most() const { return most_; }
  [[nodiscard]] double mean() const {
    return updates_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(updates_);
  }
  [[nodiscard]] std::int64_t updates() const { return updates_; }
  /// Of all workers together.
  [[nodiscard]] double steps_per_second() const {
    std::int64_t steps = 0;
    for (const std::int32_t s : steps_) steps += s;
    return until_ == core::Time() ? 0 : static_cast<double>(steps) * 1e12 / static_cast<double>(until_.count());
  }

  [[nodiscard]] std::string describe() const {
    const auto [least, fastest] = std::minmax_element(steps_.begin(), steps_.end());
    return fmt::format(
        "workers do not wait for each other: {:.3g} steps/s of {} workers together until the first is through (they "
        "end {} to {} steps "
        "each by then); {:.2f} updates of others lie between what a gradient is computed from and its own, on average, "
        "and {} at most",
        steps_per_second(), steps_.size(), *least, *fastest, mean(), most_);
  }

 private:
  std::int64_t& of(std::int64_t worker, int variable) {
    return read_[static_cast<std::size_t>(worker)][static_cast<std::size_t>(variable)];
  }

  std::vector<std::int64_t> versions_;           ///< by variable
  std::vector<std::vector<std::int64_t>> read_;  ///< by worker and variable
  std::vector<std::int32_t> steps_;              ///< by worker
  core::Time until_;
  bool through_ = false;
  std::int64_t most_ = 0, sum_ = 0, updates_ = 0;
};

}  // namespace tutti::sim
