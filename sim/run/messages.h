#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/replay/message_matcher.h"
#include "core/scenario/scenario.h"

namespace tutti::sim {

/// The messages of an execution trace. This class matches sends with receives, and makes a
/// collective of two ranks for each message.
class Messages {
 public:
  /// REQUIRES: the scenario outlives this object.
  explicit Messages(const core::Scenario& scenario) : scenario_(scenario) {}

  /// Returns the collective that moves `bytes` from one replica to another. The size is rounded up
  /// to a multiple of two bytes, because the smallest data type has two bytes.
  std::shared_ptr<const core::Collective> collective(std::int64_t from, std::int64_t to,
                                                     std::int64_t bytes);
  /// Calls `visit` with a collective for each pair of replicas between which messages are sent, in
  /// ascending order.
  template <class Visit>
  void visit(Visit visit) {
    for (const auto& [from, to, bytes] : pairs()) visit(*collective(from, to, bytes));
  }

  /// Returns the object that matches the receives of replica `to` in a training step with the
  /// messages that were sent to the replica in this step.
  core::MessageMatcher& matcher(std::int64_t to, std::int32_t step) {
    return matchers_[{step, to}];
  }
  /// Deletes the matcher if neither a message nor a receive is waiting in it.
  void release(std::int64_t to, std::int32_t step) {
    const auto known = matchers_.find({step, to});
    if (known != matchers_.end() && known->second.empty()) matchers_.erase(known);
  }
  /// Returns true if no message and no receive is waiting to be matched.
  [[nodiscard]] bool empty() const { return matchers_.empty(); }

 private:
  struct Pair {
    std::int64_t from, to, bytes;
  };
  [[nodiscard]] std::vector<Pair> pairs() const;

  const core::Scenario& scenario_;
  /// For each number of elements, the schedule of messages of this size.
  std::map<std::int64_t, std::shared_ptr<const core::Schedule>> schedules_;
  std::map<std::pair<std::int32_t, std::int64_t>, core::MessageMatcher> matchers_;
};

}  // namespace tutti::sim
