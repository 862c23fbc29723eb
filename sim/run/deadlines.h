#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/step.h"

namespace tutti::sim {

/// The timers of TensorFlow's collectives. When a device starts a collective, two timers run one
/// after the other, each with the full timeout. The first timer runs until the group is resolved,
/// that is, until every device has started some collective of the group. The second timer runs
/// until the device has completed the collective. Only the first collectives of a run have to wait
/// for the resolution of the group. All later collectives have only the second timer. SOURCE:
/// tensorflow/core/common_runtime/base_collective_executor.cc,
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

  /// Records that the replica starts a collective. Returns true if this resolves the group, because
  /// all other replicas have already started a collective.
  bool joins(std::int64_t replica) {
    if (joined_[replica]) return false;
    joined_[replica] = true;
    return --missing_ == 0;
  }

  /// A timer, which limits how long a rank may take for one collective of a training step, in one
  /// group.
  struct Timer {
    std::int32_t step = 0;
    std::int64_t number = 0;
    std::int64_t group = 0;
    core::Rank rank = 0;
    /// True for the timer that limits the execution of the collective; false for the timer that
    /// limits the resolution of the group.
    bool execution = false;
  };
  /// Adds a timer and returns its number, by which events refer to it.
  std::uint32_t arm(const Timer& timer) {
    timers_.push_back(timer);
    return static_cast<std::uint32_t>(timers_.size()) - 1;
  }
  [[nodiscard]] const Timer& timer(std::uint32_t number) const { return timers_[number]; }

 private:
  std::optional<core::Time> timeout_;
  std::vector<bool> joined_;  ///< for each replica, true if it has started a collective
  std::int64_t missing_;
  std::vector<Timer> timers_;
};

}  // namespace tutti::sim
