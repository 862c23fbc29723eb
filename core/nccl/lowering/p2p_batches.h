#pragma once

#include <functional>
#include <vector>

#include "core/nccl/lowering/p2p_rounds.h"

namespace tutti::core::nccl {

/// What is sent or received as a part of a round, in the batch of a channel that it got to: the
/// thread block does a batch at once, and the next when all of it is through.
struct P2pAssignment {
  int round = 0, part = 0;
  int channel = 0, batch = 0;
  int place = 0;  ///< in the batch, among those that are sent or among those that are received
  bool sends = false;
};

/// Parts in which a message goes from one rank to another; 0: there is none.
using P2pParts = std::function<int(Rank from, Rank to)>;

/// What a rank sends and receives in some rounds, which are in their order. A batch is what is sent
/// and received of up to eight rounds; of 2.7 of one. Of 2.12 to 2.21 what is sent and what is
/// received fill their eight places each for itself, and a peer that is there already begins a new
/// batch; since 2.18 every eighth round does so, too. SOURCE: NVIDIA/nccl src/enqueue.cc:
/// addWorkBatchToPlan (2.22 and later), appendWorkElemP2p (2.13 to 2.21), getSegment (2.8 to 2.12),
/// ncclSaveKernel (2.7).
std::vector<P2pAssignment> p2p_batches(const P2pRounds& rounds, Version version, Rank rank,
                                       const std::vector<int>& which, const P2pParts& parts);

}  // namespace tutti::core::nccl
