#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "core/custom/mscclpp/lanes.h"

namespace tutti::core::custom {

/// Builds the lanes: appends instructions, and makes a receiving lane for each pair of a sending
/// lane and a receiving rank when this pair is first used.
class LaneBuilder {
 protected:
  PlanLane& lane(int number) { return made_.lanes[number]; }
  int new_lane(PlanLane::Kind kind, Rank rank, int number);
  /// Appends an instruction to a lane.
  InstructionId put(int number, Instruction instruction);

  /// Returns the lane that receives what a given lane writes to a rank.
  int inbox(int from, Rank at);
  /// Returns the lane that receives what a given lane multicasts to a rank.
  int multicast_inbox(int from, Rank at);
  /// Returns the lane of a rank that sends the data which a given lane reads.
  int server(int from, Rank at);

  static Instruction receive(int from, const Range& target, Position at);
  static Instruction send(int to, const Range& source);

  PlanLanes made_;

 private:
  std::map<std::pair<int, Rank>, int> inboxes_, multicast_inboxes_, servers_;
  std::map<int, int> multicasts_;  ///< index of the multicast of each sending lane; the key is the
                                   ///< lane
};

}  // namespace tutti::core::custom
