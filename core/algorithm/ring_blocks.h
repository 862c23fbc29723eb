#pragma once

#include <memory>

#include "core/algorithm/ring.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// The two halves of a ring all-reduce separately, on blocks that have an owner each: n - 1 rounds
/// on every lane.
///
/// Reduce-scatter: each rank sends the block of the rank before it. Then it receives the block of
/// the rank before that, adds its own and forwards the sum, and so on; the last block that it
/// receives is its own, which it keeps. Nothing else is written, so inputs other than the rank's
/// own block do not change.
/// All-gather: each rank sends its own block, then keeps and forwards the blocks that arrive,
/// except the last. Every rank sends n - 1 blocks: (n - 1)/n of the buffer, the lower bound. Each
/// lane carries an equal part of every block, in messages of at most
/// `options.most_elements_per_message`. Out of place (set by the contract) an all-gather copies the
/// rank's own block on a separate lane, and sums are written directly to their places.
///
/// Time of one lane whose messages are whole blocks of C bytes: (n - 1)(α + ⌈C·β⌉), and (n -
/// 1)⌈C·γ⌉ more for the reduce-scatter. SOURCE: NVIDIA/nccl src/device/reduce_scatter.h and
/// all_gather.h, runRing. REQUIRES: the contract is that of a reduce-scatter or an all-gather;
/// `options.input_shift` is 0 (the contract's applies).
std::unique_ptr<Schedule> ring_blocks(const Contract& contract, const RingOptions& options = {});

}  // namespace tutti::core
