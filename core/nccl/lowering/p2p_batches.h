#pragma once

#include <functional>
#include <vector>

#include "core/nccl/lowering/p2p_rounds.h"

namespace tutti::core::nccl {

/// The channel and batch to which a part of a message is assigned. A channel's thread block
/// executes one batch of sends and receives at a time, and starts the next when the whole batch is
/// complete.
struct P2pAssignment {
  int round = 0, part = 0;
  int channel = 0, batch = 0;
  int place = 0;  ///< index among the sends of the batch if `sends` is true, otherwise among the
                  ///< receives of the batch
  bool sends = false;
};

/// Returns the number of parts into which the message between two ranks is divided; 0 if there is
/// no message.
using P2pParts = std::function<int(Rank from, Rank to)>;

/// Returns the assignment of a rank's sends and receives to batches, for the rounds with the
/// indices `which`. `which` is sorted in ascending order. A batch contains the sends and receives
/// of up to eight rounds. In 2.7, a batch contains the sends and receives of one round. In 2.12 to
/// 2.21, a batch has at most eight sends and eight receives. If a batch already has a message to
/// (or from) a peer, a second message to (or from) this peer begins a new batch. In 2.18 to 2.21,
/// every eighth round also begins a new batch.
/// SOURCE: NVIDIA/nccl src/enqueue.cc: addWorkBatchToPlan (2.22 and later), appendWorkElemP2p (2.13
/// to 2.21), getSegment (2.8 to 2.12), ncclSaveKernel (2.7).
std::vector<P2pAssignment> p2p_batches(const P2pRounds& rounds, Version version, Rank rank,
                                       const std::vector<int>& which, const P2pParts& parts);

}  // namespace tutti::core::nccl
