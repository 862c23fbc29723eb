#pragma once

#include <functional>
#include <map>

#include "core/lowering/plan.h"
#include "core/network/path.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// What the schedules of a plan send in one training step, as far as one worker has to do with it. What a peer says is
/// held against it before anything is kept.
class Traffic {
 public:
  /// One ordered pair of lanes of a pack.
  struct Connection {
    std::int64_t messages = 0;
    std::int64_t most_bytes = 0;  ///< of one message
    int slots = 0;                ///< core::kUnlimitedCredits: no end of them
  };

  /// Cost: that of looking at every step of every rank. REQUIRES: no step needs a switch that adds.
  Traffic(const core::Plan& plan, core::PathBook& paths, const std::function<bool(core::Rank)>& is_local);

  /// Null if no schedule sends between those lanes, or neither of them is here. The training step does not matter.
  [[nodiscard]] const Connection* find(const Channel& channel) const;
  /// How long it takes if everything, of all ranks, goes through every hop of its way one after the other: no message of
  /// a step waits longer for its links. At most kHorizon and a little.
  [[nodiscard]] core::Time one_after_the_other() const { return in_turn_; }

 private:
  void add(const core::Collective& collective, const Channel& channel, std::int64_t bytes, core::PathBook& paths,
           const std::function<bool(core::Rank)>& is_local);

  std::map<Channel, Connection> connections_;  ///< step 0
  core::Time in_turn_;
};

}  // namespace tutti::real
