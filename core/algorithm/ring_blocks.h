#pragma once

#include <memory>

#include "core/algorithm/ring.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// The two halves of a ring all-reduce by themselves, on blocks that have an owner each: n - 1 rounds on every lane.
///
/// Reduce-scatter: each rank sends the block of the rank behind it, then receives the block of the one before that, adds
/// its own and sends the sum on, and so forth; the last that it receives is its own block, which is kept. Nothing else is
/// written, so inputs that are not the rank's own block stay as they are.
/// All-gather: each rank sends its own block, then keeps and sends on what comes, all but the last.
/// Every rank sends n - 1 blocks: (n - 1)/n of the buffer, the least possible. Each lane carries an equal part of
/// every block, in messages of at most `options.most_elements_per_message`. Out of place (by the contract) what a
/// rank gathers from itself is copied on a lane of its own, and sums are made where they are to be.
///
/// Time of one lane whose messages are whole blocks of C bytes: (n - 1)(α + ⌈C·β⌉), and (n - 1)⌈C·γ⌉ more for the
/// reduce-scatter.
/// SOURCE: NVIDIA/nccl src/device/reduce_scatter.h and all_gather.h, runRing.
/// REQUIRES: the contract is that of a reduce-scatter or an all-gather; `options.input_shift` is 0: the contract has it.
std::unique_ptr<Schedule> ring_blocks(const Contract& contract, const RingOptions& options = {});

}  // namespace tutti::core
