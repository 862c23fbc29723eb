#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::sim {

/// The timers of TensorFlow's collectives. Every device that starts one has two, one after the
/// other, each of the full length: one until the group is resolved, which happens once every device
/// has started some collective of it, and one until the collective is done there. So only the first
/// collectives of a run wait for the group; for later ones only the execution limits how late a
/// worker may be.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc,
/// collective_param_resolver_distributed.cc.
class Deadlines {
 public:
  Deadlines(std::optional<core::Time> timeout, std::int64_t replicas)
      : timeout_(timeout),
        joined_(timeout ? static_cast<std::size_t>(replicas) : 0),
        missing_(replicas) {}

  [[nodiscard]] bool any() const { return timeout_.has_value(); }
  [[nodiscard]] core::Time timeout() const { return *timeout_; }
  [[nodiscard]] bool resolved() const { return missing_ == 0; }

  /// The replica starts a collective. Returns true if it was the last replica to start its first
  /// one.
  bool joins(std::int64_t replica) {
    if (joined_[static_cast<std::size_t>(replica)]) return false;
    joined_[static_cast<std::size_t>(replica)] = true;
    return --missing_ == 0;
  }

  /// The subject of a timer: a rank's part in a collective of a step, in a group.
  struct Timer {
    std::int32_t step = 0;
    std::int64_t number = 0;
    std::int64_t group = 0;
    core::Rank rank = 0;
    bool execution = false;  ///< true: limits the execution; false: limits the group's resolution
  };
  /// Returns the number by which an event refers to the timer.
  std::uint32_t arm(const Timer& timer) {
    timers_.push_back(timer);
    return static_cast<std::uint32_t>(timers_.size()) - 1;
  }
  [[nodiscard]] const Timer& timer(std::uint32_t number) const { return timers_[number]; }

 private:
  std::optional<core::Time> timeout_;
  std::vector<bool> joined_;  ///< by replica: true once it has started a collective
  std::int64_t missing_;
  std::vector<Timer> timers_;
};

}  // namespace tutti::sim
