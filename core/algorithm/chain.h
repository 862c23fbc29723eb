#pragma once

#include <memory>

#include "core/algorithm/ring.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// Broadcast or reduce along a ring that is cut open at the root, in messages that follow each other. Broadcast: root →
/// next → … → the one before the root, each keeping and sending on. Reduce: the one behind the root → … → root, each adding
/// its own and sending the sum on, which only the root keeps. Every rank but the last of the chain sends the whole buffer once.
/// Each lane carries an equal part, in messages of at most `options.most_elements_per_message`. Out of place (by the
/// contract) the root of a broadcast copies its input too, on a lane of its own; a reduce moves nothing more.
///
/// Time of one lane, k equal messages of C bytes: broadcast (n - 1)(α + ⌈C·β⌉) + (k - 1)⌈C·β⌉; reduce
/// (n - 1)(α + ⌈C·β⌉ + ⌈C·γ⌉) + (k - 1)·max over the chain of what one message takes at a rank.
/// SOURCE: NVIDIA/nccl src/device/broadcast.h and reduce.h, runRing.
/// REQUIRES: the contract is that of a broadcast or reduce; `options.input_shift` is 0: the contract has it.
std::unique_ptr<Schedule> chain(const Contract& contract, const RingOptions& options);

/// The same broadcast from rank 0 in the order of the ranks, on one lane.
std::unique_ptr<Schedule> chain_broadcast(std::int32_t ranks, std::int64_t elements,
                                          std::int64_t most_elements_per_message, Engine engine);

}  // namespace tutti::core
