#pragma once

#include <memory>

#include "core/algorithm/ring.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// Returns a ring reduce-scatter or a ring all-gather, which are the two halves of a ring
/// all-reduce. Each rank owns one block of the buffer. Every lane (`options.lanes`) has n - 1
/// rounds.
///
/// Reduce-scatter: each rank first sends the block owned by the rank before it. Then the rank
/// receives the block owned by the rank two positions before it, adds its own data, and forwards
/// the sum. The rank does the same with the block owned by the rank three positions before it, and
/// so on. The last block that a rank receives is its own block, which is then complete, so the rank
/// keeps it. A rank writes only its own block, so the rest of its input does not change.
/// All-gather: each rank sends its own block, then keeps the blocks that arrive and forwards all of
/// them except the last.
///
/// In both collectives, every rank sends n - 1 blocks. The n - 1 blocks are (n - 1)/n of the
/// buffer, which is the lower bound. Each lane transfers an equal part of every block, in messages
/// of at most `options.max_elements_per_message` elements. If `contract` describes an out-of-place
/// collective, an all-gather copies the rank's own block on a separate lane, and a reduce-scatter
/// writes sums directly to their final positions.
///
/// Time of one lane whose messages are whole blocks of C bytes: (n - 1)(α + ⌈C·β⌉), plus (n -
/// 1)⌈C·γ⌉ for the reduce-scatter. α is the latency of a message; β and γ are the times to send and
/// to add a byte. SOURCE: NVIDIA/nccl src/device/reduce_scatter.h and all_gather.h, runRing.
/// REQUIRES: the contract is that of a reduce-scatter or an all-gather; `options.input_shift` is 0,
/// because the contract contains the shift.
std::unique_ptr<Schedule> ring_blocks(const Contract& contract, const RingOptions& options = {});

}  // namespace tutti::core
