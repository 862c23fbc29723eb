#pragma once

#include <memory>

#include "core/algorithm/ring.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// Returns one half of a ring all-reduce, as a collective of its own: a reduce-scatter or an
/// all-gather of blocks, of which each rank owns one. Every lane has n - 1 rounds.
///
/// Reduce-scatter: each rank first sends the block that the rank before it owns. Then it receives
/// the block that the rank before that one owns, adds its own data and forwards the sum, and so on.
/// The last block that it receives is its own, which it keeps. A rank writes nothing else, so the
/// other blocks of its input do not change. All-gather: each rank sends its own block, then keeps
/// the blocks that arrive and forwards all of them except the last.
///
/// In both collectives, every rank sends n - 1 blocks: (n - 1)/n of the buffer, the lower bound.
/// Each lane carries an equal part of every block, in messages of at most
/// `options.max_elements_per_message`. If the contract is out of place, an all-gather copies the
/// rank's own block on a separate lane, and a reduce-scatter writes sums directly to their places.
///
/// Time of one lane whose messages are whole blocks of C bytes: (n - 1)(α + ⌈C·β⌉), and (n -
/// 1)⌈C·γ⌉ more for the reduce-scatter. SOURCE: NVIDIA/nccl src/device/reduce_scatter.h and
/// all_gather.h, runRing. REQUIRES: the contract is that of a reduce-scatter or an all-gather;
/// `options.input_shift` is 0, because the contract has the shift.
std::unique_ptr<Schedule> ring_blocks(const Contract& contract, const RingOptions& options = {});

}  // namespace tutti::core
