#pragma once

#include <functional>
#include <vector>

#include "core/nccl/lowering/p2p_rounds.h"

namespace tutti::core::nccl {

/// A send or receive of a round, as part of a batch of a channel: the thread block executes one
/// batch at a time, and starts the next when all of it is complete.
struct P2pAssignment {
  int round = 0, part = 0;
  int channel = 0, batch = 0;
  int place = 0;  ///< position in the batch, among its sends or among its receives
  bool sends = false;
};

/// Returns the number of parts of a message from one rank to another; 0: there is no message.
using P2pParts = std::function<int(Rank from, Rank to)>;

/// Returns the batches of a rank's sends and receives, which are given in the order of rounds. A
/// batch has the sends and receives of up to eight rounds; in 2.7 of one. In 2.12 to 2.21 sends and
/// receives have eight places each, and a peer that is already in the batch begins a new one; since
/// 2.18 every eighth round does so, too. SOURCE: NVIDIA/nccl src/enqueue.cc: addWorkBatchToPlan
/// (2.22 and later), appendWorkElemP2p (2.13 to 2.21), getSegment (2.8 to 2.12), ncclSaveKernel
/// (2.7).
std::vector<P2pAssignment> p2p_batches(const P2pRounds& rounds, Version version, Rank rank,
                                       const std::vector<int>& which, const P2pParts& parts);

}  // namespace tutti::core::nccl
