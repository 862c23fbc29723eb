#pragma once

#include <vector>

#include "core/nccl/communicator.h"
#include "core/schedule/step.h"

namespace tutti::core::nccl {

/// Messages that a thread block sends, and receives, at once.
inline constexpr int kP2pAtOnce = 8;

/// Whom a rank deals with in which order. In round r it sends to the rank that is delta(r) further
/// on and receives from the one that is as far behind, the same for all ranks, so that who sends is
/// received from. A delta has two parts, of groups and inside a group: a group is a rank
/// before 2.12, else a node or, since 2.28.7 over several nodes, eight GPUs of one. Groups come in
/// the order 0, 1, 2, … of 2.7; 0, n/2, -n/2, 1, -1, n/2 - 1, … before 2.22. Of 2.18 to 2.21 nodes
/// have 2, 4 or 8 rounds a group, or eights, and in those beyond the last GPU there is nobody.
/// SOURCE: NVIDIA/nccl src/init.cc, ncclP2pSchedule (2.28.7 and later), initTransportsRank
/// (before); src/group.cc, ncclGroupEnd (before 2.13).
class P2pRounds {
 public:
  /// REQUIRES: 2.7 or later; nodes alike.
  explicit P2pRounds(const Communicator& communicator);

  static constexpr Rank kNobody = -1;

  [[nodiscard]] int rounds() const { return static_cast<int>(between_.size() * inside_.size()); }
  [[nodiscard]] Rank sends_to(Rank rank, int round) const { return moved(rank, round, 1); }
  [[nodiscard]] Rank receives_from(Rank rank, int round) const { return moved(rank, round, -1); }
  /// The round in which `from` sends to `to`.
  [[nodiscard]] int round_of(Rank from, Rank to) const;
  /// The channel that does part `part` of what goes between two ranks. Channels that follow each
  /// other are far apart in the order of rounds (before 2.13: of parts), but not of 2.22 to 2.28.2.
  /// SOURCE: NVIDIA/nccl src/include/channel.h, ncclP2pChannelBaseForRound (2.22 and later),
  /// ncclChannelCompute (before); src/include/device.h, ncclP2pChannelForPart.
  [[nodiscard]] int channel(Rank from, Rank to, int part) const;
  /// Whether a thread block may do both rounds at once. SOURCE: NVIDIA/nccl src/enqueue.cc,
  /// addWorkBatchToPlan.
  [[nodiscard]] bool together(int round, int other) const;

 private:
  [[nodiscard]] Rank moved(Rank rank, int round, int sign) const;
  [[nodiscard]] int base_by_distance(Rank from, Rank to) const;
  [[nodiscard]] int base_by_round(int round) const;

  int ranks_;
  int gpus_;      ///< of a node
  int group_;     ///< ranks of a group
  int channels_;  ///< in all
  bool one_node_;
  Version version_;
  std::vector<int> between_, inside_;  ///< deltas of groups, and inside one, in their order
  std::vector<int> between_index_, inside_index_;  ///< and where in that order each stands
};

}  // namespace tutti::core::nccl
