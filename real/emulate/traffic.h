#pragma once

#include <functional>
#include <map>

#include "core/lowering/plan.h"
#include "core/network/path.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// The messages that the schedules of a plan send in one training step to or from one worker.
/// A message from a peer is checked against this class before memory is allocated for the message.
class Traffic {
 public:
  /// The messages of one pack from one lane to another.
  struct Connection {
    std::int64_t messages = 0;
    std::int64_t most_bytes = 0;  ///< maximum size of a message, in bytes
    int slots = 0;  ///< number of slots of the receive buffer; core::kUnlimitedCredits: no limit
  };

  /// Cost: visits every schedule step of every rank. REQUIRES: no step is an in-switch reduction.
  Traffic(const core::Plan& plan, core::PathTable& paths,
          const std::function<bool(core::Rank)>& is_local);

  /// Returns the connection between the lanes of `channel`. Returns null if no schedule sends
  /// messages between the two lanes, or if neither lane is in this process. The result does not
  /// depend on the training step in `channel`.
  [[nodiscard]] const Connection* find(const Channel& channel) const;
  /// Returns the total time that all messages of a training step occupy the hops of their routes.
  /// No message of the step can wait longer than this total time for its links. The result may
  /// exceed core::kHorizon, but only slightly.
  [[nodiscard]] core::Time one_after_the_other() const { return in_turn_; }

 private:
  void add(const core::Collective& collective, const Channel& channel, std::int64_t bytes,
           core::PathTable& paths, const std::function<bool(core::Rank)>& is_local);

  std::map<Channel, Connection> connections_;  ///< connections of step 0
  core::Time in_turn_;
};

}  // namespace tutti::real
