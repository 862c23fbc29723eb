#pragma once

#include <functional>
#include <map>

#include "core/lowering/plan.h"
#include "core/network/path.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// The messages that the schedules of a plan send in one training step to or from one worker.
/// Messages from peers are checked against it before anything is kept.
class Traffic {
 public:
  /// The messages from one lane to another, of one pack.
  struct Connection {
    std::int64_t messages = 0;
    std::int64_t most_bytes = 0;  ///< maximum size of a message, in bytes
    int slots = 0;                ///< number of slots; core::kUnlimitedCredits: no limit
  };

  /// Cost: visits every schedule step of every rank. REQUIRES: no step needs a switch that reduces.
  Traffic(const core::Plan& plan, core::PathBook& paths,
          const std::function<bool(core::Rank)>& is_local);

  /// Returns null if no schedule sends between those lanes, or neither of them is here. The
  /// training step is ignored.
  [[nodiscard]] const Connection* find(const Channel& channel) const;
  /// Returns the time that all messages of all ranks take if they pass every hop of their routes
  /// one after the other: an upper bound of the time that a message of a step waits for its links.
  /// At most slightly over kHorizon.
  [[nodiscard]] core::Time one_after_the_other() const { return in_turn_; }

 private:
  void add(const core::Collective& collective, const Channel& channel, std::int64_t bytes,
           core::PathBook& paths, const std::function<bool(core::Rank)>& is_local);

  std::map<Channel, Connection> connections_;  ///< connections of step 0
  core::Time in_turn_;
};

}  // namespace tutti::real
