#pragma once

#include <vector>

#include "core/nccl/communicator.h"
#include "core/schedule/step.h"

namespace tutti::core::nccl {

/// The maximum number of messages that a thread block sends at the same time, and the maximum
/// number that it receives at the same time.
inline constexpr int kP2pAtOnce = 8;

/// The order in which a rank communicates with its peers. In round r, a rank sends to the rank
/// delta(r) positions after it, and receives from the rank delta(r) positions before it. All ranks
/// use the same deltas, so every send has a matching receive.
///
/// A delta has two parts: a distance between groups and a distance inside a group. Before 2.12, a
/// group is a single rank. From 2.12 to 2.28.6, a group is a node. Since 2.28.7, a group is gcd(8,
/// G) GPUs of a node with G GPUs if there are several nodes, and otherwise a node. The order of the
/// distances between n groups is 0, 1, 2, … in 2.7, and 0, n/2, -n/2, 1, -1, n/2 - 1, … in 2.8 to
/// 2.21. Since 2.22, the order of the distances is that of the triangular numbers 0, 1, 3, 6, …
/// modulo the smallest power of two that is at least n; numbers of n or more are skipped. The order
/// of the distances inside a group is 0, 1, 2, …. Only in 2.22 to 2.28.6, the order inside a group
/// also follows from the triangular numbers. In 2.18 to 2.21, the number of rounds per group is
/// rounded up to 1, 2, 4 or a multiple of 8. The rounds that are added by rounding up are empty.
/// SOURCE: NVIDIA/nccl src/init.cc, ncclP2pSchedule (2.28.7 and later), initTransportsRank
/// (before); src/group.cc, ncclGroupEnd (before 2.13).
class P2pRounds {
 public:
  /// Computes the deltas. REQUIRES: NCCL 2.7 or later; identical nodes.
  explicit P2pRounds(const Communicator& communicator);

  static constexpr Rank kNoPeer = -1;

  [[nodiscard]] int rounds() const { return static_cast<int>(between_.size() * inside_.size()); }
  [[nodiscard]] Rank sends_to(Rank rank, int round) const { return moved(rank, round, 1); }
  [[nodiscard]] Rank receives_from(Rank rank, int round) const { return moved(rank, round, -1); }
  /// Returns the round in which `from` sends to `to`.
  [[nodiscard]] int round_of(Rank from, Rank to) const;
  /// Returns the channel that transfers part `part` of a message between two ranks. Before 2.13,
  /// successive parts of a message use channels whose numbers are far apart. Since 2.13, successive
  /// rounds use channels whose numbers are far apart, except in 2.22 to 2.28.2. SOURCE: NVIDIA/nccl
  /// src/include/channel.h, ncclP2pChannelBaseForRound (2.22 and later), ncclChannelCompute
  /// (before); src/include/device.h, ncclP2pChannelForPart.
  [[nodiscard]] int channel(Rank from, Rank to, int part) const;
  /// True if a thread block may execute both rounds at the same time. SOURCE: NVIDIA/nccl
  /// src/enqueue.cc, addWorkBatchToPlan.
  [[nodiscard]] bool together(int round, int other) const;

 private:
  [[nodiscard]] Rank moved(Rank rank, int round, int sign) const;
  [[nodiscard]] int base_by_distance(Rank from, Rank to) const;
  [[nodiscard]] int base_by_round(int round) const;

  int ranks_;
  int gpus_;      ///< GPUs per node
  int group_;     ///< ranks per group
  int channels_;  ///< total number of channels
  bool one_node_;
  Version version_;
  /// The distances between groups and the distances inside a group, in the order in which rounds
  /// use them.
  std::vector<int> between_, inside_;
  std::vector<int> between_index_, inside_index_;  ///< for each delta: its index in `between_` or
                                                   ///< in `inside_`
};

}  // namespace tutti::core::nccl
