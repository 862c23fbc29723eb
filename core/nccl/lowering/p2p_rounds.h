#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/schedule/step.h"

namespace tutti::core::nccl {

/// Whom a rank deals with in which order. In round r it sends to the rank that is delta(r) further on and receives from the one that is as far behind, the same for
/// all ranks, so that who sends is received from. A delta has two parts, of groups and inside a group: a group is a node or, since 2.28.7 over several nodes, eight GPUs of one.
/// Before 2.22 nodes come in the order 0, n/2, -n/2, 1, -1, n/2 - 1, ….
/// SOURCE: NVIDIA/nccl src/init.cc, ncclP2pSchedule (2.28.7 and later), initTransportsRank (before).
class P2pRounds {
 public:
  /// REQUIRES: 2.18 or later; nodes alike; before 2.22 their GPUs divide 8, or 8 them.
  explicit P2pRounds(const Communicator& communicator);

  [[nodiscard]] int rounds() const { return ranks_; }
  [[nodiscard]] Rank sends_to(Rank rank, int round) const { return moved(rank, round, 1); }
  [[nodiscard]] Rank receives_from(Rank rank, int round) const { return moved(rank, round, -1); }
  /// The round in which `from` sends to `to`.
  [[nodiscard]] int round_of(Rank from, Rank to) const;
  /// The channel that does part `part` of what goes in a round. Channels that follow each other are far apart in the order of rounds since 2.28.3.
  /// SOURCE: NVIDIA/nccl src/include/channel.h, ncclP2pChannelBaseForRound; src/include/device.h, ncclP2pChannelForPart.
  [[nodiscard]] int channel(int round, int part) const;
  /// Whether a thread block may do both rounds at once. SOURCE: NVIDIA/nccl src/enqueue.cc, addWorkBatchToPlan.
  [[nodiscard]] bool together(int round, int other) const;

 private:
  [[nodiscard]] Rank moved(Rank rank, int round, int sign) const;

  int ranks_;
  int group_;     ///< ranks of a group
  int channels_;  ///< in all
  bool one_node_;
  Version version_;
  std::vector<int> between_, inside_;              ///< deltas of groups, and inside one, in their order
  std::vector<int> between_index_, inside_index_;  ///< and where in that order each stands
};

/// In which portions a message between two ranks goes.
struct P2pPortions {
  int parts = 1;                ///< each by a channel of its own
  std::int64_t chunk = 1;       ///< bytes that are sent at once
  bool ll = false;              ///< by LL, else by Simple
  std::int64_t part = 0;        ///< bytes of every part but the last, which has what is left and may be empty
  std::int64_t last_chunk = 1;  ///< of the last part; before 2.22 it goes by its own size

  /// Bytes [begin, end) of a message of `bytes`.
  struct Bounds {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] Bounds bounds(std::int64_t bytes, int number) const {
    return {std::min(bytes, number * part), std::min(bytes, (number + 1) * part)};
  }
};

/// For a message of `bytes` to or from a rank of another node (`far`), of this one, or to itself. Parts are whole 4 KiB; before 2.22 whole halves of a chunk (one node, and before 2.20: eighths).
/// SOURCE: NVIDIA/nccl v2.28.9 src/enqueue.cc, scheduleP2pTasksToPlan, addP2pToPlan; src/init.cc, computeBuffSizes; v2.21.5 src/enqueue.cc, calcP2pChunkSize, src/proxy.cc,
/// ncclProxyComputeP2p.
P2pPortions p2p_portions(const Communicator& communicator, std::int64_t bytes, bool far, bool self);

/// Messages that a thread block sends, and receives, at once.
inline constexpr int kP2pAtOnce = 8;

}  // namespace tutti::core::nccl
