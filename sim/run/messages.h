#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/replay/message_matcher.h"
#include "core/scenario/scenario.h"

namespace tutti::sim {

/// The sends and receives of an execution trace: which of them belong together, and the collective
/// of two ranks that carries each message.
class Messages {
 public:
  /// REQUIRES: the scenario outlives it.
  explicit Messages(const core::Scenario& scenario) : scenario_(scenario) {}

  /// Returns the collective that carries `bytes` from one replica to another. Sizes are rounded up
  /// to two bytes, the smallest type.
  std::shared_ptr<const core::Collective> collective(std::int64_t from, std::int64_t to,
                                                     std::int64_t bytes);
  /// Calls `visit` with the collective of each pair of replicas that exchanges messages, in order.
  template <class Visit>
  void visit(Visit visit) {
    for (const auto& [from, to, bytes] : pairs()) visit(*collective(from, to, bytes));
  }

  /// Matches what replica `to` gets in a step. Messages do not match receives of other steps.
  core::MessageMatcher& matcher(std::int64_t to, std::int32_t step) {
    return matchers_[{step, to}];
  }
  /// Drops the matcher if nothing waits in it.
  void release(std::int64_t to, std::int32_t step) {
    const auto known = matchers_.find({step, to});
    if (known != matchers_.end() && known->second.empty()) matchers_.erase(known);
  }
  /// True if no message and no receive waits.
  [[nodiscard]] bool empty() const { return matchers_.empty(); }

 private:
  struct Pair {
    std::int64_t from, to, bytes;
  };
  [[nodiscard]] std::vector<Pair> pairs() const;

  const core::Scenario& scenario_;
  /// By number of elements.
  std::map<std::int64_t, std::shared_ptr<const core::Schedule>> schedules_;
  std::map<std::pair<std::int32_t, std::int64_t>, core::MessageMatcher> matchers_;
};

}  // namespace tutti::sim
